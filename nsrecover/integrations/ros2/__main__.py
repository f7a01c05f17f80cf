"""`python -m nsrecover.integrations.ros2`: the monitor as a DDS peer."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from nsrecover.errors import cli_errors
from nsrecover.integrations.ros2.buffer import BufferSettings
from nsrecover.integrations.ros2.core import CoreSettings


def main(
    cameras: Annotated[str, typer.Option(help="Prefixes of the cameras' topics; empty: boxes.")] = "/left,/right",
    checkpoint: Annotated[Path | None, typer.Option(help="Folder of a checkpoint; by default the shipped one.")] = None,
    base_frame: Annotated[str, typer.Option(help="The robot's base.")] = "base_link",
    wait_s: Annotated[float, typer.Option(help="How long a request waits for images, seconds.")] = 5.0,
    domain: Annotated[int, typer.Option(help="ROS_DOMAIN_ID.")] = 0,
    loopback: Annotated[bool, typer.Option("--loopback", help="Stay on this machine.")] = False,
) -> None:
    """Watch a published plan over DDS, as the rclpy node does, without a ROS installation (docs/ros2.md)."""
    from nsrecover.integrations.ros2.dds import LOOPBACK, Bus
    from nsrecover.integrations.ros2.peer import MonitorPeer
    from nsrecover.system import geometric, load

    prefixes = tuple(each for each in cameras.split(",") if each)
    with cli_errors():
        system = geometric() if not prefixes and checkpoint is None else load(checkpoint)
        bus = Bus(domain, LOOPBACK if loopback else None)
    settings = CoreSettings(BufferSettings(prefixes, base_frame), wait_s=wait_s)
    peer, stopped = MonitorPeer(system, bus, settings), threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    print("watching", ", ".join(prefixes) or "boxes", flush=True)
    stopped.wait()
    peer.close()
    bus.close()


if __name__ == "__main__":
    typer.run(main)

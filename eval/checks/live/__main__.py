"""`python -m eval.checks.live`: the simulated tabletop with its live page."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import Any

import nsrecover
import nsrecover.serving.live
from conf.command import option, run
from eval.checks.live.tabletop import table
from eval.common.systems import system_of
from sim.sensors.presets import sensor_of
from sim.tabletop.scenarios import scenario


@dataclass
class LiveConfig:
    """Watch the simulated tabletop on its live page, and make things go wrong.

      python -m eval.checks.live                                     serve the page of one episode
      python -m eval.checks.live scenario=slip seed=3 approve=true   another one; every recovery waits for a person

    The page prints its address with a token, and waits to be let go on. Needs pip install 'nsrecover[server]'.

    Attributes:
        scenario: one of: collapse, slip, helper.
        seed: another seed gives another scene, other colours, another order and another moment of the fault.
        episodes: number of episodes, with this seed and the next ones.
        port: port of the page; 0 for any free one.
        paused: whether the robot waits before its first action until a viewer lets it go on.
        approve: whether every recovery waits for a person at first.
        faults: whether the faults of the scenario strike; viewers can inject others.
        sound: whether there is a microphone.
        checkpoint: folder of a checkpoint; the shipped one if null.
        sensor: see conf/sensor.
        out: output folder.
    """

    scenario: str = "collapse"
    seed: int = 0
    episodes: int = 1
    port: int = 8700
    paused: bool = True
    approve: bool = False
    faults: bool = True
    sound: bool = True
    checkpoint: str | None = None
    sensor: Any = option("d435")
    out: str = "outputs/live"


def watch(config: LiveConfig) -> None:
    """Serve the page, and run one episode after the other."""
    system, sensor = system_of(config.checkpoint), sensor_of(config.sensor)
    for number in range(config.episodes):
        item = scenario(config.scenario, config.seed + number)
        with table(item, sensor, config.faults, config.sound) as world:
            agent = nsrecover.RecoveryAgent(system, world)
            with nsrecover.serving.live.page(
                agent, title=f"Simulated tabletop: {item.name}, seed {item.seed}", port=config.port,
                paused=config.paused, approve=config.approve, injector=world,
            ) as page:  # fmt: skip
                print(f"open {page.url}", flush=True)
                episode = agent.run(item.plan)
                print(f"{episode.status.value.replace('_', ' ')}. {episode.reason}".rstrip(), flush=True)
                print("Ctrl-C ends the page" if number + 1 == config.episodes else "Ctrl-C: the next one", flush=True)
                with contextlib.suppress(KeyboardInterrupt):
                    threading.Event().wait()


if __name__ == "__main__":
    run("live", LiveConfig, watch)

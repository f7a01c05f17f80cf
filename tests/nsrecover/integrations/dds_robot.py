"""A simulated robot on DDS: publishes what its cameras see, and asks a monitor peer as an executor does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.integrations.ros2.answers import action_of
from nsrecover.integrations.ros2.dds import LOOPBACK, Bus
from nsrecover.integrations.ros2.endpoints import Request
from nsrecover.records.bags.messages import PLAN, stamp_fields
from nsrecover.records.bags.writing import BagSettings, RunMessages
from tests.commands import ROOT

AGAIN_S = 2.0
"""A request without an answer for so long is sent again; a frame every `FRAME_S`."""
FRAME_S = 0.05
GIVE_UP_S = 60.0

Frame = list[tuple[float, str, str, Any]]


@dataclass
class Robot:
    """World, bus and what was heard.

    Attributes:
        world: simulated.
        domain: of DDS.
        change: what happens to a frame's messages before they are sent: lost, late.
    """

    world: Any
    domain: int
    change: Callable[[Frame], Frame] = lambda frame: frame
    heard: list[Any] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    executed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.connect()

    def connect(self) -> None:
        """Join the domain, as a driver does that was restarted."""
        self.bus = Bus(self.domain, LOOPBACK)
        self._messages = RunMessages(BagSettings(), self.bus.store.types)
        self._clients = {request: self.bus.client(request.service, request.value) for request in Request}

    def publish_plan(self, actions: list[str], stages: list[str]) -> None:
        document = json.dumps({"plan": actions, "stages": stages})
        self.bus.publish(PLAN, "std_msgs/msg/String", {"data": document}, latched=True)

    def ask(self, request: Request, **fields: Any) -> Any:
        """Ask until there is an answer; the cameras go on meanwhile."""
        if request is not Request.RECOVER:
            fields["not_before"] = stamp_fields(time.time())
        seen = self.world.observe()
        began, sent, asked = time.monotonic(), 0.0, list[Any]()
        while not any(each.done() for each in asked):
            if time.monotonic() - sent > AGAIN_S:
                sent = time.monotonic()
                asked.append(self._clients[request].ask(fields))
            assert time.monotonic() - began < GIVE_UP_S, f"no answer to {request}"
            for _, topic, kind, message in self.change(self.frame(seen, time.time())):
                self.bus.publish(topic, kind, message)
            time.sleep(FRAME_S)
        answer = next(each.result() for each in asked if each.done())
        self.codes.append(answer.code)
        return answer

    def frame(self, seen: Any, now: float) -> Frame:
        """The messages of what is seen."""
        return list(self._messages.of(replace(seen, time_s=now)))

    def run(self, between: Callable[[int], None] = lambda done: None) -> None:
        """Carry out the published plan, with the recoveries of the monitor.

        Args:
            between: called before every action with the number of those that were executed.
        """
        done = 0
        while True:
            between(len(self.executed))
            check = self.ask(Request.CHECK, done=done)
            if check.code == "plan_done":
                return
            assert check.code in ("ok", "no_observation"), (check.code, check.message)
            if check.proceed:
                self.execute(action_of(check.next_action))
                judged = self.ask(Request.JUDGE, done=done)
                assert judged.code == "ok", (judged.code, judged.message)
                self.heard.append(judged.discrepancy)
                done += 1
                if judged.discrepancy.verdict == "deviating":
                    back = self.ask(Request.RECOVER)
                    assert back.code == "ok", (back.code, back.message)
                    self.heard.append(back.recovery)
                    done = 0

    def execute(self, action: Action) -> None:
        self.world.execute(action)
        self.executed.append(str(action))


def start_peer(domain: int, *settings: str) -> subprocess.Popen[str]:
    """Start a monitor in a process of its own."""
    command = [sys.executable, "-m", "nsrecover.integrations.ros2", "--loopback", "--domain", str(domain), *settings]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def wait_for(peer: subprocess.Popen[str]) -> None:
    """Wait until a monitor is ready."""
    assert peer.stdout is not None
    assert peer.stdout.readline().startswith("watching"), peer.wait()


def end(peer: subprocess.Popen[str]) -> None:
    """Kill a monitor."""
    peer.kill()
    peer.wait()

"""A launch file on a stand-in for `launch` and `launch_ros`, of which there are no wheels.

Its description is the file's own. The node is its installed executable with the file's parameters, and its transitions
are calls of the real services; an event handler acts when the real topic tells of its state.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import ChangeState


def _modules() -> dict[str, ModuleType]:
    made: dict[str, ModuleType] = {}
    parts: dict[str, dict[str, Any]] = {
        "launch": {"LaunchDescription": lambda entities: entities},
        "launch.actions": {
            "DeclareLaunchArgument": lambda name, **keys: SimpleNamespace(kind="argument", name=name, **keys),
            "EmitEvent": lambda event: SimpleNamespace(kind="emit", event=event),
            "RegisterEventHandler": lambda handler: SimpleNamespace(kind="handler", handler=handler),
        },
        "launch.events": {"matches_action": lambda action: action},
        "launch.substitutions": {"LaunchConfiguration": lambda name: SimpleNamespace(configuration=name)},
        "launch_ros": {},
        "launch_ros.actions": {"LifecycleNode": lambda **keys: SimpleNamespace(kind="node", **keys)},
        "launch_ros.event_handlers": {"OnStateTransition": lambda **keys: SimpleNamespace(**keys)},
        "launch_ros.events": {},
        "launch_ros.events.lifecycle": {"ChangeState": lambda **keys: SimpleNamespace(**keys)},
    }
    for name, members in parts.items():
        made[name] = ModuleType(name)
        vars(made[name]).update(members)
    return made


def description(file: Path) -> list[Any]:
    """The entities of a launch file."""
    with patch.dict(sys.modules, _modules()):
        return runpy.run_path(str(file))["generate_launch_description"]()  # type: ignore[no-any-return]


class Launched:
    """A started launch file.

    Args:
        file: the file.
        peer: the node that asks for transitions and hears of them.
        log: what the node prints.
        arguments: of the launch file.
    """

    def __init__(self, file: Path, peer: Any, log: Path, **arguments: str) -> None:
        entities = description(file)
        given = {each.name: each.default_value for each in entities if each.kind == "argument"} | arguments
        (node,) = [each for each in entities if each.kind == "node"]
        self._peer, self._handlers = peer, [each.handler for each in entities if each.kind == "handler"]
        peer.create_subscription(TransitionEvent, f"/{node.name}/transition_event", self._heard, 10)
        self._client = peer.create_client(ChangeState, f"/{node.name}/change_state")
        from ament_index_python.packages import get_package_prefix

        program = Path(get_package_prefix(node.package), "lib", node.package, node.executable)
        options = ["--ros-args", "-r", f"__node:={node.name}"]
        for each in node.parameters:
            options += ["--params-file", given[each.configuration]]
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, program, *options], stdout=out, stderr=out, env=os.environ, start_new_session=True
            )
        self.states: list[str] = []
        if not self._client.wait_for_service(60):
            raise AssertionError(log.read_text())
        self._begin([each for each in entities if each.kind == "emit"], log)

    def _begin(self, emitted: list[Any], log: Path) -> None:
        """Ask until there is an answer: a node that was killed is still known for a while, and answers nothing."""
        for each in emitted:
            asked: list[Any] = []
            while not any(future.done() for future in asked):
                assert len(asked) < 60, log.read_text()
                asked.append(self._emit(each))
                with suppress(AssertionError):
                    wait_for(asked[-1].done, 1)

    def change(self, transition: int) -> bool:
        """Ask for a transition, and say whether it succeeded."""
        request = ChangeState.Request()
        request.transition.id = transition
        return bool(waited(self._client.call_async(request), 30).success)

    def until(self, state: str) -> None:
        """Wait for a state."""
        wait_for(lambda: state in self.states, 60)

    def _emit(self, each: Any) -> Any:
        request = ChangeState.Request()
        request.transition.id = each.event.transition_id
        return self._client.call_async(request)

    def _heard(self, event: TransitionEvent) -> None:
        self.states.append(event.goal_state.label)
        for handler in self._handlers:
            if handler.goal_state == event.goal_state.label and "active" not in self.states:
                for each in handler.entities:
                    self._emit(each)


def waited(future: Any, limit_s: float) -> Any:
    """The result of a future of rclpy, whose executor runs in another thread."""
    wait_for(future.done, limit_s)
    return future.result()


def wait_for(holds: Callable[[], bool], limit_s: float) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: it did not in time.
    """
    until = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < until, f"nothing within {limit_s} s"
        time.sleep(0.005)

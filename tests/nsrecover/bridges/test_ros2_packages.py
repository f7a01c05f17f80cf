"""The ROS 2 packages: complete, consistent with the library, and the node on a stand-in for rclpy."""

import asyncio
import importlib.util
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

from nsrecover.bridges.ros2.core import CoreSettings
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, RECOVERY, REPORT, STATE
from nsrecover.records.bags.messages import BOXES
from tests.commands import ROOT
from tests.nsrecover.bridges.ros2_types import FOLDER, PACKAGE, definitions, message_of, type_store

NODE = ROOT / "ros2" / "nsrecover_ros"
RESERVED = {"operator", "namespace", "template", "class", "default", "delete", "new", "this", "union", "private"}
"""Words of C++ that a field could be called by mistake."""


def test_every_definition_is_built_and_can_be_a_class_of_c() -> None:
    listed = re.findall(r'"((?:msg|srv)/\w+\.\w+)"', (FOLDER / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert listed == sorted(each.relative_to(FOLDER).as_posix() for each in FOLDER.rglob("*.[ms][sr][gv]"))
    for kind in definitions():
        assert not RESERVED & {name for name, _ in type_store().fielddefs[kind][1]}, kind


def test_every_type_survives_the_wire() -> None:
    store = type_store()
    for kind in definitions():
        data = bytes(store.serialize_cdr(message_of(kind, {}), kind))
        assert bytes(store.serialize_cdr(store.deserialize_cdr(data, kind), kind)) == data
    action = {"operator_name": "top", "arguments": ["a", "b"], "target": [1, 2, 3, 4, 5, 6]}
    kind = PACKAGE + "RecoveryPlan"
    found = store.deserialize_cdr(store.serialize_cdr(message_of(kind, {"actions": [action]}), kind), kind)
    assert (found.actions[0].arguments, found.actions[0].target.tolist()) == (["a", "b"], [1, 2, 3, 4, 5, 6])


class Message:
    """A message of a stand-in, which takes the fields of its definition only."""

    def __init__(self, kind: str) -> None:
        self._kind = PACKAGE + kind

    def set(self, fields: dict[str, Any]) -> None:
        message_of(self._kind, fields)
        vars(self).update(fields)


class StandInNode:
    """What the node uses of rclpy's LifecycleNode."""

    def __init__(self, name: str) -> None:
        self.name, self.parameters, self.executor = name, {}, None
        self.subscriptions: dict[str, Any] = {}
        self.services: dict[str, Any] = {}
        self.published: list[tuple[str, Any]] = []

    def declare_parameter(self, name: str, value: Any) -> None:
        self.parameters[name] = value

    def get_parameter(self, name: str) -> Any:
        return SimpleNamespace(value=self.parameters[name])

    def get_clock(self) -> Any:
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=time.time_ns()))

    def get_logger(self) -> Any:
        return SimpleNamespace(error=lambda text: pytest.fail(text))

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        return SimpleNamespace(publish=lambda message: self.published.append((topic, message)))

    def create_subscription(self, kind: Any, topic: str, take: Any, qos: Any, callback_group: Any) -> Any:
        self.subscriptions[topic] = take
        return SimpleNamespace()

    def create_service(self, kind: Any, name: str, answer: Any, callback_group: Any) -> Any:
        self.services[name] = answer
        return SimpleNamespace(srv_type=kind)

    def on_activate(self, state: Any) -> str:
        return "success"

    on_deactivate = on_activate

    def destroy_service(self, each: Any) -> None:
        self.services.clear()

    def destroy_subscription(self, each: Any) -> None:
        self.subscriptions.clear()

    def destroy_publisher(self, each: Any) -> None:
        pass


class StandInFuture(Future):  # type: ignore[type-arg]
    """rclpy's future: can be awaited."""

    def __init__(self, executor: Any) -> None:
        super().__init__()

    def __await__(self) -> Iterator[Any]:
        while not self.done():
            yield
        return self.result()


@pytest.fixture
def node_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    def module(name: str, **parts: Any) -> None:
        made = ModuleType(name)
        vars(made).update(parts)
        monkeypatch.setitem(sys.modules, name, made)

    names = SimpleNamespace
    messages = {name: partial(Message, name) for name in ("Discrepancy", "RecoveryPlan", "State")}
    module("nsrecover_interfaces", msg=names(**messages), srv=names(Report="Report"))
    module("rclpy")
    module("rclpy.callback_groups", ReentrantCallbackGroup=object)
    module("rclpy.executors", ExternalShutdownException=Exception, MultiThreadedExecutor=object)
    results = names(SUCCESS="success", FAILURE="failure")
    module("rclpy.lifecycle", LifecycleNode=StandInNode, LifecycleState=object, TransitionCallbackReturn=results)
    policy = names(TRANSIENT_LOCAL=1, RELIABLE=1, BEST_EFFORT=2)
    module("rclpy.qos", DurabilityPolicy=policy, QoSProfile=lambda **kw: kw, ReliabilityPolicy=policy)
    module("rclpy.task", Future=StandInFuture)
    module("nsrecover_ros")
    module("nsrecover_ros.messages", class_of=lambda kind: kind, fill=Message.set)
    spec = importlib.util.spec_from_file_location("monitor_node", NODE / "nsrecover_ros" / "monitor_node.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_parameters_are_those_of_the_library(node_module: ModuleType) -> None:
    given = yaml.safe_load((NODE / "config" / "monitor.yaml").read_text(encoding="utf-8"))
    assert given["nsrecover_monitor"]["ros__parameters"] == node_module.PARAMETERS
    settings = CoreSettings()
    parts = settings.buffer, settings.session
    for name, value in node_module.PARAMETERS.items():
        if name != "checkpoint":
            known = next(getattr(each, name) for each in (settings, *parts) if hasattr(each, name))
            known = (list(known) or [""]) if isinstance(known, tuple) else known  # ROS has no empty lists
            assert (-1 if known is None else known) == value, name


def test_the_node_answers_when_it_is_active_and_no_callback_waits(node_module: ModuleType) -> None:
    node = node_module.MonitorNode()
    node.parameters["cameras"] = [""]
    assert node.on_configure(None) == "success"

    def call(reply_to: int) -> Any:
        report = message_of(PACKAGE + "Report_Request", {"reply_to": reply_to, "what": "observed"})

        async def answered() -> Any:
            coroutine = node.services[REPORT](report, Message("Report_Response"))
            while True:
                try:
                    coroutine.send(None)  # never waits: the worker works
                except StopIteration as end:
                    return end.value
                node.subscriptions[BOXES](SimpleNamespace(data=json.dumps({"stamp_s": time.time(), "boxes": boxes})))
                await asyncio.sleep(0.002)

        return asyncio.run(answered())

    boxes = {"red": (0.45, 0.15, 0.02, 0.04, 0.04, 0.04), "green": (0.45, 0.0, 0.02, 0.04, 0.04, 0.04)}
    node.subscriptions["/nsrecover/plan"](SimpleNamespace(data="top(green, red)"))
    assert call(0).code == "not_active"
    node.on_activate(None)
    assert call(0).request["action"]["operator_name"] == "top"
    assert call(1).request["code"] == "look"  # nothing was done
    assert call(2).request["code"] == "act"
    topics = [topic for topic, _ in node.published]
    assert [topics.count(each) for each in (DISCREPANCY, RECOVERY, STATE)] == [1, 1, 3]
    node.on_deactivate(None)
    assert call(3).code == "not_active"
    workers = threading.active_count()
    assert node.on_cleanup(None) == "success"
    assert threading.active_count() == workers - 1
    assert not node.services
    assert not node.subscriptions

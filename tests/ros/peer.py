"""A robot on rclpy: publishes a plan and what it sees, and reports to the node."""

from __future__ import annotations

import json
import threading
import time
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import rclpy
from nsrecover_interfaces.msg import Discrepancy, RecoveryPlan, State
from nsrecover_interfaces.srv import Report
from nsrecover_ros.messages import class_of, fill
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

import nsrecover
from nsrecover.bridges.ros2.answers import action_of
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, LATCHED, RECOVERY, REPORT, STATE
from nsrecover.records.bags.messages import BOXES, PLAN, stamp_fields, type_of
from tests.ros.launching import wait_for

LATCH = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
SIDE = 0.04
TOWER = ["top(green, red)", "top(blue, green)"]


class Types(Mapping[str, Any]):
    """Classes of rclpy by name, which take arrays of numpy."""

    def __getitem__(self, kind: str) -> Any:
        def made(**fields: Any) -> Any:
            return class_of(kind)(**{name: _plain(value) for name, value in fields.items()})

        return made

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _plain(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return array("B", value.tobytes()) if value.dtype == np.uint8 else value.astype(float).tolist()


class Robot:
    """Boxes on a table, and an ideal arm; `falls` has the numbers of actions after which green falls."""

    def __init__(self, name: str, falls: tuple[int, ...] = ()) -> None:
        self.node, self.falls, self.done, self.number = rclpy.create_node(name), falls, list[str](), 0
        rows = (("red", 0.15), ("green", 0.0), ("blue", -0.15))
        self.boxes: Any = {n: (0.45, y, SIDE / 2, SIDE, SIDE, SIDE) for n, y in rows}
        self.heard: dict[str, list[Any]] = {DISCREPANCY: [], RECOVERY: [], STATE: []}
        for topic, kind in ((DISCREPANCY, Discrepancy), (RECOVERY, RecoveryPlan), (STATE, State)):
            qos = LATCH if topic == STATE else 10
            self.node.create_subscription(kind, topic, self.heard[topic].append, qos)
        self._plans = self.node.create_publisher(String, PLAN, LATCH)
        self._boxes = self.node.create_publisher(String, BOXES, 10)
        self.client = self.node.create_client(Report, REPORT)
        self._executor = MultiThreadedExecutor(2)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the network."""
        self._executor.shutdown()
        self._thread.join(5)
        self.node.destroy_node()

    def plan(self, **document: Any) -> None:
        """Publish a plan; it is kept for a node that comes later."""
        self._plans.publish(String(data=json.dumps(document)))

    def see(self, stamp_s: float | None = None) -> None:
        """Publish the boxes once."""
        stamp_s = time.time() if stamp_s is None else stamp_s
        self._boxes.publish(String(data=json.dumps({"stamp_s": stamp_s, "boxes": self.boxes})))

    def ask(self, what: str = "", **fields: Any) -> Any:
        """Report; the future of the answer."""
        assert self.client.wait_for_service(30)
        request = Report.Request()
        fill(request, {"reply_to": self.number, "what": what, **fields})
        return self.client.call_async(request)

    def tell(self, what: str = "", sees: bool = True, **fields: Any) -> Any:
        """Report, and see until there is an answer."""
        future, until = self.ask(what, **fields), time.monotonic() + 60
        while not future.done():
            assert time.monotonic() < until
            if sees:
                self.see()
            time.sleep(0.01)
        answer = future.result()
        self.number = answer.number or self.number
        return answer

    def observed(self, **fields: Any) -> Any:
        """Report that the scene can be looked at now."""
        return self.tell("observed", not_before=stamp_fields(time.time()), **fields)

    def act(self, action: Any) -> None:
        """Carry out an action."""
        named = action_of(action)
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), named)
        self.boxes = {n: tuple(map(float, b)) for n, b in zip(scene.names, scene.boxes, strict=True)}
        self.done.append(str(named))
        if len(self.done) in self.falls:
            self.boxes["green"] = (0.6, 0.25, SIDE / 2, SIDE, SIDE, SIDE)

    def carry_out(self, answer: Any, turns: int = 99) -> Any:
        """Do what is asked for until the end; the last answer."""
        while answer.request.code in ("act", "look") and turns:
            if answer.request.code == "act":
                self.act(answer.request.action)
            answer, turns = self.observed(), turns - 1
        return answer

    def last(self, topic: str) -> Any:
        """The last message on a topic, which may still be on its way."""
        wait_for(lambda: bool(self.heard[topic]), 10)
        return self.heard[topic][-1]


@contextmanager
def robot(name: str = "robot", falls: tuple[int, ...] = ()) -> Iterator[Robot]:
    """A robot that leaves the network at the end."""
    made = Robot(name, falls)
    try:
        yield made
    finally:
        made.close()


def sender(node: Any) -> Any:
    """A function that publishes on a topic of ours."""
    made: dict[str, Any] = {}

    def send(topic: str, message: Any) -> None:
        if topic not in made:
            made[topic] = node.create_publisher(class_of(type_of(topic)), topic, LATCH if topic in LATCHED else 10)
            wait_for(lambda: made[topic].get_subscription_count() > 0, 10)
        made[topic].publish(message)

    return send

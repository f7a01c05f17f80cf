"""Lifecycle node around `nsrecover.bridges.ros2.core`, which holds the logic.

Callbacks store a message or hand a report over, and return; one worker thread perceives, judges and plans. The service
callback is a coroutine: it awaits the worker's answer, so that the executor goes on meanwhile.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import Any

import rclpy
from nsrecover_interfaces import msg, srv
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.task import Future

from nsrecover.bridges.ros2.buffer import BufferSettings
from nsrecover.bridges.ros2.core import CoreSettings, SessionCore
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, LATCHED, RECOVERY, REPORT, STATE, report_fields
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.errors import NsrecoverError
from nsrecover.loading import geometric, system_at
from nsrecover.records.bags.messages import TF
from nsrecover_ros.messages import class_of, fill

PARAMETERS: dict[str, Any] = {
    "cameras": ["/left", "/right"], "checkpoint": "", "base_frame": "base_link", "slop_s": 0.1, "transform_slop_s": 0.2,
    "keep": 30, "wait_s": 5.0, "kept_in": "", "budget_s": 1.0, "max_recoveries": -1, "check_sensors": True,
    "approve": False, "driver": "realsense", "topics": [""], "namespace": "",
}  # fmt: skip
TYPES = {DISCREPANCY: msg.Discrepancy, RECOVERY: msg.RecoveryPlan, STATE: msg.State}
LATCH = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
LOSSY = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
FIXED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
"""Of /tf_static: every publisher has one message kept, and all of them arrive at once."""


class MonitorNode(LifecycleNode):
    """Drives a session for the plan on /nsrecover/plan."""

    def __init__(self) -> None:
        super().__init__("nsrecover_monitor")
        for name, value in PARAMETERS.items():
            self.declare_parameter(name, value)
        self._group = ReentrantCallbackGroup()
        self._core: SessionCore | None = None
        self._made: list[Any] = []

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the system, subscribe, offer the service; it answers `not_active` until the node is activated."""
        given = {name: self.get_parameter(name).value for name in PARAMETERS}
        cameras = tuple(each for each in given["cameras"] if each)
        checkpoint = given["checkpoint"] or None
        times = (given["slop_s"], given["transform_slop_s"], given["keep"])
        named = (given["driver"], tuple(each for each in given["topics"] if each), given["namespace"])
        buffer = BufferSettings(cameras, given["base_frame"], *times, *named)
        most = None if given["max_recoveries"] < 0 else given["max_recoveries"]
        try:
            session = SessionSettings(given["budget_s"], most, given["check_sensors"], given["approve"])
            settings = CoreSettings(buffer, session, given["wait_s"], given["kept_in"])
            system = geometric() if not cameras and checkpoint is None else system_at(checkpoint)
            core = SessionCore(system, settings, self._publish, lambda: self.get_clock().now().nanoseconds / 1e9)
        except NsrecoverError as problem:
            self.get_logger().error(str(problem))
            return TransitionCallbackReturn.FAILURE
        self._publishers_of = {
            topic: self.create_publisher(kind, topic, LATCH if topic in LATCHED else 10)
            for topic, kind in TYPES.items()
        }
        core.active = False
        for topic in core.topics:
            kind = class_of(core.kind_of(topic))
            qos = FIXED if topic.endswith(TF[1]) else LATCH if topic.endswith(LATCHED) else LOSSY
            self._made.append(
                self.create_subscription(kind, topic, partial(core.take, topic), qos, callback_group=self._group)
            )
        self._made.append(self.create_service(srv.Report, REPORT, self._serve, callback_group=self._group))
        self._core = core
        self._worker = threading.Thread(target=core.run, name="nsrecover monitor", daemon=True)
        self._worker.start()
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Answer reports from now on."""
        if self._core is not None:
            self._core.active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Refuse reports; messages are still kept."""
        if self._core is not None:
            self._core.active = False
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget everything."""
        self.release()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """End the worker."""
        self.release()
        return TransitionCallbackReturn.SUCCESS

    def release(self) -> None:
        """End the worker and forget everything; nothing if the node is not configured."""
        if self._core is None:
            return
        self._core.stop()
        self._worker.join()
        for each in self._made:
            destroy = self.destroy_service if hasattr(each, "srv_type") else self.destroy_subscription
            destroy(each)
        for publisher in self._publishers_of.values():
            self.destroy_publisher(publisher)
        self._made, self._core = [], None

    async def _serve(self, report: Any, response: Any) -> Any:
        assert self._core is not None
        done = Future(executor=self.executor)
        answer = self._core.submit(report_fields(report))
        answer.add_done_callback(lambda each: done.set_result(each.result()))
        done.add_done_callback(lambda _: None)  # wakes the executor
        fill(response, await done)
        return response

    def _publish(self, topic: str, fields: dict[str, Any]) -> None:
        message = TYPES[topic]()
        fill(message, fields)
        self._publishers_of[topic].publish(message)


def main() -> None:
    """Run the node until it is interrupted."""
    rclpy.init()
    node = MonitorNode()
    executor = MultiThreadedExecutor()
    executor.add_node(node)
    try:
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            executor.spin()
    finally:
        node.release()
        node.destroy_node()
        rclpy.try_shutdown()

"""The node watches an action while it runs: images and the robot's state arrive as messages."""

import threading
import time
from typing import Any

import pytest
from rosbags.typesys import Stores, get_typestore

import nsrecover
from nsrecover.bridges.ros2.answers import action_of, header
from nsrecover.bridges.ros2.buffer import BufferSettings, MessageBuffer
from nsrecover.bridges.ros2.core import CoreSettings, SessionCore
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, STATE
from nsrecover.core import Observation
from nsrecover.core.glances import RobotState
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.bags.messages import PLAN, ROBOT
from nsrecover.records.bags.writing import BagSettings, RunMessages
from nsrecover.records.recording import example
from sim.sensors.presets import sensor
from sim.tabletop.demonstrations import DemonstrationMix, specify
from sim.tabletop.faults import Drop
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld
from tests.nsrecover.bridges.box_table import text
from tests.nsrecover.bridges.ros2_types import PACKAGE, message_of


def test_the_topics_of_other_drivers_and_of_a_namespace_are_taken() -> None:
    settings = BufferSettings(("/cam",), driver="openni", topics=("/yolo/out=masks",), namespace="r1")
    buffer, truth = MessageBuffer(settings), example().observations[0]
    assert buffer.kind_of("/yolo/out") == "sensor_msgs/msg/Image"
    names = {"/left/masks": "/yolo/out", "/left/depth/": "/r1/cam/depth_registered/", "/left/color/": "/r1/cam/rgb/"}
    for arrival_s, topic, kind, message in RunMessages(BagSettings(), get_typestore(Stores.ROS2_HUMBLE).types).of(
        truth
    ):
        known = next((old for old in names if topic.startswith(old)), "")
        topic = names[known] + topic.removeprefix(known) if known else "/r1" + topic
        if topic in buffer.topics:
            assert buffer.kind_of(topic) == kind
            buffer.take(topic, message, arrival_s)
    seen = buffer.observation(0.0)
    assert isinstance(seen, tuple), seen
    assert isinstance(seen[0], Observation)
    assert seen[0].cameras[0].name == "r1/cam"
    assert sorted(seen[0].labels.values()) == sorted(truth.labels.values())
    with pytest.raises(InvalidConfiguration, match="expected a driver of"):
        MessageBuffer(BufferSettings(driver="kinect"))


class Robot:
    """Publishes what its cameras see, and carries out what the node asks for."""

    def __init__(self, world: WatchedWorld, views: tuple[str, ...]) -> None:
        self.world, self.now, self.number = world, 0.0, 0
        self.heard: list[tuple[str, Any]] = []
        self.frames = RunMessages(BagSettings(), get_typestore(Stores.ROS2_HUMBLE).types)
        settings = CoreSettings(BufferSettings(cameras=views))
        self.core = SessionCore(nsrecover.load(), settings, self.hear, lambda: self.now)

    def hear(self, topic: str, fields: Any) -> None:
        self.heard.append((topic, fields))

    def show(self, seen: Observation, state: RobotState | None = None) -> None:
        self.now = seen.time_s
        if state is not None:
            fields = {"opening_m": state.opening_m, "tool_m": state.tool_m, "gripping": state.gripping}
            told = {"header": header(seen.time_s, ""), **fields}
            self.core.take(ROBOT, message_of(PACKAGE + "RobotState", told))
        for _, topic, _, message in self.frames.of(seen):
            if topic in self.core.topics:
                self.core.take(topic, message)

    def report(self) -> dict[str, Any]:
        seen = self.world.observe()
        answer = self.core.submit({"reply_to": self.number, "what": "observed", "not_before": seen.time_s - 1e-6})
        self.show(seen)
        told: dict[str, Any] = answer.result(60)
        self.number = told["number"]
        return told["request"] | {"code": told["request"]["code"] if told["code"] == "ok" else told["message"]}

    def goes_on(self, seen: Observation, state: RobotState) -> bool:
        """Whether the node lets the action run."""
        self.show(seen, state)
        time.sleep(0.08)
        return self.state["code"] == "act"

    @property
    def state(self) -> dict[str, Any]:
        return next(fields["request"] for topic, fields in reversed(self.heard) if topic == STATE)


def test_a_slip_is_noticed_while_the_arm_moves_and_nothing_else_is() -> None:
    story = specify(DemonstrationMix(), 5301, 3)
    plan = story.plan.actions[:2]
    with TabletopWorld(story.scene, [Drop(0, 0.3)], story.rig, story.plan) as tabletop:
        world = WatchedWorld(tabletop, sensor("d435").stream(2, 0), rate_hz=10)
        robot = Robot(world, tuple(f"/{each.name}" for each in world.observe().cameras))
        worker = threading.Thread(target=robot.core.run, daemon=True)
        worker.start()
        try:
            robot.core.take(PLAN, text(plan=[str(action) for action in plan]))
            request, stopped = robot.report(), []
            while request["code"] in ("act", "look"):
                if request["code"] == "act":
                    world.execute_watched(action_of(message_of(PACKAGE + "Action", request["action"])), robot.goes_on)
                    stopped += robot.state["names"] if robot.state["code"] == "interrupt" else []
                request = robot.report()
        finally:
            robot.core.stop()
            worker.join()
    assert request["code"] == "done"
    assert len(stopped) == 1
    wrong = {each["name"] for topic, fields in robot.heard if topic == DISCREPANCY for each in fields["deviations"]}
    assert set(stopped) <= wrong

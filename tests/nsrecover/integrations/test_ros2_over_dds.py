"""A tower collapses in the simulator; a monitor in another process repairs it, over real DDS on this machine."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

import nsrecover
from nsrecover.core.actions import Action
from nsrecover.records.bags.messages import BOXES
from tests.nsrecover.integrations.dds_robot import Frame, Robot, end, start_peer, wait_for

pytest.importorskip("cyclonedds")

LATE_S = 0.25
DOMAIN = 100 + os.getpid() % 60
SIDE = 0.04


class Trouble:
    """Every third message of a camera is lost, and transforms come a quarter of a second late."""

    def __init__(self) -> None:
        self.late: Frame = []
        self.lost = self.number = 0

    def __call__(self, frame: Frame) -> Frame:
        self.number += 1
        now = frame[0][0]
        sent: Frame = [each for each in self.late if each[0] <= now - LATE_S]
        self.late = [each for each in self.late if each[0] > now - LATE_S]
        for each in frame:
            if each[1] == "/tf":
                self.late.append(each)
            elif each[1] == "/right/depth/image_raw" and self.number % 3 == 0:
                self.lost += 1
            else:
                sent.append(each)
        return sent


def test_a_collapse_is_repaired_in_spite_of_lost_and_late_messages_and_restarted_cameras() -> None:
    pytest.importorskip("pybullet")
    peer = start_peer(DOMAIN)  # it loads PyTorch meanwhile
    from sim.tabletop.scenarios import scenario
    from sim.tabletop.world import TabletopWorld

    shown, trouble = scenario("collapse", 0), Trouble()
    try:
        with TabletopWorld(shown.scene, shown.faults, plan=shown.plan, seed=shown.seed) as world:
            wait_for(peer)
            robot = Robot(world, DOMAIN, trouble)
            robot.publish_plan(list(map(str, shown.plan)), [f"stage {number}" for number in range(len(shown.plan))])
            first = robot.bus

            def restart(executed: int) -> None:
                if executed == 2 and robot.bus is first:
                    robot.bus.close()
                    robot.connect()

            robot.run(restart)
            robot.bus.close()
    finally:
        end(peer)
    verdicts = [getattr(each, "verdict", None) or each.status for each in robot.heard]
    assert verdicts == ["as_expected"] * 3 + ["deviating", "recovered"] + ["as_expected"] * 6
    wrong, back = robot.heard[3:5]
    assert (wrong.action.stage, "the tower fell" in wrong.text) == ("stage 3", True)
    assert {each.cause for each in wrong.deviations} >= {"toppled", "dropped"}
    assert (back.resume_at, len(back.actions), back.proven_optimal) == (4, 6, True)
    assert robot.executed[3] == str(shown.plan[3])
    assert robot.executed[-4:] == list(map(str, shown.plan))
    assert trouble.lost > 5
    assert set(robot.codes) == {"ok", "plan_done"}


class Table:
    """Boxes and an ideal robot; a person takes the blue block away once."""

    def __init__(self) -> None:
        rows = (("red", 0.15), ("green", 0.0), ("blue", -0.15))
        self.boxes = {n: (0.45, y, SIDE / 2, SIDE, SIDE, SIDE) for n, y in rows}
        self.taken = False

    def observe(self) -> dict[str, Any]:
        return self.boxes

    def execute(self, action: Action) -> None:
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), action)
        self.boxes = {n: tuple(map(float, b)) for n, b in zip(scene.names, scene.boxes, strict=True)}
        if str(action) == "top(blue, green)" and not self.taken:
            self.boxes["blue"], self.taken = (0.6, 0.25, SIDE / 2, SIDE, SIDE, SIDE), True


class BoxesRobot(Robot):
    """Publishes boxes instead of images."""

    def frame(self, seen: Any, now: float) -> Frame:
        document = {"data": json.dumps({"stamp_s": now, "boxes": seen})}
        return [(now, BOXES, "std_msgs/msg/String", document)]


def test_a_monitor_that_is_killed_and_started_again_goes_on() -> None:
    domain = DOMAIN + 1
    robot, peers = BoxesRobot(Table(), domain), [start_peer(domain, "--cameras", "")]
    wait_for(peers[0])
    robot.publish_plan(["top(green, red)", "top(blue, green)"], ["a", "b"])

    def restart(executed: int) -> None:
        if executed == 1 and len(peers) == 1:
            end(peers[0])
            peers.append(start_peer(domain, "--cameras", ""))
            wait_for(peers[1])

    try:
        robot.run(restart)
    finally:
        for peer in peers:
            end(peer)
        robot.bus.close()
    verdicts = [getattr(each, "verdict", None) or each.status for each in robot.heard]
    assert verdicts == ["as_expected", "deviating", "recovered", "as_expected"]
    assert robot.executed == ["top(green, red)", "top(blue, green)", "top(blue, green)"]
    assert robot.world.boxes["blue"][2] == pytest.approx(2.5 * SIDE)

"""Alike objects that have changed places: the relations of the plan are met with either, if that is wanted."""

from dataclasses import replace

import pytest

import nsrecover
from nsrecover.core import Action, Plan, RecoveryStatus
from nsrecover.core.sessions.requests import Act, Done, Stopped
from nsrecover.planning.planner import Rejoin
from nsrecover.records.episode_log import from_document, to_document
from nsrecover.session import AnySession

SIDE = 0.05
Boxes = dict[str, tuple[float, ...]]


def box(x: float, y: float, level: int = 0, side: float = SIDE) -> tuple[float, ...]:
    return (x, y, side / 2 + level * SIDE, side, side, side)


def scene() -> Boxes:
    """A plan begins with two bricks, and what is to stand on them."""
    return {"brick 1": box(0.5, 0.1), "brick 2": box(0.5, -0.15), "green": box(0.4, 0.0), "blue": box(0.62, 0.0)}


class Robot:
    """Carries out what is asked for, exactly."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes = boxes

    def execute(self, action: Action) -> None:
        graph = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), action)
        self.boxes = dict(zip(graph.names, map(tuple, graph.boxes.tolist()), strict=True))


def carried_out(session: AnySession, robot: Robot) -> list[str]:
    done = list[str]()
    while not session.request.final and len(done) < 40:
        if isinstance(session.request, Act):
            robot.execute(session.request.action)
            done.append(str(session.request.action))
        session.observed(dict(robot.boxes))
    return done


def swapped(boxes: Boxes) -> Boxes:
    return boxes | {"brick 1": boxes["brick 2"], "brick 2": boxes["brick 1"]}


def run(text: str, kind: Rejoin, steps: int, start: Boxes | None = None) -> tuple[AnySession, list[str]]:
    """A plan in which the bricks are exchanged after some steps, whatever stands on them."""
    system = nsrecover.geometric()
    system = replace(system, planner=replace(system.planner, rejoin=kind))
    robot = Robot(start or scene())
    session = system.session(Plan.parse(text), dict(robot.boxes))
    for _ in range(steps):
        assert isinstance(session.request, Act)
        robot.execute(session.request.action)
        if _ == steps - 1:
            robot.boxes = swapped(robot.boxes)
        session.observed(dict(robot.boxes))
    return session, carried_out(session, robot)


TOWER = "top(green, brick 1); top(blue, green)"


@pytest.mark.parametrize("kind", [Rejoin.POSE, Rejoin.RELATIONS])
def test_names_mean_what_they_say_by_default(kind: Rejoin) -> None:
    session, done = run(TOWER, kind, 2)
    assert isinstance(session.request, Done)
    assert kind is Rejoin.RELATIONS or len(done) >= 5
    assert done[-2:] == ["top(green, brick 1)", "top(blue, green)"]


def test_a_swap_under_a_tower_costs_nothing_if_alike_objects_may_take_each_others_parts() -> None:
    session, done = run(TOWER, Rejoin.ALIKE, 2)
    assert isinstance(session.request, Done)
    assert done == []
    (recovery,) = [each.recovery for each in session.records if each.recovery is not None]
    assert recovery.status is RecoveryStatus.ALREADY_AT_SUBGOAL
    assert dict(recovery.exchanged) == {"brick 1": "brick 2", "brick 2": "brick 1"}


def test_the_rest_of_the_plan_names_the_other_one_and_the_log_tells_why() -> None:
    text = "top(green, brick 1); left(blue, brick 2); top(brick 2, green)"
    session, done = run(text, Rejoin.ALIKE, 1)
    assert isinstance(session.request, Done)
    assert done == ["left(blue, brick 1)", "top(brick 1, green)"]
    read = from_document(to_document(session.episode))
    (recovery,) = [each.recovery for each in read.records if each.recovery is not None]
    assert recovery.exchanged == (("brick 1", "brick 2"), ("brick 2", "brick 1"))


@pytest.mark.parametrize("other", [box(0.5, -0.15, side=0.07), (0.5, -0.15, 0.05, 0.05, 0.05, 0.1)])
def test_objects_of_other_sizes_are_not_alike(other: tuple[float, ...]) -> None:
    session, done = run("top(green, brick 1)", Rejoin.ALIKE, 1, scene() | {"brick 2": other})
    assert isinstance(session.request, Done | Stopped)
    assert all(not each.recovery.exchanged for each in session.records if each.recovery is not None)
    assert done or isinstance(session.request, Stopped)


def test_the_judge_of_completion_takes_the_exchanged_ones_only_after_the_exchange() -> None:
    session, _ = run(TOWER, Rejoin.ALIKE, 2)
    scene, goal = session.scene, session.monitor.belief._now.goal
    rows = [scene.index(name) for name in ("brick 2", "brick 1", "green", "blue")]
    graph = replace(scene.chosen(("brick 1", "brick 2", "green", "blue")), boxes=scene.boxes[rows])  # as at first
    assert goal.unmet(scene, "green") is None
    assert goal.unmet(graph, "green") is not None
    assert goal.unmet(graph, "blue") is None


def test_a_tower_may_stand_elsewhere_and_counts_as_done() -> None:
    system = nsrecover.geometric()
    system = replace(system, planner=replace(system.planner, rejoin=Rejoin.RELATIONS))
    robot = Robot(scene())
    session = system.session(Plan.parse(TOWER), scene())
    robot.execute(session.request.action)
    for name in ("brick 1", "green"):  # both are pushed aside together
        x, y, *rest = robot.boxes[name]
        robot.boxes[name] = (x + 0.05, y + 0.03, *rest)
    session.observed(dict(robot.boxes))
    assert carried_out(session, robot) == ["top(blue, green)"]
    assert isinstance(session.request, Done)

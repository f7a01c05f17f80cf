"""The behaviour that drives a session, on tables of boxes and in kitchens of facts."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("py_trees")

import py_trees
from py_trees.common import Access, Status

from nsrecover import Action, Answer, Interrupt, Observation, Plan, RobotState, SessionSettings, Stopped, geometric
from nsrecover.bridges.behaviour_trees import KEYS, FollowPlan
from nsrecover.core import StopCode
from nsrecover.monitoring.executing import ExecutionFailed
from nsrecover.monitoring.motion import MotionModel
from tests.nsrecover.seen_from_above import seen
from tests.scenarios import DROP, SIDE_M, Boxes

PLAN = Boxes.plan()
STEPS = list(map(str, PLAN))


class Table(Boxes):
    """The cubes of the scenarios, which may be moved by others."""

    @property
    def done(self) -> list[str]:
        return [entry.removeprefix("act ") for entry in self.log if entry.startswith("act ")]

    @property
    def stands(self) -> bool:
        return [round(self.boxes[name][2] / SIDE_M, 1) for name in ("red", "green", "blue", "grey")] == [
            0.5,
            1.5,
            2.5,
            3.5,
        ]

    def put(self, name: str, x: float, y: float) -> None:
        self.boxes[name] = (x, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)


class Slow:
    """A planner that waits until it may answer, or is cancelled."""

    def __init__(self) -> None:
        self.allowed, self.searching = threading.Event(), threading.Event()

    def recover(self, *scenes: Any, cancelled: Callable[[], bool] | None = None, **options: Any) -> Any:
        self.searching.set()
        while not self.allowed.wait(0.002) and not (cancelled and cancelled()):
            pass
        self.searching.clear()
        return geometric().planner.recover(*scenes, cancelled=cancelled, **options)


def run(tree: Any, until: Callable[[], bool] = lambda: False) -> Status:
    """Tick until the tree ends, or something is the case; scenes are judged in another thread."""
    for _ in range(20_000):
        tree.tick()
        if until() or tree.root.status is not Status.RUNNING:
            break
        threading.Event().wait(0.001)
    return tree.root.status


def reader() -> Any:
    board = py_trees.blackboard.Client(name="reader", namespace="nsrecover")
    for key in KEYS:
        board.register_key(key, access=Access.READ)
    return board


@pytest.fixture(autouse=True)
def clean() -> None:
    py_trees.blackboard.Blackboard.clear()


def following(table: Table, system: Any = None, **options: Any) -> tuple[FollowPlan, Any]:
    """The behaviour that builds the tower, and a tree of it alone."""
    follow = FollowPlan((system or geometric()).session(PLAN), table, **options)
    return follow, py_trees.trees.BehaviourTree(follow)


def test_an_error_is_on_the_blackboard_and_recovered() -> None:
    table = Table(DROP)
    _, tree = following(table)
    board, seen = reader(), []
    tree.add_post_tick_handler(lambda _: seen.append((board.verdict, board.culprits, board.causes.get("green"))))
    assert run(tree) is Status.SUCCESS
    assert table.stands
    assert table.done == [STEPS[0], *STEPS]
    assert ("deviating", ("green",), "misplaced") in seen
    assert (board.culprits, board.causes) == ((), {})


def searching(table: Table) -> tuple[Slow, FollowPlan, Any]:
    """A planner that searches for a recovery, the behaviour, and its tree."""
    planner = Slow()
    follow, tree = following(table, replace(geometric(), planner=planner))
    assert run(tree, planner.searching.is_set) is Status.RUNNING
    return planner, follow, tree


def test_a_search_does_not_hold_up_the_tree_and_ends_when_it_is_interrupted() -> None:
    table = Table(DROP)
    planner, _, tree = searching(table)
    tree.tick()
    assert tree.root.status is Status.RUNNING
    assert reader().culprits == ("green",)
    tree.root.stop(Status.INVALID)
    while planner.searching.is_set():
        threading.Event().wait(0.001)
    table.put("green", 0.6, -0.3)  # what was seen before is out of date
    planner.allowed.set()
    assert run(tree) is Status.SUCCESS
    assert table.stands
    assert table.done == [STEPS[0], *STEPS]


def test_another_session_begins_anew() -> None:
    table = Table(DROP)
    planner, follow, tree = searching(table)
    other = Plan((Action("restore", ("grey",), (0.6, -0.25, SIDE_M / 2, *[SIDE_M] * 3)),))
    follow.reset(geometric().session(other, table.boxes))
    assert not planner.searching.is_set()
    board = reader()
    assert (board.plan, board.verdict, board.culprits) == (tuple(map(str, other)), "as_expected", ())
    assert run(tree) is Status.SUCCESS
    assert table.done == [STEPS[0], *map(str, other)]


class Moving(py_trees.behaviour.Behaviour):
    """A skill that takes several ticks, and ends with a status or an error."""

    def __init__(self, table: Table, action: Action, end: Status | ExecutionFailed = Status.SUCCESS) -> None:
        super().__init__(f"move {action}")
        self.table, self.action, self.end, self.left = table, action, end, 3

    def update(self) -> Status:
        self.left -= 1
        if self.left > 0:
            return Status.RUNNING
        if isinstance(self.end, ExecutionFailed):
            raise self.end
        self.table.execute(self.action)
        return self.end


@pytest.mark.parametrize("end", [Status.SUCCESS, Status.FAILURE])
def test_skills_may_take_their_time_and_are_not_believed(end: Status) -> None:
    table = Table()
    follow, tree = following(table, act=lambda action: Moving(table, action, end))
    run(tree, lambda: bool(follow.children) and follow.children[0].status is Status.RUNNING)
    assert table.done == []
    assert run(tree) is Status.SUCCESS
    assert table.stands


def test_skills_are_set_up_with_what_the_tree_is_set_up_with() -> None:
    nodes: list[object] = []

    class Skill(py_trees.behaviour.Behaviour):
        def setup(self, **given: object) -> None:
            nodes.append(given["node"])

        def update(self) -> Status:
            assert nodes
            return Status.SUCCESS

    follow = FollowPlan(geometric().session(PLAN), Table(), act=lambda action: Skill(str(action)))
    tree = py_trees.trees.BehaviourTree(follow)
    tree.setup(node="a ROS node")
    for _ in range(400):
        tree.tick()
        if nodes:
            break
        time.sleep(0.01)
    assert nodes == ["a ROS node"]
    follow.stop_session()


def test_a_motion_that_does_not_end_ends_the_session() -> None:
    table = Table()
    follow, tree = following(table, act=lambda action: Moving(table, action, ExecutionFailed("the arm is stuck")))
    assert run(tree) is Status.FAILURE
    assert reader().reason == "the arm is stuck"
    assert follow.session.request == Stopped(StopCode.EXECUTION_FAILED, "the arm is stuck")


def test_after_an_interrupted_action_the_scene_is_looked_at_first() -> None:
    table = Table()
    skills: list[Moving] = []

    def act(action: Action) -> Moving:
        skills.append(Moving(table, action))
        return skills[-1]

    low = py_trees.behaviours.StatusQueue("battery low?", [Status.FAILURE], Status.FAILURE)
    follow, _ = following(table, act=act)
    root = py_trees.composites.Selector("robot", memory=False, children=[low, follow])
    tree = py_trees.trees.BehaviourTree(root)
    run(tree, lambda: bool(skills) and skills[0].status is Status.RUNNING)
    assert skills
    low.eventually = Status.RUNNING
    tree.tick()
    assert (skills[0].status, follow.status, list(follow.iterate())) == (Status.INVALID, Status.INVALID, [follow])
    table.put("green", 0.6, 0.2)  # the hand had it, and let it go
    low.eventually = Status.FAILURE
    assert run(tree) is Status.SUCCESS
    assert table.stands
    first = follow.session.records[0]
    assert (first.action, first.discrepancy.deviating) == (None, ("green",))


def test_an_action_is_halted_when_a_glance_shows_that_something_goes_wrong() -> None:
    table, skills = Table(), list[Moving]()
    limits = MotionModel(0.003, (0.01,) * 3, (0.5,) * 3, 0.01, 0.5, 1.0)

    def act(action: Action) -> Moving:
        skills.append(Moving(table, action))
        skills[-1].left = 8
        return skills[-1]

    def glance() -> tuple[Observation, RobotState]:
        if len(skills) == 1 and skills[0].left == 5:
            table.put("grey", 0.3, -0.25)
        tops = [(x, y, z + SIDE_M / 2) for x, y, z, *_ in table.boxes.values()]
        return seen(*tops), RobotState(0.08, (0.0, 0.0, 0.5), gripping=False)

    follow, tree = following(table, replace(geometric(), during=limits), act=act, glance=glance)
    assert run(tree, lambda: isinstance(follow.session.request, Interrupt)) is Status.RUNNING
    assert (table.done, skills[0].status, skills[0].left > 0) == ([], Status.INVALID, True)
    assert run(tree) is Status.SUCCESS
    assert table.stands


def test_a_person_may_take_time_to_decide() -> None:
    table = Table({0: "drops"})
    answers = iter([None, None, Answer.NO, *[False] * 9])
    session = geometric().session(PLAN, settings=SessionSettings(approve=True))
    follow = FollowPlan(session, table, decide=lambda decision: next(answers))
    tree, board, asked = py_trees.trees.BehaviourTree(follow), reader(), []
    tree.add_post_tick_handler(lambda _: asked.append(board.request))
    assert run(tree) is Status.FAILURE
    assert asked.count("ask") >= 3
    assert isinstance(session.request, Stopped)
    assert session.request.why is StopCode.VETOED
    assert table.done == STEPS[:1]

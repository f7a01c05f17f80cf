"""The behaviour that drives a session, on tables of boxes and in kitchens of facts."""

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("py_trees")

import py_trees
from py_trees.common import Status

from nsrecover import Action, Answer, Interrupt, Observation, Plan, RobotState, SessionSettings, Stopped, geometric
from nsrecover.bridges.behaviour_trees import FollowPlan
from nsrecover.core import StopCode
from nsrecover.monitoring.executing import ExecutionFailed
from nsrecover.monitoring.motion import MotionModel
from tests.nsrecover.bridges.tree_table import PLAN, SIDE_M, Slow, Table, reader, run
from tests.nsrecover.seen_from_above import seen

STEPS = list(map(str, PLAN))


@pytest.fixture(autouse=True)
def clean() -> None:
    py_trees.blackboard.Blackboard.clear()


def following(table: Table, system: Any = None, **options: Any) -> tuple[FollowPlan, Any]:
    """The behaviour that builds the tower, and a tree of it alone."""
    follow = FollowPlan((system or geometric()).session(PLAN), table, **options)
    return follow, py_trees.trees.BehaviourTree(follow)


def test_an_error_is_on_the_blackboard_and_recovered() -> None:
    table = Table()
    _, tree = following(table)
    table.after = lambda number: table.put("blue", 0.6, 0.2) if number == 2 else None
    board, seen = reader(), []
    tree.add_post_tick_handler(lambda _: seen.append((board.verdict, board.culprits, board.causes.get("blue"))))
    assert run(tree) is Status.SUCCESS
    assert table.stands()
    assert table.done == [*STEPS[:2], *STEPS[1:]]
    assert ("deviating", ("blue",), "misplaced") in seen
    assert (board.culprits, board.causes) == ((), {})


def searching(table: Table) -> tuple[Slow, FollowPlan, Any]:
    """A planner that searches for a recovery, the behaviour, and its tree."""
    planner = Slow()
    follow, tree = following(table, replace(geometric(), planner=planner))
    table.after = lambda number: table.put("green", 0.6, 0.2) if number == 1 else None
    assert run(tree, planner.searching.is_set) is Status.RUNNING
    return planner, follow, tree


def test_a_search_does_not_hold_up_the_tree_and_ends_when_it_is_interrupted() -> None:
    table = Table()
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
    assert table.stands()
    assert table.done == [STEPS[0], *STEPS]


def test_another_session_begins_anew() -> None:
    table = Table()
    planner, follow, tree = searching(table)
    other = Table()
    follow.reset(geometric().session(Plan.parse("left(grey, red)"), other.scene))
    assert not planner.searching.is_set()
    board = reader()
    assert (board.plan, board.verdict, board.culprits) == (("left(grey, red)",), "as_expected", ())
    table.scene, table.done, table.after = other.scene, [], lambda _: None
    assert run(tree) is Status.SUCCESS
    assert table.done == ["left(grey, red)"]


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
    assert table.stands()


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
    assert table.stands()
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
        tops = [(x, y, z + SIDE_M / 2) for x, y, z in table.scene.boxes[:, :3].tolist()]
        return seen(*tops), RobotState(0.08, (0.0, 0.0, 0.5), gripping=False)

    follow, tree = following(table, replace(geometric(), during=limits), act=act, glance=glance)
    assert run(tree, lambda: isinstance(follow.session.request, Interrupt)) is Status.RUNNING
    assert (table.done, skills[0].status, skills[0].left > 0) == ([], Status.INVALID, True)
    assert run(tree) is Status.SUCCESS
    assert table.stands()


def test_a_person_may_take_time_to_decide() -> None:
    table = Table()
    answers = iter([None, None, Answer.NO, *[False] * 9])
    session = geometric().session(PLAN, settings=SessionSettings(approve=True))
    follow = FollowPlan(session, table, decide=lambda decision: next(answers))
    table.after = lambda _: table.put("green", 0.6, 0.2)
    tree, board, asked = py_trees.trees.BehaviourTree(follow), reader(), []
    tree.add_post_tick_handler(lambda _: asked.append(board.request))
    assert run(tree) is Status.FAILURE
    assert asked.count("ask") >= 3
    assert isinstance(session.request, Stopped)
    assert session.request.why is StopCode.VETOED
    assert table.done == STEPS[:1]

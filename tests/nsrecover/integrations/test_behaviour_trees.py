"""The behaviour tree on a table of boxes with chosen events between the ticks."""

from __future__ import annotations

import builtins
import importlib
import sys
import threading
from typing import Any

import pytest

pytest.importorskip("py_trees")

import py_trees
from py_trees.common import Status

from nsrecover import Action, Plan, geometric
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import InvalidConfiguration, UnknownObject
from nsrecover.integrations.behaviour_trees import (
    AsExpected,
    FindWayBack,
    PlanExecution,
    follow_plan,
    next_action,
    recovery_subtree,
)
from tests.nsrecover.integrations.tree_table import PLAN, SIDE_M, Table, node, reader, run, slow, tree_of


@pytest.fixture(autouse=True)
def clean() -> None:
    py_trees.blackboard.Blackboard.clear()


def begun(system: Any) -> tuple[Table, PlanExecution[Any], py_trees.trees.BehaviourTree]:
    """A table, the plan's execution there, and its tree after the first action."""
    table = Table()
    execution = PlanExecution(system, table, PLAN)
    tree = tree_of(execution)
    tree.tick()
    return table, execution, tree


def test_a_plan_that_works_is_carried_out() -> None:
    table = Table()
    tree = tree_of(PlanExecution(geometric(), table, PLAN))
    assert run(tree) is Status.SUCCESS
    assert table.stands()
    assert table.done == list(map(str, PLAN))
    board = reader()
    assert (board.step, board.culprits, board.causes, board.reason) == (3, (), {}, "")
    # ticked again, it looks again: what is disturbed afterwards is restored
    table.put("grey", 0.6, 0.2)
    assert run(tree) is Status.SUCCESS
    assert table.stands()
    assert len(table.done) == 4


def test_an_error_is_reported_and_recovered() -> None:
    table, board = Table(), None
    execution = PlanExecution(geometric(), table, PLAN)
    tree = tree_of(execution)
    table.after = lambda done: table.put("blue", 0.6, 0.2) if table.done == list(map(str, PLAN))[:2] else None
    seen = []
    board = reader()

    def watch(_: Any) -> None:
        if board.culprits:
            condition = node(tree.root, AsExpected)
            seen.append((board.culprits, dict(board.causes), condition.feedback_message, board.discrepancy.step))

    tree.add_post_tick_handler(watch)
    assert run(tree) is Status.SUCCESS
    assert table.stands()
    culprits, causes, message, step = seen[0]
    assert (culprits, step) == (("blue",), 1)
    assert Cause(causes["blue"]) is Cause.MISPLACED
    assert message == "blue: misplaced"
    assert [str(action) for action in board.recovery.actions] == ["top(blue, green)"]
    assert (board.culprits, board.causes, board.discrepancy) == ((), {}, None)


def test_disturbances_before_an_action_are_noticed_too() -> None:
    table, _execution, tree = begun(geometric())
    tree.tick()  # seen, and blue is on green
    table.put("grey", *table.scene.boxes[table.scene.index("red")][:2], 3.5 * SIDE_M)  # a helper
    assert run(tree) is Status.SUCCESS
    assert table.done == list(map(str, PLAN))[:2]
    assert table.stands()


def test_a_result_for_an_older_world_is_never_a_success() -> None:
    system = slow()
    table, execution, tree = begun(system)
    table.put("green", 0.6, 0.2)
    tree.tick()
    assert tree.root.status is Status.RUNNING
    finder = node(tree.root, FindWayBack)
    assert finder.status is Status.RUNNING
    table.put("green", 0.6, -0.3)  # while it is being searched
    system.allowed.set()
    statuses, messages = [], []
    for _ in range(5000):
        tree.tick()
        statuses.append(finder.status)
        messages.append(finder.feedback_message)
        if finder.status is not Status.RUNNING:
            break
        threading.Event().wait(0.001)
    assert Status.SUCCESS not in statuses
    assert messages[-1].startswith("stale")
    assert table.done == ["top(green, red)"]  # nothing was done on its account
    assert execution.recovery is None
    assert tree.root.status is Status.RUNNING  # and it is searched anew
    assert run(tree) is Status.SUCCESS
    assert table.stands()


def test_a_scene_that_is_corrected_during_the_search_makes_its_result_stale() -> None:
    system = slow()
    table, _execution, tree = begun(system)
    right = table.scene
    table.put("green", 0.6, 0.2)
    tree.tick()
    table.scene = right
    system.allowed.set()
    assert run(tree) is Status.SUCCESS
    assert table.done == list(map(str, PLAN))


def test_a_way_back_that_does_not_work_is_never_a_success() -> None:
    table = Table()
    execution = PlanExecution(geometric(), table, PLAN, max_recoveries=3)
    subtree = recovery_subtree(execution)
    execution.observe()
    table.put("green", 0.6, 0.2)
    table.after = lambda _: table.put("green", 0.6, -0.3)  # whatever it does, the block ends there
    for _ in range(3):
        assert execution.observe()
        while subtree.status is not Status.FAILURE:
            subtree.tick_once()
            assert subtree.status is not Status.SUCCESS
        assert not execution.reason
        subtree.stop(Status.INVALID)
    assert table.done == ["top(green, red)"] * 3
    subtree.tick_once()
    assert subtree.status is Status.FAILURE
    assert execution.reason == "a way back was searched 3 times, the last time for green"
    assert len(table.done) == 3


def test_a_stubborn_world_ends_in_failure_and_help_ends_that() -> None:
    table = Table()
    execution = PlanExecution(geometric(), table, PLAN, max_recoveries=2)
    tree = tree_of(execution)
    table.after = lambda _: table.put("green", 0.6, 0.2)
    assert run(tree) is Status.FAILURE
    assert tree.root.feedback_message == reader().reason == "a way back was searched 2 times, the last time for green"
    assert run(tree) is Status.FAILURE  # as long as nobody helps
    table.after = lambda _: None
    table.put("green", 0.45, 0.15, 1.5 * SIDE_M)
    assert run(tree) is Status.SUCCESS
    assert table.stands()
    assert reader().reason == ""


def test_no_way_back_is_a_failure_with_the_reason() -> None:
    table, _execution, tree = begun(geometric())
    table.lose("blue")
    assert run(tree) is Status.FAILURE
    board = reader()
    assert board.causes == {"blue": "missing"}
    assert "blue" in board.reason
    finder = node(tree.root, FindWayBack)
    assert finder.feedback_message.startswith("impossible")
    assert board.ahead == ("top(blue, green)", "top(grey, blue)")


def test_interrupting_stops_the_search_and_forgets_what_was_inserted() -> None:
    system = slow()
    table, _execution, tree = begun(system)
    table.put("green", 0.6, 0.2)
    tree.tick()
    searching = threading.active_count()
    tree.root.stop(Status.INVALID)
    assert system.cancelled.is_set()
    assert threading.active_count() == searching - 1
    assert all(behaviour.status is Status.INVALID for behaviour in tree.root.iterate())
    # and it can go on
    system.allowed.set()
    assert run(tree) is Status.SUCCESS
    assert table.stands()


class Moving(py_trees.behaviour.Behaviour):
    """A skill that takes several ticks, and may report a failure."""

    def __init__(self, table: Table, action: Action, claims: Status = Status.SUCCESS) -> None:
        super().__init__(f"move {action}")
        self.table, self.action, self.claims, self.left = table, action, claims, 3

    def update(self) -> Status:
        self.left -= 1
        if self.left == 0:
            self.table.execute(self.action)
        return Status.RUNNING if self.left > 0 else self.claims


@pytest.mark.parametrize("claims", [Status.SUCCESS, Status.FAILURE])
def test_skills_may_take_their_time_and_are_not_believed(claims: Status) -> None:
    table = Table()
    execution = PlanExecution(geometric(), table, PLAN, act=lambda action: Moving(table, action, claims))
    tree = tree_of(execution)
    tree.tick()
    assert node(tree.root, Moving).status is Status.RUNNING
    assert table.done == []
    assert run(tree) is Status.SUCCESS
    assert table.stands()


def test_an_interrupted_skill_leaves_no_trace() -> None:
    table = Table()
    execution = PlanExecution(geometric(), table, PLAN, act=lambda action: Moving(table, action))
    tree = tree_of(execution)
    tree.tick()
    skill = node(tree.root, Moving)
    tree.root.stop(Status.INVALID)
    assert skill.status is Status.INVALID
    assert skill not in list(tree.root.iterate())
    assert (execution.num_executed, table.done) == (0, [])
    assert run(tree) is Status.SUCCESS


@pytest.mark.parametrize("how", ["setup", "reset"])
def test_nothing_is_left_of_an_earlier_episode(how: str) -> None:
    system = slow()
    table, execution, tree = begun(system)
    table.put("green", 0.6, 0.2)
    tree.tick()
    assert reader().culprits == ("green",)
    table.__init__()  # the next episode, with other objects in other places
    table.put("red", 0.6, 0.0)
    if how == "setup":
        tree.setup()
    else:
        execution.reset()
    assert system.cancelled.is_set()
    board = reader()
    assert (board.step, board.culprits, board.causes, board.discrepancy, board.recovery) == (0, (), {}, None, None)
    system.allowed.set()
    assert run(tree) is Status.SUCCESS
    assert table.done == list(map(str, PLAN))  # where red stood before is not missed
    assert table.stands()
    other = Plan.parse("left(grey, red)")
    table.__init__()
    execution.reset(other)
    assert run(tree) is Status.SUCCESS
    assert table.done == ["left(grey, red)"]
    assert reader().ahead == ()


def test_two_executions_do_not_see_the_data_of_each_other() -> None:
    first, second = Table(), Table()
    one = tree_of(PlanExecution(geometric(), first, PLAN, namespace="one"))
    two = tree_of(PlanExecution(geometric(), second, PLAN, namespace="two"))
    one.tick()
    two.tick()
    first.put("green", 0.6, 0.2)
    one.tick()
    two.tick()
    assert (reader("one").culprits, reader("two").culprits) == (("green",), ())


def test_the_execution_continues_after_an_interruption() -> None:
    table, system = Table(), slow()
    execution = PlanExecution(system, table, PLAN, act=lambda action: Moving(table, action))
    low = py_trees.behaviours.StatusQueue("battery low?", [Status.FAILURE] * 6 + [Status.RUNNING] * 2, Status.FAILURE)
    root = py_trees.composites.Selector("robot", memory=False, children=[low, follow_plan(execution)])
    tree = py_trees.trees.BehaviourTree(root)
    tree.setup()
    table.after = lambda _: table.put("green", 0.6, 0.2) if len(table.done) == 1 else None
    for _ in range(6):
        tree.tick()
    finder = node(root, FindWayBack)
    assert finder.status is Status.RUNNING
    tree.tick()  # the battery is low
    assert finder.status is Status.INVALID
    assert system.cancelled.is_set()
    assert execution.step == 1
    system.allowed.set()
    assert run(tree) is Status.SUCCESS
    assert table.done == ["top(green, red)", "top(green, red)", "top(blue, green)", "top(grey, blue)"]
    assert table.stands()


def test_the_parts_can_be_used_in_other_trees() -> None:
    table = Table()
    execution = PlanExecution(geometric(), table, PLAN)
    recovered = py_trees.composites.Selector(
        "mend", memory=True, children=[AsExpected(execution), recovery_subtree(execution)]
    )
    step = py_trees.composites.Sequence("step", memory=True, children=[recovered, next_action(execution)])
    root = py_trees.decorators.Repeat("mine", step, num_success=4)  # three steps, and a last look
    tree = py_trees.trees.BehaviourTree(root)
    tree.setup()
    table.after = lambda _: table.put("green", 0.6, 0.2) if len(table.done) == 1 else None
    assert run(tree) is Status.SUCCESS
    assert execution.complete
    assert table.done == ["top(green, red)", "top(green, red)", "top(blue, green)", "top(grey, blue)"]
    assert table.stands()


def test_mistakes_are_raised_where_the_tree_is_ticked() -> None:
    tree = tree_of(PlanExecution(geometric(), Table(), Plan.parse("top(gren, red)")))
    with pytest.raises(UnknownObject, match="Did you mean 'green'"):
        tree.tick()
    table = Table()
    tree = tree_of(PlanExecution(geometric(), table, PLAN, budget_s=-1.0))
    tree.tick()
    table.put("green", 0.6, 0.2)
    with pytest.raises(InvalidConfiguration, match="budgets"):
        run(tree)


def test_a_missing_package_names_the_extra(monkeypatch) -> None:
    real = builtins.__import__

    def absent(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.startswith("py_trees"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", absent)
    for module in ("behaviour_trees", "plan_execution"):
        monkeypatch.delitem(sys.modules, f"nsrecover.integrations.{module}")
    with pytest.raises(InvalidConfiguration, match=r"nsrecover\[py_trees\]"):
        importlib.import_module("nsrecover.integrations.behaviour_trees")


class HalfBlind(Table):
    """A table whose camera does not see some objects for some observations after the first."""

    def __init__(self, hidden: str, observations: int) -> None:
        super().__init__()
        self.hidden, self.left = hidden, observations

    def observe(self) -> Any:
        if not self.done or self.left == 0:
            return self.scene
        self.left -= 1
        return self.scene.doubted([self.hidden])


def test_what_cannot_be_told_is_looked_at_again() -> None:
    table = HalfBlind("green", 2)
    execution = PlanExecution(geometric(), table, PLAN)
    tree, board = tree_of(execution), reader()
    verdicts = []
    for _ in range(20):
        tree.tick()
        verdicts.append(board.verdict)
        if tree.root.status is Status.SUCCESS:
            break
    assert table.done == list(map(str, PLAN))
    assert verdicts.count("cannot_tell") == 2
    assert board.reason == ""


def test_the_tree_fails_with_a_reason_before_it_uses_what_it_has_not_seen() -> None:
    table = HalfBlind("green", 100)
    execution = PlanExecution(geometric(), table, PLAN)
    tree, board = tree_of(execution), reader()
    assert run(tree) is Status.FAILURE
    assert table.done == ["top(green, red)"]
    assert board.reason == (
        "cannot tell: something is where the green should be, but the segmenter gives no mask of it"
    )
    assert board.missing == (board.reason.removeprefix("cannot tell: "),)
    assert not execution.complete


def test_the_tree_goes_on_while_what_it_has_not_seen_is_not_used() -> None:
    table = HalfBlind("grey", 100)
    plan = Plan.parse("right(grey, blue); top(green, red)")
    execution = PlanExecution(geometric(), table, plan)
    assert run(tree_of(execution)) is Status.FAILURE
    assert table.done == list(map(str, plan)), "it is not sure of the end"
    assert "the grey" in execution.reason

"""Behaviours for py_trees: a condition that the world is as expected, and a subtree that recovers the plan.

    from nsrecover.integrations.behaviour_trees import PlanExecution, follow_plan

    execution = PlanExecution(nsrecover.load(), my_world, plan)
    tree = py_trees.trees.BehaviourTree(follow_plan(execution))
    tree.setup()
    while tree.root.status is not py_trees.common.Status.SUCCESS:
        tree.tick()

docs/behaviour_trees.md shows the tree, and how its parts go into trees of your own.

Needs py_trees: `pip install 'nsrecover[py_trees]'`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy, Verdict
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import missing_texts
from nsrecover.integrations.plan_execution import PlanExecution
from nsrecover.util.extras import needs_extra

with needs_extra("py_trees", "py_trees"):
    from py_trees.behaviour import Behaviour
    from py_trees.common import Status
    from py_trees.composites import Selector, Sequence
    from py_trees.decorators import Decorator

__all__ = ["AsExpected", "FindWayBack", "PlanExecution", "follow_plan", "next_action", "recovery_subtree"]


class AsExpected(Behaviour):
    """Condition that the world is as expected: observes at every tick, FAILURE with culprits and causes if it is not.

    While it cannot tell it is RUNNING and looks again at the next tick, twice at most. FAILURE follows if the next
    action uses what is not seen, or if there is none; `PlanExecution.reason` then says what is missing.

    Args:
        execution: the execution of the plan.
        name: name of the behaviour.
    """

    def __init__(self, execution: PlanExecution, name: str = "as expected?") -> None:
        super().__init__(name)
        self._execution = execution

    def update(self) -> Status:
        """Observe and compare."""
        execution = self._execution
        found = execution.observe()
        if found.as_expected:
            self.feedback_message = f"as expected, {execution.step} steps done"
            return Status.SUCCESS
        if found.deviates:
            self.feedback_message = _summary(found, execution.system.domain)
            return Status.FAILURE
        self.feedback_message = f"cannot tell: {'; '.join(missing_texts(found))}"
        if execution.may_look_again:
            return Status.RUNNING
        execution.give_up(self.feedback_message)
        return Status.FAILURE


class _Act(Behaviour):
    """Carries out an action in the world, in one tick; the next observation decides whether it worked."""

    def __init__(self, execution: PlanExecution, action: Action) -> None:
        super().__init__(str(action))
        self._execution, self._action = execution, action

    def update(self) -> Status:
        self._execution.world.execute(self._action)
        return Status.SUCCESS


class _Attempt(Decorator):
    """Counts the next action of the plan as attempted when the behaviour that carries it out ends.

    SUCCESS even if that behaviour fails: the next observation decides whether the action worked.
    """

    def __init__(self, execution: PlanExecution, action: Action) -> None:
        super().__init__(
            f"attempt {action}", _Act(execution, action) if execution.act is None else execution.act(action)
        )
        self._execution = execution

    def update(self) -> Status:
        if self.decorated.status is Status.RUNNING:
            return Status.RUNNING
        self._execution.mark_attempted()
        failed = self.decorated.status is not Status.SUCCESS
        self.feedback_message = f"it says that it failed: {self.decorated.feedback_message}" if failed else ""
        return Status.SUCCESS


class FindWayBack(Behaviour):
    """Searches for the cheapest recovery in a separate thread, and is RUNNING meanwhile, for one tick at least.

    When the search ends, the world is observed again. SUCCESS if a recovery was found and the world has not changed
    since the search began; FAILURE if the world has changed, if there is no recovery, or if none was found in time
    (`PlanExecution.reason` says why). An interruption stops the search.

    Args:
        execution: the execution of the plan.
        name: name of the behaviour.
    """

    def __init__(self, execution: PlanExecution, name: str = "find the way back") -> None:
        super().__init__(name)
        self._execution = execution
        self._search: _Search | None = None
        execution.attach(self)

    def setup(self, **_: Any) -> None:
        """Begin a new episode."""
        self._execution.reset()

    def initialise(self) -> None:
        """Begin the search for the scene of the last observation."""
        self.feedback_message = ""
        wrong = self._execution.discrepancy
        wrong = self._execution.observe() if wrong is None else wrong
        if wrong.verdict is Verdict.CANNOT_TELL:
            self._search = None
            return
        may_search = self._execution.begin_search()
        self._search = _Search(self._execution, wrong) if wrong.deviates and may_search else None

    def update(self) -> Status:
        """Wait for the end of the search, then check that its result is still valid."""
        execution, search = self._execution, self._search
        if search is None:
            self.feedback_message = execution.reason or "nothing to recover from"
            return Status.FAILURE if execution.reason else Status.SUCCESS
        # The discrepancy stays visible for one tick.
        recovery = search.result() if self.status is Status.RUNNING else None
        if recovery is None:
            self.feedback_message = search.progress
            return Status.RUNNING
        now = execution.observe()
        if not execution.same_scene(search.scene, now.observed):
            self.feedback_message = "stale: the world has changed since the search began"
            return Status.FAILURE
        if not recovery.found:
            reason = reason_text(recovery)
            execution.give_up(reason)
            self.feedback_message = f"{recovery.status}: {reason}"
            return Status.FAILURE
        self.feedback_message = f"{recovery.status}: {len(recovery.actions)} actions"
        execution.rejoin(recovery)
        return Status.SUCCESS

    def terminate(self, new_status: Status) -> None:
        """Stop a running search."""
        if self._search is not None:
            self._search.cancel()
            self._search = None


class _Search:
    """A search for a recovery in a separate thread."""

    def __init__(self, execution: PlanExecution, wrong: Discrepancy) -> None:
        self.scene: SceneGraph = wrong.observed
        self.progress = "searching"
        self._cancelled = threading.Event()
        self._recovery = Future[Recovery]()
        self._thread = threading.Thread(target=self._run, args=(execution, wrong, execution.trace), daemon=True)
        self._thread.start()

    def _run(self, execution: PlanExecution, wrong: Discrepancy, trace: Trace) -> None:
        try:
            found = execution.system.planner.recover(
                self.scene,
                trace,
                wrong,
                budget_s=execution.budget_s,
                on_improvement=self._improved,
                cancelled=self._cancelled.is_set,
            )
        except BaseException as error:
            self._recovery.set_exception(error)
        else:
            self._recovery.set_result(found)

    def _improved(self, found: Recovery) -> None:
        self.progress = f"searching for less than {len(found.actions)} actions"

    def result(self) -> Recovery | None:
        """Return the recovery, or raise the error of the search; None while it runs."""
        return self._recovery.result() if self._recovery.done() else None

    def cancel(self) -> None:
        """Stop the search and wait for its end."""
        self._cancelled.set()
        self._thread.join()


class _DynamicSequence(Sequence):
    """A sequence that makes its children whenever it begins, and drops them when it is interrupted."""

    def __init__(self, name: str, execution: PlanExecution, make: Callable[[], Iterable[Behaviour]]) -> None:
        super().__init__(name, memory=True)
        self._make = make
        execution.attach(self)

    def initialise(self) -> None:
        """Make the children."""
        self.remove_all_children()
        self.add_children(list(self._make()))
        self.current_child = self.children[0] if self.children else None

    def terminate(self, new_status: Status) -> None:
        """Drop the children after an interruption."""
        if new_status is Status.INVALID:
            self.remove_all_children()


def recovery_subtree(execution: PlanExecution, name: str = "recover") -> Sequence:
    """Return a subtree that searches for a recovery, inserts its actions, and observes the result of each.

    SUCCESS means that the world was observed to be as expected after the last action; the execution then continues with
    the step of the plan that the recovery leads to, which may be an earlier or a later one. FAILURE means that there is
    no recovery (`execution.reason` says why), that the world changed during the search, or that an action did not work;
    tick the subtree again to search again.

    Args:
        execution: the execution of the plan.
        name: name of the subtree.
    """

    def way_back() -> Iterable[Behaviour]:
        actions = execution.inserted
        for action in actions:
            yield _Attempt(execution, action)
            yield AsExpected(execution, f"{action} worked?")
        if not actions:
            yield AsExpected(execution, "back on the plan?")

    return Sequence(
        name, memory=True, children=[FindWayBack(execution), _DynamicSequence("way back", execution, way_back)]
    )


def next_action(execution: PlanExecution, name: str = "next action") -> Sequence:
    """Return a subtree that carries out the next action of the plan; SUCCESS after the attempt, or if none is left.

    Args:
        execution: the execution of the plan.
        name: name of the subtree.
    """

    def following() -> Iterable[Behaviour]:
        if execution.next_action is not None:
            yield _Attempt(execution, execution.next_action)

    return _DynamicSequence(name, execution, following)


class _UntilComplete(Decorator):
    """Repeats its child, which does one step, until the plan is complete or the execution has given up."""

    def __init__(self, execution: PlanExecution, child: Behaviour, name: str) -> None:
        super().__init__(name, child)
        self._execution = execution
        execution.attach(self)

    def setup(self, **_: Any) -> None:
        """Begin a new episode."""
        self._execution.reset()

    def update(self) -> Status:
        """Return SUCCESS if the plan is complete, FAILURE if the execution has given up."""
        execution = self._execution
        if self.decorated.status is Status.FAILURE and execution.reason:
            self.feedback_message = execution.reason
            return Status.FAILURE
        self.feedback_message = (
            f"{execution.step} steps done, {len(execution.plan) - execution.num_executed} actions ahead"
        )
        complete = self.decorated.status is Status.SUCCESS and execution.complete
        return Status.SUCCESS if complete else Status.RUNNING


def follow_plan(execution: PlanExecution, name: str = "follow the plan") -> Behaviour:
    """Return a subtree that carries out the whole plan, and recovers whenever the world is not as expected.

    SUCCESS when the plan is done and the scene was observed to be as expected; FAILURE when there is no way to
    continue. If it is ticked again later, it restores a disturbed goal, and continues after outside help.

    Args:
        execution: the execution of the plan.
        name: name of the subtree.
    """
    check = Selector(
        "as expected, or recovered", memory=True, children=[AsExpected(execution), recovery_subtree(execution)]
    )
    step = Sequence("one step", memory=True, children=[check, next_action(execution)])
    return _UntilComplete(execution, step, name)


def _summary(found: Discrepancy, domain: Domain) -> str:
    """Return a summary: culprits with their cause codes, and preconditions that do not hold."""
    wrong = [f"{culprit.name}: {culprit.cause}" for culprit in found.deviations]
    return "; ".join([*wrong, *violated_texts(found, domain)])

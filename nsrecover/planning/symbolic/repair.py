"""Recovery of a plan of a grounded task: `repair`."""

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.planning.search import SearchResult, search
from nsrecover.planning.symbolic.strips import GroundAction, StripsTask, kernels
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel

LEAST_COST = 1e-6
"""Cost that the search gives to an action without cost, in units of the cheapest other action (at most 1). The shorter
of two plans with equal cost is then better."""


@dataclass(frozen=True, eq=False)
class Repair:
    """The way back to a symbolic plan.

    Attributes:
        status: how the search ended.
        actions: what to do to get back onto the plan; empty if nothing has to be done, or if there is no way.
        step: the step of the old plan to go on with (its length: the goal is reached); None if there is no way.
        plan: `actions` and the rest of the old plan.
        cost: what all of `plan` costs.
        lower_bound: no plan to the goal costs less, with actions without cost counted as `LEAST_COST`.
        proven_optimal: no way to the goal is cheaper, with actions without cost counted as `LEAST_COST`. Costs that
            differ by less than 1e-9 of the cheapest action are the same.
        expansions: nodes expanded.
        seconds: wall time.
        reason_code: why there is no way, or why the search stopped before the proof; None if neither applies.
        blamed: facts of the goal that can no longer be achieved, or not together; `not ...` for unwanted ones.
        conflicts: pairs of facts of the goal that exclude each other in every state that can be reached.
    """

    status: RecoveryStatus
    actions: tuple[GroundAction, ...] = ()
    step: int | None = None
    plan: tuple[GroundAction, ...] = ()
    cost: float = float("inf")
    lower_bound: float = 0.0
    proven_optimal: bool = False
    expansions: int = 0
    seconds: float = 0.0
    reason_code: ReasonCode | None = None
    blamed: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a way to go on."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)


def repair(
    task: StripsTask,
    plan: Sequence[GroundAction],
    *,
    budget_s: float | None = None,
    max_expansions: int | None = None,
    on_improvement: Callable[[Repair], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    shortcuts: bool = False,
) -> Repair:
    """The cheapest way from the task's initial state to the goal by way of any step of an old plan.

    Args:
        task: current state, actions and goal.
        plan: the old plan, over the facts of the task; its actions need not be possible any more.
        budget_s: wall time for the search, in seconds; None: no limit.
        max_expansions: nodes the search may expand; None: no limit.
        on_improvement: called with every better repair as it is found.
        cancelled: called during the search; if it returns True, the best repair so far is returned.
        shortcuts: look for a cheaper way even if the old plan can be continued as it is.

    Returns:
        The repair; its status says if there is none.

    Raises:
        InvalidPlan: the plan cannot lead to the goal from any state.
        InvalidConfiguration: a budget is negative.
    """
    began = time.perf_counter()
    subgoals = kernels(task.facts, task.goal, plan)
    # in units of the cheapest action, so that tie-breaking and rounding stay far below every difference
    unit = min([1.0, *(float(action.cost) for action in (*task.actions, *plan) if action.cost > 0)])
    costs, planned = ([max(float(a.cost) / unit, LEAST_COST) for a in actions] for actions in (task.actions, plan))
    rest = [*itertools.accumulate(reversed(planned), initial=0.0)][::-1]
    model = SymbolicModel(task, subgoals, rest, plan, costs, stopping(budget_s, cancelled, began))

    def finished(result: SearchResult[int, int]) -> Repair:
        return replace(_repair(task, plan, model, result, unit), seconds=time.perf_counter() - began)

    result = search(
        model,
        task.initial,
        rest,
        max_expansions=max_expansions,
        budget_s=what_is_left(budget_s, time.perf_counter() - began),
        on_improvement=None if on_improvement is None else lambda found: on_improvement(finished(found)),
        cancelled=cancelled,
        settle=not shortcuts,
    )
    return finished(result)


def what_is_left(budget_s: float | None, spent_s: float) -> float | None:
    """The rest of a time budget (s), at least 0; None (no limit) and negative budgets are returned as they are."""
    return budget_s if budget_s is None or budget_s < 0.0 else max(0.0, budget_s - spent_s)


def stopping(budget_s: float | None, cancelled: Callable[[], bool] | None, began: float) -> Callable[[], bool]:
    """Function that says whether a time budget (s) that began at some time (s) is used up, or cancelled."""

    def stop() -> bool:
        late = budget_s is not None and time.perf_counter() - began >= budget_s
        return late or (cancelled is not None and cancelled())

    return stop


def _repair(
    task: StripsTask, plan: Sequence[GroundAction], model: SymbolicModel, result: SearchResult[int, int], unit: float
) -> Repair:
    """The answer of the search in terms of actions; the search counts costs in `unit`."""
    if result.subgoal is None:
        code, blamed, conflicts = result.reason_code, tuple[str, ...](), tuple[tuple[str, str], ...]()
        if code is None:
            blamed = model.lost()
            if not blamed:
                conflicts = model.conflicts()
                blamed = tuple(dict.fromkeys(itertools.chain.from_iterable(conflicts)))
            code = (
                ReasonCode.CONFLICTING_GOALS if conflicts else
                ReasonCode.UNACHIEVABLE if blamed else ReasonCode.NO_SEQUENCE
            )  # fmt: skip
        return Repair(
            result.status,
            lower_bound=result.lower_bound * unit,
            expansions=result.expansions,
            reason_code=code,
            blamed=blamed,
            conflicts=conflicts,
        )
    actions = tuple(task.actions[a] for a in result.path)
    whole = (*actions, *plan[result.subgoal :])
    cost = sum(float(action.cost) for action in whole)
    return Repair(
        result.status,
        actions,
        result.subgoal,
        whole,
        cost,
        min(cost, result.lower_bound * unit),
        result.proven_optimal,
        result.expansions,
        reason_code=result.reason_code,
    )

"""Repair a plan of a `unified_planning` problem when the world is no longer as the plan expects.

    from nsrecover.bridges.unified_planning import repair

    result = repair(problem, plan, {on(a, b): False, on_table(a): True, clear(b): True}, after=3)
    print(result.status, result.actions, result.step, result.plan)

The problem may use everything that unified-planning's compilers reduce to STRIPS with negative preconditions:
conditional effects, quantifiers, disjunctions, object fluents, state invariants; action costs are respected. Numbers,
durations and anything else are refused by name. docs/symbolic.md describes the method and its speed.

Needs unified-planning: `pip install 'nsrecover[up]'`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsrecover.bridges.unified_planning.grounding import Grounded
from nsrecover.bridges.unified_planning.reduction import check_class
from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.errors import InvalidConfiguration, InvalidPlan, did_you_mean
from nsrecover.explanation.reasons import reason_text
from nsrecover.planning import symbolic
from nsrecover.util.extras import needs_extra

if TYPE_CHECKING:
    from unified_planning.model import FNode, Problem, State
    from unified_planning.plans import ActionInstance, SequentialPlan


@dataclass(frozen=True, eq=False)
class PlanRepair:
    """A repaired plan.

    Attributes:
        status: how the search ended.
        actions: actions that lead back onto the old plan; empty if none are needed, or if there is no repair.
        step: number of steps of the old plan that count as done after them; None if there is no repair.
        plan: `actions` and the rest of the old plan; None if there is no repair.
        cost: cost of `plan`; without a metric every action costs 1.
        lower_bound: lower bound of the cost of any plan to the goal.
        proven_optimal: whether `plan` is proven to be a cheapest way to the goal. Not examined if no action is needed,
            unless `shortcuts` are.
        expansions: number of expanded search nodes.
        seconds: wall time in total.
        grounding_s: wall time for grounding the problem, included in `seconds`.
        reason: why there is no repair, or why the search stopped early, in words.
        reason_code: the code of the reason; None if there is none.
        blamed: facts of the goal that cannot be achieved, or not together.
        conflicts: pairs of facts of the goal that exclude each other.
    """

    status: RecoveryStatus
    actions: tuple[ActionInstance, ...]
    step: int | None
    plan: SequentialPlan | None
    cost: float
    lower_bound: float
    proven_optimal: bool
    expansions: int
    seconds: float
    grounding_s: float
    reason: str
    reason_code: ReasonCode | None = None
    blamed: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a plan to the goal."""
        return self.plan is not None


def repair(
    problem: Problem,
    plan: SequentialPlan,
    state: State | Mapping[FNode, object],
    *,
    after: int = 0,
    budget_s: float | None = 10.0,
    max_expansions: int | None = None,
    on_improvement: Callable[[PlanRepair], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    shortcuts: bool = False,
) -> PlanRepair:
    """Find the cheapest way from the current state to the goal through any step of a plan.

    Args:
        problem: the problem of the plan.
        plan: the old plan; an empty one requests a new plan.
        state: the current state, or the fluents that differ from the expected state, with their values.
        after: for the latter, the number of executed steps, which defines the expected state.
        budget_s: wall time in seconds; None: no limit. Compiling and grounding count; only unified-planning's own
            compilers are not interrupted.
        max_expansions: largest number of expanded nodes; with it and no time budget the result is deterministic.
        on_improvement: called with every better repair.
        cancelled: called regularly; if it returns true, the search ends with the best repair so far.
        shortcuts: search for a cheaper way even if the rest of the old plan still works.

    Returns:
        The repair. If there is none, or if the budget is exhausted, the status says so. If the rest of the old plan
        still works, it is returned with status `already_at_subgoal`.

    Raises:
        InvalidConfiguration: unified-planning is missing, the problem cannot be reduced, a fluent does not belong to
            the problem, or a budget is negative.
        InvalidPlan: the plan does not belong to the problem, or cannot lead to its goal.
    """
    began = time.perf_counter()
    with needs_extra("up", "unified-planning"):
        from unified_planning.plans import SequentialPlan
    if not isinstance(plan, SequentialPlan):
        raise InvalidPlan(f"expected a SequentialPlan, found a {type(plan).__name__}; convert it, for example with "
                          "plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem)")  # fmt: skip
    check_class(problem)
    known = {action.name: action for action in problem.actions}
    for number, step in enumerate(plan.actions):
        if step.action.name not in known:
            raise InvalidPlan(
                f"expected actions of {problem.name!r}, found {step.action.name!r} as step {number}."
                f"{did_you_mean(step.action.name, known)}"
            )
    values = _values(problem, plan, state, after)
    try:
        grounded = Grounded(problem, plan, values, stop=symbolic.stopping(budget_s, cancelled, began))
    except symbolic.Interrupted:
        code = ReasonCode.CANCELLED if cancelled is not None and cancelled() else ReasonCode.TIME_BUDGET
        late, seconds = symbolic.Repair(RecoveryStatus.BUDGET_EXHAUSTED, reason_code=code), time.perf_counter() - began
        return PlanRepair(
            late.status, (), None, None, late.cost, 0.0, False, 0, seconds, seconds, reason_text(late), code
        )  # fmt: skip
    grounding_s = time.perf_counter() - began

    def finished(found: symbolic.Repair) -> PlanRepair:
        return plan_repair(grounded, found, time.perf_counter() - began, grounding_s)

    return finished(
        symbolic.repair(
            grounded.task,
            grounded.steps,
            budget_s=symbolic.what_is_left(budget_s, grounding_s),
            max_expansions=max_expansions,
            on_improvement=None if on_improvement is None else lambda found: on_improvement(finished(found)),
            cancelled=cancelled,
            shortcuts=shortcuts,
        )
    )


def plan_repair(grounded: Grounded, found: symbolic.Repair, seconds: float, grounding_s: float) -> PlanRepair:
    """Convert the result of a search to unified-planning's objects.

    Args:
        grounded: the grounded problem.
        found: the result of the search.
        seconds: wall time in total.
        grounding_s: wall time for grounding.
    """
    from unified_planning.plans import SequentialPlan

    old = grounded.plan
    step = None if found.step is None else min(found.step, len(old.actions))
    instances = [grounded.instance(action) for action in found.actions]
    actions = tuple(instance for instance in instances if instance is not None)
    whole = None if step is None else SequentialPlan([*actions, *grounded.rest(step)], old.environment)
    return PlanRepair(
        found.status, actions, step, whole, found.cost, found.lower_bound, found.proven_optimal, found.expansions,
        seconds, grounding_s, reason_text(found), found.reason_code, found.blamed, found.conflicts,
    )  # fmt: skip


def visited_states(problem: Problem, actions: Iterable[ActionInstance], advice: str) -> list[State]:
    """Return the states before, between and after actions from the initial state of a problem.

    Args:
        problem: the problem.
        actions: T actions.
        advice: what to do if the actions cannot be run; the end of the error's text.

    Returns:
        T + 1 states.

    Raises:
        InvalidPlan: an action cannot be run.
    """
    from unified_planning.engines import UPSequentialSimulator

    # it warns of undefined numbers, and refuses them by default; they matter for costs only
    undefined = "UNDEFINED_INITIAL_NUMERIC" in problem.kind.features
    with warnings.catch_warnings():
        if undefined:
            warnings.simplefilter("ignore", UserWarning)
        made = UPSequentialSimulator(problem, error_on_failed_checks=not undefined)
    with made as simulator:
        states = [simulator.get_initial_state()]
        for number, step in enumerate(actions):
            states.append(simulator.apply(states[-1], step))
            if states[-1] is None:
                raise InvalidPlan(
                    f"expected a plan that works from the initial state of {problem.name!r}, found that step {number}, "
                    f"{step}, cannot be run; {advice}"
                )
    return states


def _values(
    problem: Problem, plan: SequentialPlan, state: State | Mapping[FNode, object], after: int
) -> dict[FNode, FNode]:
    """Return the fluents that differ from the initial state, with their values."""
    from unified_planning.exceptions import UPException
    from unified_planning.model import State
    from unified_planning.model.fluent import get_all_fluent_exp

    if not 0 <= after <= len(plan.actions):
        raise InvalidPlan(f"expected 0 <= after <= {len(plan.actions)}, the plan's length, found {after}")
    changes = {}
    if not isinstance(state, State | Mapping):
        raise InvalidConfiguration(
            f"expected the state as a State or as fluent -> value, found {state!r:.60}; give {{}} if nothing differs"
        )
    if not isinstance(state, State):
        for key, value in state.items():
            try:
                fluent, given = problem.environment.expression_manager.auto_promote(key, value)
            except UPException as refusal:
                raise InvalidConfiguration(
                    f"expected a fluent of {problem.name!r} and its value, found {key!r}: {value!r} ({refusal}); give "
                    "the fluent itself with True, False or an object, such as problem.fluent('x')(): True"
                ) from refusal
            _check(problem, fluent, given)
            changes[fluent] = given
        if after == 0:
            return changes
        state = visited_states(problem, plan.actions[:after], f"pass the state itself instead of after={after}")[-1]
    fluents = (fluent for fluent in problem.fluents if fluent.type.is_bool_type() or fluent.type.is_user_type())
    known = (ground for fluent in fluents for ground in get_all_fluent_exp(problem, fluent))
    return {ground: state.get_value(ground) for ground in known} | changes


def _check(problem: Problem, fluent: FNode, value: FNode) -> None:
    """Check that a fluent and its value belong to the problem."""
    names = [known.name for known in problem.fluents]
    if not fluent.is_fluent_exp() or fluent.fluent().name not in names:
        name = fluent.fluent().name if fluent.is_fluent_exp() else str(fluent)
        raise InvalidConfiguration(f"expected a fluent of {problem.name!r}, found {fluent}.{did_you_mean(name, names)}")
    if not all(argument.is_object_exp() for argument in fluent.args):
        raise InvalidConfiguration(f"expected a fluent of objects, found {fluent}; name the objects")
    if not fluent.type.is_compatible(value.type):
        raise InvalidConfiguration(f"expected a value of type {fluent.type} for {fluent}, found {value}")

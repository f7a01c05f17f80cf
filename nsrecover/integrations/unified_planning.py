"""Repair a plan of a `unified_planning` problem when the world is no longer as the plan expects.

    from nsrecover.integrations.unified_planning import repair

    result = repair(problem, plan, {on(a, b): False, on_table(a): True, clear(b): True}, after=3)
    print(result.status, result.actions, result.step, result.plan)

The problem may use whatever unified-planning's compilers reduce to STRIPS with negative preconditions: conditional
effects, quantifiers, disjunctions, fluents with objects as values, state invariants; action costs are respected.
Numbers, durations and anything else are refused by name. docs/symbolic.md says how it works and how fast it is.

Needs unified-planning: `pip install 'nsrecover[up]'`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nsrecover.errors import InvalidConfiguration, InvalidPlan, did_you_mean
from nsrecover.integrations.up_reduction import lifted, reduced
from nsrecover.planning import symbolic
from nsrecover.planning.instantiate import LiftedTask, instantiate
from nsrecover.planning.strips import GroundAction, StripsTask
from nsrecover.structs import RecoveryStatus

if TYPE_CHECKING:
    from unified_planning.model import FNode, Problem, State
    from unified_planning.plans import ActionInstance, SequentialPlan


@dataclass(frozen=True, eq=False)
class PlanRepair:
    """The way back onto a plan.

    Attributes:
        status: how the search ended.
        actions: what to do to get back onto the plan; empty if nothing has to be done, or if there is no way.
        step: how many steps of the old plan count as done then; it is gone on with from there. None if there is no way.
        plan: `actions` and the rest of the old plan; None if there is no way.
        cost: what all of `plan` costs; actions without a metric cost 1 each.
        lower_bound: no plan to the goal costs less.
        proven_optimal: `plan` is one of the cheapest ways to the goal. Not searched for where nothing has to be done,
            unless `shortcuts` are.
        expansions: search nodes expanded.
        seconds: wall time, all in all.
        grounding_s: the part of it that it took to ground the problem.
        reason: in words, why there is no way or why the search stopped early.
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

    @property
    def found(self) -> bool:
        """Whether there is a way to go on."""
        return self.plan is not None


def repair(
    problem: Problem,
    plan: SequentialPlan,
    state: State | Mapping[Any, Any],
    *,
    after: int = 0,
    budget_s: float | None = 10.0,
    max_expansions: int | None = None,
    on_improvement: Callable[[PlanRepair], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    shortcuts: bool = False,
) -> PlanRepair:
    """Find the cheapest way from where the world is to the goal by way of any step of a plan.

    Args:
        problem: what the plan was made for.
        plan: the old plan; an empty one asks for a plan from nothing.
        state: where the world is: a state, or the fluents that are not as they should be, with their values.
        after: for the latter, how many steps of the plan have been done: other fluents are as they are to be then.
        budget_s: wall time, in seconds; None: no limit. Grounding is counted, but not cut short.
        max_expansions: nodes the search may expand; with this and no time budget the outcome is deterministic.
        on_improvement: called with every better repair as it is found.
        cancelled: asked now and then; if it says true, the best so far is returned.
        shortcuts: look for a cheaper way even where the old plan can be gone on with as it is.

    Returns:
        The repair. That there is none, or that the budget was used up, is an answer and not an exception. A plan that
        can be gone on with as it is comes back as it is, with status `already_at_subgoal`.

    Raises:
        InvalidConfiguration: unified-planning is missing, the problem is not one that can be repaired, a fluent is not
            one of the problem's, or a budget is negative.
        InvalidPlan: the plan is not one for the problem, or cannot lead to its goal.
    """
    began = time.perf_counter()
    try:
        from unified_planning.plans import SequentialPlan
    except ImportError as missing:
        raise InvalidConfiguration(
            "expected unified-planning, found that it is not installed; run `pip install 'nsrecover[up]'`"
        ) from missing
    if not isinstance(plan, SequentialPlan):
        raise InvalidPlan(f"expected a SequentialPlan, found a {type(plan).__name__}; convert it, for example with "
                          "plan.convert_to(PlanKind.SEQUENTIAL_PLAN, problem)")  # fmt: skip
    known = {action.name: action for action in problem.actions}
    for number, step in enumerate(plan.actions):
        if step.action.name not in known:
            raise InvalidPlan(
                f"expected actions of {problem.name!r}, found {step.action.name!r} as step {number}."
                f"{did_you_mean(step.action.name, known)}"
            )
    grounded = _Grounded(problem, plan, _values(problem, plan, state, after))
    grounding_s = time.perf_counter() - began

    def finished(found: symbolic.Repair) -> PlanRepair:
        return grounded.told(found, time.perf_counter() - began, grounding_s)

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


def to_strips(problem: Problem) -> StripsTask:
    """Ground a problem, from its initial state.

    Raises:
        InvalidConfiguration: unified-planning cannot reduce it to STRIPS with negative preconditions.
    """
    reduction = reduced(problem)
    task, _ = instantiate(lifted(reduction, reduction.problem.explicit_initial_values))
    return task


class _Grounded:
    """A problem and a plan, grounded from a state, and the way back to unified-planning's terms.

    Args:
        problem: the problem.
        plan: the old plan.
        values: fluents that are not as they are at the start, with their values.
    """

    def __init__(self, problem: Problem, plan: SequentialPlan, values: Mapping[FNode, FNode]) -> None:
        self.plan = plan
        self.reduction = reduced(problem)
        compiled = self.reduction.problem
        start = dict(compiled.explicit_initial_values)
        if compiled is problem:
            now = start | dict(values)
        else:
            changed = problem.clone()
            for fluent, value in values.items():
                changed.set_initial_value(fluent, value)
            now = dict(reduced(changed).problem.explicit_initial_values)
        self.problem = compiled
        lift = lifted(self.reduction, now)
        variants: dict[str | None, list[str]] = {}
        for name, original in self.reduction.original.items():
            variants.setdefault(original, []).append(name)
        number = {name: i for i, name in enumerate(lift.objects)}
        choices = [
            [(name, tuple(number[argument.object().name] for argument in step.actual_parameters))
             for name in variants.get(step.action.name, [])]
            for step in plan.actions
        ]  # fmt: skip
        # what only the compilers know of may have to close the plan, one action at most
        choices.append([(name, ()) for name in variants.get(None, [])])
        self.task, actions = instantiate(lift, list(itertools.chain.from_iterable(choices)))
        iterator = iter(actions)
        grouped = [[next(iterator) for _ in choice] for choice in choices]
        if not plan.actions or (all(len(group) == 1 for group in grouped[:-1]) and not grouped[-1]):
            self.steps = [group[0] for group in grouped[:-1]]
        else:
            self.steps = self._followed(grouped, lifted(self.reduction, start))

    def _followed(self, grouped: Sequence[Sequence[GroundAction]], start: LiftedTask) -> list[GroundAction]:
        """The variants of the plan's steps that are run from the problem's initial state."""
        names = {
            f"{atom.predicate}({', '.join(start.objects[~term] for term in atom.terms)})" if atom.terms
            else atom.predicate for atom in start.initial
        }  # fmt: skip
        state = sum(1 << fact for fact, text in enumerate(self.task.facts) if text in names)
        steps = []
        for number, group in enumerate(grouped):
            last = number == len(grouped) - 1
            if last and self.task.goal.holds(state):
                break
            fitting = [action for action in group if action.precondition.holds(state)]
            if last:
                fitting = [action for action in fitting if self.task.goal.holds(action.apply(state))]
            if not fitting:
                step = "the goal" if last else f"step {number}, {self.plan.actions[number]},"
                raise InvalidPlan(
                    f"expected a plan that works from the initial state of {self.problem.name!r}, found that {step} "
                    "does not hold or cannot be run; pass the whole plan that was made for this problem"
                )
            steps.append(fitting[0])
            state = fitting[0].apply(state)
        return steps

    def told(self, found: symbolic.Repair, seconds: float, grounding_s: float) -> PlanRepair:
        """A repair in unified-planning's terms."""
        from unified_planning.plans import SequentialPlan

        step = None if found.step is None else min(found.step, len(self.plan.actions))
        instances = [self._instance(action) for action in found.actions]
        actions = tuple(instance for instance in instances if instance is not None)
        whole = None
        if step is not None:
            whole = SequentialPlan([*actions, *self.plan.actions[step:]], self.plan.environment)
        return PlanRepair(
            found.status,
            actions,
            step,
            whole,
            found.cost,
            found.lower_bound,
            found.proven_optimal,
            found.expansions,
            seconds,
            grounding_s,
            found.reason,
        )

    def _instance(self, action: GroundAction) -> ActionInstance | None:
        from unified_planning.plans import ActionInstance

        manager = self.problem.environment.expression_manager
        objects = tuple(manager.ObjectExp(self.problem.object(name)) for name in action.arguments)
        return self.reduction.back(ActionInstance(self.problem.action(action.name), objects))


def _values(problem: Problem, plan: SequentialPlan, state: State | Mapping[Any, Any], after: int) -> dict[FNode, FNode]:
    """Fluents that are not as they are at the start, with their values."""
    from unified_planning.model import State
    from unified_planning.shortcuts import SequentialSimulator

    if not 0 <= after <= len(plan.actions):
        raise InvalidPlan(f"expected 0 <= after <= {len(plan.actions)}, the plan's length, found {after}")
    if isinstance(state, State):
        return _all_values(problem, state)
    changes = {}
    for key, value in state.items():
        fluent, given = problem.environment.expression_manager.auto_promote(key, value)
        _check(problem, fluent, given)
        changes[fluent] = given
    if after == 0:
        return changes
    with SequentialSimulator(problem) as simulator:
        reached = simulator.get_initial_state()
        for number, step in enumerate(plan.actions[:after]):
            following = simulator.apply(reached, step)
            if following is None:
                raise InvalidPlan(
                    f"expected a plan that works from the initial state of {problem.name!r}, found that step {number}, "
                    f"{step}, cannot be run; pass the state itself instead of after={after}"
                )
            reached = following
    return _all_values(problem, reached) | changes


def _all_values(problem: Problem, state: State) -> dict[FNode, FNode]:
    """The values of all Boolean and object fluents in a state."""
    from unified_planning.model.fluent import get_all_fluent_exp

    return {
        ground: state.get_value(ground)
        for fluent in problem.fluents
        if fluent.type.is_bool_type() or fluent.type.is_user_type()
        for ground in get_all_fluent_exp(problem, fluent)
    }


def _check(problem: Problem, fluent: FNode, value: FNode) -> None:
    """Refuse what is not a fluent of the problem, or not a value of it."""
    names = [known.name for known in problem.fluents]
    if not fluent.is_fluent_exp() or fluent.fluent().name not in names:
        name = fluent.fluent().name if fluent.is_fluent_exp() else str(fluent)
        raise InvalidConfiguration(f"expected a fluent of {problem.name!r}, found {fluent}.{did_you_mean(name, names)}")
    if not all(argument.is_object_exp() for argument in fluent.args):
        raise InvalidConfiguration(f"expected a fluent of objects, found {fluent}; name the objects")
    if not fluent.type.is_compatible(value.type):
        raise InvalidConfiguration(f"expected a value of type {fluent.type} for {fluent}, found {value}")

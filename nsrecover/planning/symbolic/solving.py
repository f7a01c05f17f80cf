"""`solve`: the recovery search from a state of a domain to a goal, by way of the steps of a plan."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from nsrecover.core.actions import Action
from nsrecover.core.recovery import Improvement, ReasonCode, RecoveryStatus
from nsrecover.domains.base import Formula, State
from nsrecover.domains.costs import cost_of
from nsrecover.domains.instance import Instance
from nsrecover.planning.search import SearchResult, search
from nsrecover.planning.symbolic.grounding import Grounding, Interrupted, ground
from nsrecover.planning.symbolic.joining import Choices, Theory
from nsrecover.planning.symbolic.simulated import SimulatedModel
from nsrecover.planning.symbolic.strips import GroundAction, kernels, usable_from
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel

EXPANSIONS = 1500
"""States that a search without a time budget expands at most."""

UNFAMILIAR = 0.01
"""Extra cost of an action for each object that is not preferred; among equally long plans familiar objects win."""

FIRST, FIRST_EXPANSIONS = 0.3, 300
"""Share of the time for a first search with few objects, and the states that it expands at most."""

MODEL = 0.6
"""Time that is needed after grounding before a search can begin, in units of the time of grounding."""

LEAST_COST = 1e-3
"""Cost of an action that is free."""


@dataclass(frozen=True)
class Solution:
    """What `solve` found.

    Attributes:
        status: `recovered`, `already_at_subgoal` (the goal holds), `impossible` or `budget_exhausted`.
        steps: the plan; empty if there is none.
        cost: what it costs.
        proven_optimal: there is no cheaper plan with the given objects.
        expansions: states expanded.
        improvements: every plan that the search found, each cheaper than the one before.
        lower_bound: no plan with the given objects costs less; `UNFAMILIAR` objects may make a difference of less
            than the cheapest action.
        reason_code: why the search stopped before the proof; None if it did not.
    """

    status: RecoveryStatus
    steps: tuple[Action, ...] = ()
    cost: float = 0.0
    proven_optimal: bool = False
    expansions: int = 0
    improvements: tuple[Improvement, ...] = ()
    lower_bound: float = 0.0
    reason_code: ReasonCode | None = None

    @property
    def found(self) -> bool:
        """Whether there is a plan."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)

    def or_cheaper(self, other: Solution) -> Solution:
        """The cheaper one of this solution and another with fewer objects, with what this one says of all plans."""
        if not other.found or (self.found and self.cost <= other.cost):
            return self
        return replace(
            self,
            status=other.status,
            steps=other.steps,
            cost=other.cost,
            improvements=(*other.improvements, *(each for each in self.improvements if each.cost < other.cost)),
        )


@dataclass(frozen=True)
class Limits:
    """Limits of a search.

    Attributes:
        max_expansions: states that it expands at most; with that alone the outcome is deterministic. None: no limit.
        cancelled: called now and then; if it returns true, the search ends.
        until: time at which it ends, seconds of `time.perf_counter`; None: no limit.
        share: of the time that is left after grounding, as long as no plan is found; the rest is for another search.
    """

    max_expansions: int | None = EXPANSIONS
    cancelled: Callable[[], bool] | None = None
    until: float | None = None
    share: float = 1.0

    @property
    def budget_s(self) -> float | None:
        """The time that is left, seconds."""
        return None if self.until is None else max(0.0, self.until - time.perf_counter())

    def over(self) -> bool:
        """Whether the search has to end."""
        late = self.until is not None and time.perf_counter() >= self.until
        return late or (self.cancelled is not None and self.cancelled())

    def of_first(self) -> Limits:
        """Limits of a first search with few objects: a part of the time and of the states."""
        until = None if self.until is None else time.perf_counter() + FIRST * (self.budget_s or 0.0)
        return Limits(FIRST_EXPANSIONS, self.cancelled, until)

    def first_by(self, grounding_s: float) -> float:
        """Time by which a plan has to be found; inf if the time that is left then is too short to ground once more."""
        left = math.inf if self.budget_s is None else self.budget_s
        spent = self.share * left
        return math.inf if left - spent < grounding_s or self.share == 1.0 else time.perf_counter() + spent


def solve(
    instance: Instance,
    state: State,
    goal: Sequence[Formula],
    *,
    familiar: Collection[str] = (),
    prefer: Sequence[Action] = (),
    forbidden: Collection[Action] = (),
    objects: Collection[str] | None = None,
    limits: Limits = Limits(),
) -> Solution:
    """A cheap plan from a state to a goal, by the common search.

    Args:
        instance: the domain over the objects of a scene.
        state: where to start.
        goal: formulas without free variables, all of which have to hold in the end.
        familiar: objects that are used rather than others, and as unusual choices of an argument.
        prefer: a plan whose objects and order are preferred among plans that are equally long.
        forbidden: steps that may not be used.
        objects: the objects that may be used; all if None.
        limits: of the search.
    """
    began, ranked = time.perf_counter(), dict[str, int]()
    for name in (*(name for step in prefer for name in step.arguments), *familiar):
        ranked.setdefault(name, len(ranked))
    if all(instance.holds(state, part) for part in goal):
        return Solution(RecoveryStatus.ALREADY_AT_SUBGOAL, proven_optimal=True)
    plan = () if instance.domain.laws else _allowed(instance, prefer, forbidden)
    choices, cancelled = Choices(objects, frozenset(forbidden), ranked), limits.cancelled
    try:
        grounding = ground(Theory.of(instance), state, goal, plan, choices, limits.over)
        if limits.budget_s is not None and limits.budget_s < MODEL * (time.perf_counter() - began):
            raise Interrupted
    except Interrupted:
        code = ReasonCode.CANCELLED if cancelled is not None and cancelled() else ReasonCode.TIME_BUDGET
        return Solution(RecoveryStatus.BUDGET_EXHAUSTED, reason_code=code)
    first_by = limits.first_by(time.perf_counter() - began)
    # in units of the cheapest action, so that tie-breaking and rounding stay far below every difference
    unit = min([1.0, *(action.cost for action in grounding.task.actions if action.cost > 0.0)])

    def counted(action: GroundAction) -> float:
        odd = sum(name not in ranked for name in action.arguments)
        return max(action.cost / unit, LEAST_COST) + UNFAMILIAR * odd

    wished = [GroundAction(step.operator, step.arguments, (), (), (), ()) for step in prefer]
    model: SymbolicModel
    if grounding.exact:
        model, rest, unusable = _exact_model(grounding, counted, wished, limits.over)
        plan, start = plan[unusable:] if grounding.steps else (), grounding.task.initial
    else:
        costs = list(map(counted, grounding.task.actions))
        model, rest, plan, start = SimulatedModel(instance, grounding, state, goal, wished, costs), [0.0], (), 0
    model.settling, improvements = 0, list[Improvement]()

    def steps_of(found: SearchResult[int, int]) -> tuple[Action, ...]:
        taken = (model.actions[a] for a in found.path)
        return (*(Action(each.name, each.arguments) for each in taken), *plan[found.subgoal :])

    def improved(found: SearchResult[int, int]) -> None:
        cost = sum(cost_of(step, instance.domain) for step in steps_of(found))
        if not improvements or cost < improvements[-1].cost:
            improvements.append(Improvement(found.seconds, found.expansions, cost))

    result = search(
        model, start, rest, max_expansions=limits.max_expansions, budget_s=limits.budget_s, on_improvement=improved,
        cancelled=lambda: limits.over() or (not improvements and time.perf_counter() >= first_by), settle=False,
    )  # fmt: skip
    steps = steps_of(result) if result.subgoal is not None else ()
    return Solution(
        RecoveryStatus.RECOVERED if result.subgoal is not None else result.status,
        steps,
        sum(cost_of(step, instance.domain) for step in steps),
        result.proven_optimal,
        result.expansions,
        tuple(improvements),
        result.lower_bound * unit,
        result.reason_code,
    )


def _exact_model(
    grounding: Grounding, cost: Callable[[GroundAction], float], wished: list[GroundAction], over: Callable[[], bool]
) -> tuple[SymbolicModel, list[float], int]:
    """The model of a task that the kernels describe, the costs of the rest of the plan, and its first usable step."""
    task, unusable = grounding.task, usable_from(grounding.task.goal, grounding.steps)
    planned = grounding.steps[unusable:]
    rest = [*itertools.accumulate(map(cost, reversed(planned)), initial=0.0)][::-1]
    goals = kernels(task.facts, task.goal, planned)
    return SymbolicModel(task, goals, rest, wished, list(map(cost, task.actions)), over), rest, unusable


def _allowed(instance: Instance, plan: Sequence[Action], forbidden: Collection[Action]) -> tuple[Action, ...]:
    """The end of a plan all of whose steps the domain knows and may be used."""
    kept = list[Action]()
    for step in reversed(plan):
        operator = instance.domain.operators.get(step.operator)
        if operator is None or len(operator.parameters) != len(step.arguments) or step in forbidden:
            break
        kept.append(step)
    return tuple(reversed(kept))

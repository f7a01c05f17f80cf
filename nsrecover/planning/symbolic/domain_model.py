"""The recovery search over a domain: its world model, and `solve`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.recovery import Improvement, RecoveryStatus
from nsrecover.core.scene import FloatArray
from nsrecover.domains.base import Formula, State
from nsrecover.domains.costs import cost_of
from nsrecover.domains.instance import Instance
from nsrecover.planning.search import SearchResult, search
from nsrecover.planning.symbolic.landmark_cut import LandmarkCut
from nsrecover.planning.symbolic.relaxation import Propositions, Relaxation
from nsrecover.planning.symbolic.relaxed_domain import Cancelled, RelaxedDomain
from nsrecover.planning.symbolic.strips import GroundAction

EXPANSIONS = 1500
"""States that a search expands at most."""

UNFAMILIAR = 0.01
"""Extra cost of an action for each object that is not preferred; among equally long plans familiar objects win."""

LEAST_COST = 1e-3
"""Cost of an action that is free."""

_INFERENCE = 1e-5  # cost of an inference in the estimate; it keeps inferences from supporting each other
_AT_ONCE = 0.5  # an action that needs less than this can be run at once


class DomainModel:
    """`LazyModel` over an instance of a domain, with one subgoal.

    A state is the set of facts that hold, as the instance has it, laws and derived predicates included. The estimate is
    the cost of a relaxed plan, plus the cost of restoring the parts of the goal that this plan destroys (Hoffmann &
    Nebel, "The FF planning system", 2001); the tight bound is LM-cut (Helmert & Domshlak 2009).

    Args:
        instance: the domain over the objects of a scene.
        start: the state from which the search starts.
        goal: what has to hold in the end.
        objects: the objects to plan with.
        familiar: objects that are used rather than others, and as unusual choices of an argument.
        prefer: steps whose objects and order are preferred.
        forbidden: steps that may not be used.
        cancelled: called while actions are listed; if it returns true, `Cancelled` is raised.
    """

    cheapest = 1.0

    def __init__(
        self,
        instance: Instance,
        start: State,
        goal: Sequence[Formula],
        objects: Collection[str],
        familiar: Collection[str] = (),
        prefer: Sequence[Action] = (),
        forbidden: Collection[Action] = (),
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._instance, self._goal = instance, tuple(goal)
        names = dict.fromkeys((*(name for step in prefer for name in step.arguments), *familiar))
        ranked = {name: rank for rank, name in enumerate(names)}
        self._relaxed = relaxed = RelaxedDomain(instance, start, objects, goal, forbidden, ranked, cancelled)
        self.steps = relaxed.actions
        costs = [max(cost_of(step, instance.domain), LEAST_COST) for step in self.steps]
        odd = [sum(name not in ranked for name in step.arguments) for step in self.steps]
        self._costs = [cost + UNFAMILIAR * count for cost, count in zip(costs, odd, strict=True)]
        self.cheapest = min(self._costs, default=1.0)
        inferences = len(relaxed.rules) - len(self.steps)
        estimated = [*self._costs, *[_INFERENCE] * inferences]
        grounded = [
            GroundAction("", (), needs, (), achieves, destroys, cost)
            for (needs, achieves, destroys), cost in zip(relaxed.rules, estimated, strict=True)
        ]
        self._size = len(relaxed.propositions)
        self._relaxation = Relaxation(Propositions(self._size, (), ()), grounded, estimated)
        self._cut = LandmarkCut(
            self._size,
            self._relaxation.before,
            self._relaxation.achieved,
            [*self._costs, *[0.0] * inferences],
            relaxed.goal or (),
        )
        first = {step: i for i, step in reversed(list(enumerate(prefer)))}
        self._rank = [first.get(step, len(prefer)) for step in self.steps]
        self._recommended: dict[State, tuple[int, ...]] = {}
        self._count_always(start)

    def _count_always(self, start: State) -> None:
        """Count derived literals of the start that no inference confirms as always true."""
        value, _ = self._relaxation.additive(self._holding(start))
        self._relaxed.always = tuple(
            number
            for fact, positive, number in self._relaxed.literals(derived=True)
            if value[number] >= _AT_ONCE and self._instance.atom(start, fact) is positive
        )

    def _holding(self, state: State) -> npt.NDArray[np.bool_]:
        holds = np.zeros(self._size, dtype=np.bool_)
        holds[self._relaxed.holding(state)] = True
        return holds

    def applicable(self, state: State) -> Sequence[int]:
        """The relaxed plan's actions that can be run, those of the preferred plan first; none before `estimate`."""
        return self._recommended.get(state, ())

    def detours(self, state: State) -> Sequence[int]:
        """Every other action that can be run."""
        known = self._recommended.get(state, ())
        return [a for a in range(len(self.steps)) if a not in known and self._can_run(state, a)]

    def _can_run(self, state: State, action: int) -> bool:
        step = self.steps[action]
        return self._instance.applicable(state, step.operator, step.arguments)

    def successors(self, state: State, steps: Sequence[int]) -> list[State]:
        """The states after each of some actions."""
        return [self._instance.apply(state, self.steps[a].operator, self.steps[a].arguments) for a in steps]

    def discrepancy(self, states: Sequence[State]) -> tuple[FloatArray, FloatArray]:
        """Conditions of the goal that do not hold, and the bound that follows from them, (B, 1) each."""
        missing = [[sum(not self._instance.holds(state, part) for part in self._goal)] for state in states]
        count = np.array(missing, dtype=np.float32).reshape(len(states), 1)
        return count, np.minimum(count, 1.0) * np.float32(self.cheapest)

    def estimate(self, state: State) -> npt.NDArray[np.float64]:
        """Cost of a relaxed plan, (1,); recommends the actions of it that can be run."""
        relaxed, goal = self._relaxation, self._relaxed.goal
        if goal is None:
            return np.array([np.inf])
        holds = self._holding(state)
        value, need = relaxed.additive(holds)
        if np.isinf(value[goal]).any():
            return np.array([np.inf])
        plan = relaxed.plan(goal, value, need)
        ready = [a for a in plan.actions if a < len(self.steps) and need[a] < _AT_ONCE and self._can_run(state, a)]
        self._recommended[state] = tuple(sorted(ready, key=lambda a: (self._rank[a], a)))
        return np.array([plan.cost + len(relaxed.destroyed(plan, goal, holds)) * self.cheapest])

    def tighten(self, state: State, stop: Callable[[], bool], enough: float = np.inf) -> npt.NDArray[np.float64]:
        """LM-cut, (1,)."""
        if self._relaxed.goal is None:
            return np.array([np.inf])
        holds = np.flatnonzero(self._holding(state)).tolist()
        return np.array([sum(least for least, _ in self._cut(holds, stop=stop, enough=enough))])

    def bound_after(self, state: State, step: int) -> npt.NDArray[np.float64]:
        """Nothing more than the bound before the step says, (1,)."""
        return np.zeros(1)

    settling = 0
    """Nothing is announced."""

    def solvable(self) -> bool:
        """Nothing is proven."""
        return True

    def use_symmetries(self) -> bool:
        """False: none are looked for."""
        return False

    def sufficient(self, state: State, steps: Sequence[int]) -> Sequence[int]:
        """All steps."""
        return steps

    def cost(self, step: int) -> float:
        """Cost of an action."""
        return self._costs[step]

    def key(self, state: State) -> State:
        """The state."""
        return state


@dataclass(frozen=True)
class Solution:
    """What `solve` found.

    Attributes:
        status: `recovered`, `already_at_subgoal` (the goal holds), `impossible` or `budget_exhausted`.
        steps: the plan; empty if there is none.
        proven_optimal: there is no cheaper plan with the given objects.
        expansions: states expanded.
        improvements: every plan that the search found, each cheaper than the one before.
    """

    status: RecoveryStatus
    steps: tuple[Action, ...]
    proven_optimal: bool
    expansions: int
    improvements: tuple[Improvement, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a plan."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)


@dataclass(frozen=True)
class Limits:
    """Limits of a search.

    Attributes:
        max_expansions: states that it expands at most; with that the outcome is deterministic.
        cancelled: called now and then; if it returns true, the search ends.
    """

    max_expansions: int = EXPANSIONS
    cancelled: Callable[[], bool] | None = None


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
    usable = instance.objects if objects is None else objects
    try:
        model = DomainModel(instance, state, goal, usable, familiar, prefer, forbidden, limits.cancelled)
    except Cancelled:
        return Solution(RecoveryStatus.BUDGET_EXHAUSTED, (), False, 0)
    improvements: list[Improvement] = []

    def improved(found: SearchResult[State, int]) -> None:
        cost = sum(cost_of(model.steps[a], instance.domain) for a in found.path)
        if not improvements or cost < improvements[-1].cost:
            improvements.append(Improvement(found.seconds, found.expansions, cost))

    most, cancelled = limits.max_expansions, limits.cancelled
    result = search(model, state, [0.0], max_expansions=most, on_improvement=improved, cancelled=cancelled)
    steps = tuple(model.steps[a] for a in result.path)
    return Solution(result.status, steps, result.proven_optimal, result.expansions, tuple(improvements))

"""The search tree of the recovery search: nodes, open list and incumbent."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from nsrecover.core.protocols import WorldModel
from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration

State = TypeVar("State")
Step = TypeVar("Step")
IndexArray = npt.NDArray[np.intp]
CostArray = npt.NDArray[np.float64]

ROUNDING = 1e-9
"""Costs that differ by less are equal; all additions that break ties together are smaller."""

REJOIN_EARLY = 1e-12
"""Share by which a recovery step counts more than a step of the plan: of two ways that cost the same, the one that
rejoins the plan earlier is preferred, and the search need not expand all others of that cost."""


GREEDY_WEIGHT = 5.0
"""Weight of the bound before the last phase: large, so that the search goes deep first."""

PHASE_EXPANSIONS = 32
"""Expansions of the first phase; doubled in every phase."""

EVERY = slice(None)
"""All subgoals."""


class SearchPhase(NamedTuple):
    """A part of the search.

    Attributes:
        active: subgoals to consider.
        weight: of the bound.
        spend: nodes to expand; None: until the open list is empty.
        until_better: whether a new incumbent ends the phase.
    """

    active: IndexArray | slice
    weight: float
    spend: int | None = None
    until_better: bool = False


@runtime_checkable
class TighterModel(WorldModel[State, Step], Protocol[State, Step]):
    """A world model with a better bound, which is slower: the search asks only where it decides."""

    def least_cost(self, state: State, subgoal: int) -> float:
        """A lower bound on the cost to one subgoal, not less than that of `discrepancy`; inf where there is no way."""


@dataclass(frozen=True, eq=False)
class SearchResult(Generic[State, Step]):
    """What the search found.

    Attributes:
        status: `recovered`, `already_at_subgoal`, `impossible` (the space is exhausted) or `budget_exhausted` (nothing
            was found before the budget ended or the search was cancelled).
        path: the steps from the start to the subgoal.
        states: the state after each of them.
        subgoal: number of the subgoal reached; None if none was.
        cost: cost of `path` plus the cost-to-go of the subgoal.
        lower_bound: no way to any of the subgoals costs less than this.
        proven_optimal: no way to any of the given subgoals is cheaper by more than `ROUNDING` in the model.
        expansions: nodes expanded.
        seconds: wall time.
        reason_code: why the search stopped before it was complete; None if it was completed, or goes on.
    """

    status: RecoveryStatus
    path: tuple[Step, ...] = ()
    states: tuple[State, ...] = ()
    subgoal: int | None = None
    cost: float = float("inf")
    lower_bound: float = 0.0
    proven_optimal: bool = False
    expansions: int = 0
    seconds: float = 0.0
    reason_code: ReasonCode | None = None


@dataclass(eq=False)
class Node(Generic[State, Step]):
    """A state: how the search reached it, what that cost, and its distances to all subgoals.

    Attributes:
        state: the state.
        parent: the node before it; None for the start.
        step: the step from there.
        cost: of all steps from the start.
        discrepancy: (K,) distance to each subgoal, which orders nodes of equal cost.
        bound: (K,) lower bound on the cost to each subgoal.
        plain: (K,) the bound of `discrepancy`, which no detour lowers.
        estimate: (K,) estimated cost to each subgoal, of its own state or, until it is `estimated`, of its parent's;
            only `LazySearchTree` has estimates.
        estimated: whether the estimate is of its own state.
        tight: whether its bound has been tightened, for a `LazySearchTree`.
        tightened: subgoals for which the model was asked for a tighter bound.
        detoured: its applicable steps were tried; its detours are left.
        outdated: a cheaper way to its state was found.
        least: `value` for all subgoals, if it is known.
    """

    state: State
    parent: Node[State, Step] | None
    step: Step | None
    cost: float
    discrepancy: FloatArray
    bound: CostArray
    plain: CostArray
    estimate: CostArray | None = None
    estimated: bool = False
    tight: bool = False
    tightened: set[int] = field(default_factory=set)
    detoured: bool = False
    outdated: bool = False
    least: float | None = None


class SearchTree(Generic[State, Step]):
    """The nodes of one search: the frontier (the open list), parked nodes and the incumbent.

    Args:
        model: steps between states, and the distances of states to the subgoals.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal.
        on_improvement: called with every new incumbent.
        interrupted: returns why the search has to stop, or None; may be called while a bound is computed.

    Raises:
        InvalidConfiguration: the number of costs-to-go is not that of the subgoals.
    """

    factor = 1.0 + REJOIN_EARLY
    """Weight of a recovery step, in units of a step of the plan."""

    def __init__(
        self,
        model: WorldModel[State, Step],
        start: State,
        costs_to_go: Sequence[float],
        on_improvement: Callable[[SearchResult[State, Step]], None] | None,
        interrupted: Callable[[], ReasonCode | None],
    ) -> None:
        self.model = model
        self.tighter = model.least_cost if isinstance(model, TighterModel) else None
        self.to_go = np.asarray(costs_to_go, dtype=np.float64)
        self.on_improvement = on_improvement
        self.interrupted = interrupted
        self.began = time.perf_counter()
        self.expansions = 0
        self.count = 0
        self.incumbent: tuple[Node[State, Step], int] | None = None
        self.incumbent_value = float("inf")  # in the scaled objective, see REJOIN_EARLY
        self.frontier: list[tuple[float, float, int, Node[State, Step]]] = []
        self.parked: list[Node[State, Step]] = []  # open, but of no use to the subgoals of this phase
        self.best: dict[Hashable, Node[State, Step]] = {}
        self.phase = SearchPhase(EVERY, 1.0)
        self.numbers = np.arange(len(self.to_go))
        discrepancy, bound = model.discrepancy([start])
        if bound.shape != (1, len(self.to_go)):
            raise InvalidConfiguration(
                f"expected one cost-to-go for each of the model's {bound.shape[1]} subgoals, found {len(self.to_go)}"
            )
        plain = bound[0].astype(np.float64)
        self.root = Node[State, Step](start, None, None, 0.0, discrepancy[0], plain, plain)
        self.best[model.key(start)] = self.root

    def phases(self) -> Iterator[SearchPhase]:
        """The phases of the search: the nearest 1, 3, 5, ... subgoals, then all of them, then the proof."""
        # nearest first: by the least that going there and on to the goal can cost, then by the discrepancy
        order = np.lexsort((self.root.discrepancy, self.root.bound + self.to_go))
        spend = PHASE_EXPANSIONS
        for count in range(1, len(order), 2):
            yield SearchPhase(np.sort(order[:count]), GREEDY_WEIGHT, spend, until_better=True)
            spend *= 2
        yield SearchPhase(EVERY, GREEDY_WEIGHT, spend, until_better=True)
        yield SearchPhase(EVERY, 1.0)

    @property
    def limit(self) -> float:
        """Nodes whose `value` is not below this cannot lead to a better incumbent."""
        return self.incumbent_value

    def weighted(self, node: Node[State, Step], weight: float) -> CostArray:
        """Cost of a way through a node to each of the active subgoals, with the bound weighted."""
        active = self.phase.active
        return (node.cost + weight * node.bound[active]) * self.factor + self.to_go[active]

    def value(self, node: Node[State, Step], active: IndexArray | slice = EVERY) -> float:
        """Lower bound on the objective of any way through a node to one of the active subgoals."""
        if active is not EVERY:
            return float(((node.cost + node.bound[active]) * self.factor + self.to_go[active]).min())
        if node.least is None:
            node.least = float(((node.cost + node.bound) * self.factor + self.to_go).min())
        return node.least

    def priority(self, node: Node[State, Step]) -> tuple[float, float]:
        """Place of a node in the open list, lowest first: its weighted value, then its discrepancy."""
        least = float(self.weighted(node, self.phase.weight).min())
        return least, float(node.discrepancy[self.phase.active].min())

    def push(self, node: Node[State, Step]) -> None:
        """Sort a node into the open list, or park it if it is of no use to the subgoals of this phase."""
        if self.value(node, self.phase.active) >= self.limit:
            self.parked.append(node)
            return
        self.count += 1
        heapq.heappush(self.frontier, (*self.priority(node), self.count, node))

    def start_phase(self, phase: SearchPhase) -> None:
        """Sort all open nodes again for other subgoals and another weight."""
        # by order of creation, so that the outcome does not depend on the order within the heap
        waiting = [entry[3] for entry in sorted(self.frontier, key=lambda entry: entry[2])] + self.parked
        self.frontier, self.parked, self.phase = [], [], phase
        for node in waiting:
            if not node.outdated and self.value(node) < self.limit:
                self.push(node)

    def ready(self, node: Node[State, Step]) -> bool:
        """Whether the node taken from the frontier is to be expanded now; if not, it was put back or dropped.

        Its bound is tightened for the subgoals that decide its place, and whether it can lead to a better incumbent.
        """
        if self.tighter is None:
            return True
        asked = len(node.tightened)
        for weight in (self.phase.weight, 1.0):
            while weight > 1.0 or self.value(node, self.phase.active) < self.limit:
                subgoal = int(self.numbers[self.phase.active][self.weighted(node, weight).argmin()])
                if subgoal in node.tightened:
                    break
                node.tightened.add(subgoal)
                self.raised(node, np.where(self.numbers == subgoal, self.tighter(node.state, subgoal), 0.0))
        if len(node.tightened) == asked:
            return True
        useless = self.value(node, self.phase.active) >= self.limit
        if useless or (self.frontier and self.priority(node) > self.frontier[0][:2]):
            self.push(node)
            return False
        return True

    def raised(self, node: Node[State, Step], bound: CostArray) -> None:
        """Raise the bound of a node."""
        node.bound, node.least = np.maximum(node.bound, bound), None

    def reach(self, node: Node[State, Step]) -> bool:
        """Make a node the incumbent if it is at a subgoal and nothing better is known."""
        if node.plain.min() > 0.0:
            return False
        at = np.flatnonzero(node.plain <= 0.0)
        values = node.cost * (1.0 + REJOIN_EARLY) + self.to_go[at]
        if values.min() >= self.incumbent_value:
            return False
        self.incumbent = node, int(at[values.argmin()])
        self.incumbent_value = float(values.min())
        if self.on_improvement is not None:
            self.on_improvement(self.result(complete=False))
        return True

    def expand(self, node: Node[State, Step]) -> bool:
        """Make the successors of a node; true if one of them became the incumbent.

        Detours wait: since they do not lower the plain bound, a way through one costs at least the cheapest step more
        than that, so the node is put back with that much and its detours are tried when its turn comes again.
        """
        self.expansions += 1
        if node.detoured:
            return self.follow(node, self.model.detours(node.state))
        improved = self.follow(node, self.model.applicable(node.state))
        node.detoured = True
        self.raised(node, node.plain + self.model.cheapest)
        if self.value(node) < self.limit:
            self.push(node)
        return improved

    def follow(self, node: Node[State, Step], steps: Sequence[Step]) -> bool:
        """Make the successors by some steps; true if one of them became the incumbent."""
        if not steps:
            return False
        states = self.model.successors(node.state, steps)
        fresh: list[tuple[Step, State, float, Hashable]] = []
        for step, state in zip(steps, states, strict=True):
            cost, key = node.cost + self.model.cost(step), self.model.key(state)
            known = self.best.get(key)
            if known is None or cost < known.cost - ROUNDING:
                fresh.append((step, state, cost, key))
        if not fresh:
            return False
        discrepancies, bounds = self.model.discrepancy([state for _, state, _, _ in fresh])
        plain, spent = bounds.astype(np.float64), np.array([[cost - node.cost] for _, _, cost, _ in fresh])
        raised = np.maximum(plain, node.bound - spent)  # no step lowers the bound by more than its cost
        improved = False
        for row, (step, state, cost, key) in enumerate(fresh):
            known = self.best.get(key)
            if known is not None:
                if known.cost <= cost:  # a sibling with the same key
                    continue
                known.outdated = True
            child = Node(state, node, step, cost, discrepancies[row], raised[row], plain[row], node.estimate)
            self.best[key] = child
            improved |= self.reach(child)
            if self.value(child) < self.limit:
                self.push(child)
        return improved

    def finish(self) -> None:
        """Called once when the search ends."""

    def result(self, complete: bool, reason_code: ReasonCode | None = None) -> SearchResult[State, Step]:
        """The incumbent, or the fact that there is none.

        Args:
            complete: no open node can lead to a better incumbent.
            reason_code: why the search stopped, if it did before that.
        """
        seconds = time.perf_counter() - self.began
        waiting = [entry[3] for entry in self.frontier] + self.parked
        bound = min((float((n.cost + n.bound + self.to_go).min()) for n in waiting if not n.outdated), default=np.inf)
        found: SearchResult[State, Step] = SearchResult(
            RecoveryStatus.IMPOSSIBLE if complete else RecoveryStatus.BUDGET_EXHAUSTED,
            lower_bound=np.inf if complete else bound,
            expansions=self.expansions,
            seconds=seconds,
            reason_code=reason_code,
        )
        if self.incumbent is None:
            return found
        node, subgoal = self.incumbent
        cost = node.cost + float(self.to_go[subgoal])
        path, states = [], []
        while node.parent is not None and node.step is not None:
            path.append(node.step)
            states.append(node.state)
            node = node.parent
        return replace(
            found,
            status=RecoveryStatus.RECOVERED if path else RecoveryStatus.ALREADY_AT_SUBGOAL,
            path=tuple(reversed(path)),
            states=tuple(reversed(states)),
            subgoal=subgoal,
            cost=cost,
            lower_bound=min(bound, cost),
            proven_optimal=complete or bound >= cost - ROUNDING,
        )

"""Anytime best-first search from one state to any of several subgoals (Kalithasan et al., section V).

Minimises C(error -> subgoal) + C(subgoal -> goal) over a `WorldModel`; knows nothing of scenes or networks.

One set of nodes serves all phases. The first phases look only at the nearest subgoals (1, 3, 5, ...) and
weight the bound heavily, so a first solution comes early; since every node is compared with all subgoals as soon as it
is made, widening the set or lowering the weight only re-sorts the open nodes. The last phase has weight 1 and all
subgoals: once no open node can beat the incumbent, the incumbent is optimal, and if there is none, there is no way.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration
from nsrecover.protocols import WorldModel
from nsrecover.structs import FloatArray, RecoveryStatus

State = TypeVar("State")
Step = TypeVar("Step")
IndexArray = npt.NDArray[np.intp]
CostArray = npt.NDArray[np.float64]

GREEDY_WEIGHT = 5.0
"""Weight of the bound before the last phase: large, so that the search goes deep first."""

REJOIN_EARLY = 1e-5
"""Share by which a recovery step counts more than a step of the plan: of two ways that cost the same, the one that
rejoins the plan earlier is preferred, and the search need not look at all the others of that cost."""

PHASE_EXPANSIONS = 32
"""Nodes expanded in the first phase before the next one widens the view; doubled in every phase."""


class Ending(StrEnum):
    """Why the search stopped."""

    PROVEN = "no cheaper way exists"
    EXHAUSTED = "every reachable state was searched"
    NODES = "the node budget was used up"
    TIME = "the time was used up"
    CANCELLED = "it was cancelled"


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
        proven_optimal: no cheaper way to any of the given subgoals exists in the model.
        expansions: nodes expanded.
        seconds: wall time.
        ending: why it stopped.
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
    ending: Ending = Ending.NODES


@dataclass(eq=False)
class _Node(Generic[State, Step]):
    """A state on the way: how it was reached, what that cost, and its distances to all subgoals (K,)."""

    state: State
    parent: _Node[State, Step] | None
    step: Step | None
    cost: float
    discrepancy: FloatArray
    bound: CostArray
    detoured: bool = False  # what is left to be tried in it are detours
    outdated: bool = False


class _Search(Generic[State, Step]):
    """The nodes, the open list and the incumbent of one search."""

    def __init__(
        self,
        model: WorldModel[State, Step],
        start: State,
        costs_to_go: Sequence[float],
        on_improvement: Callable[[SearchResult[State, Step]], None] | None,
    ) -> None:
        self.model = model
        self.to_go = np.asarray(costs_to_go, dtype=np.float64)
        self.on_improvement = on_improvement
        self.began = time.perf_counter()
        self.expansions = 0
        self.count = 0
        self.incumbent: tuple[_Node[State, Step], int] | None = None
        self.incumbent_value = float("inf")  # in the scaled objective, see REJOIN_EARLY
        self.open: list[tuple[float, float, int, _Node[State, Step]]] = []
        self.parked: list[_Node[State, Step]] = []  # open, but of no use to the subgoals of this phase
        self.best: dict[Hashable, _Node[State, Step]] = {}
        self.weight = 1.0
        self.active: slice | IndexArray = slice(None)
        discrepancy, bound = model.discrepancy([start])
        if bound.shape != (1, len(self.to_go)):
            raise InvalidConfiguration(
                f"expected one cost-to-go for each of the model's {bound.shape[1]} subgoals, found {len(self.to_go)}"
            )
        self.root: _Node[State, Step] = _Node(start, None, None, 0.0, discrepancy[0], bound[0].astype(np.float64))
        self.best[model.key(start)] = self.root

    def value(self, node: _Node[State, Step]) -> float:
        """Lower bound on the scaled objective of any way through a node, over all subgoals."""
        return float(((node.cost + node.bound) * (1.0 + REJOIN_EARLY) + self.to_go).min())

    def push(self, node: _Node[State, Step]) -> None:
        """Sort a node into the open list by the subgoals and the weight of this phase."""
        bound, to_go = node.bound[self.active], self.to_go[self.active]
        if ((node.cost + bound) * (1.0 + REJOIN_EARLY) + to_go).min() >= self.incumbent_value:
            self.parked.append(node)
            return
        weighted = (node.cost + self.weight * bound) * (1.0 + REJOIN_EARLY) + to_go
        self.count += 1
        priority = float(weighted.min()), float(node.discrepancy[self.active].min()), self.count
        heapq.heappush(self.open, (*priority, node))

    def start_phase(self, active: IndexArray | slice, weight: float) -> None:
        """Sort all open nodes again for other subgoals and another weight."""
        # by order of creation, so that the outcome does not depend on the order within the heap
        waiting = [entry[3] for entry in sorted(self.open, key=lambda entry: entry[2])] + self.parked
        self.open, self.parked = [], []
        self.active, self.weight = active, weight
        for node in waiting:
            if not node.outdated and self.value(node) < self.incumbent_value:
                self.push(node)

    def reach(self, node: _Node[State, Step]) -> bool:
        """Make a node the incumbent if it is at a subgoal and nothing better is known."""
        at = np.flatnonzero(node.bound <= 0.0)
        if len(at) == 0:
            return False
        values = node.cost * (1.0 + REJOIN_EARLY) + self.to_go[at]
        if values.min() >= self.incumbent_value:
            return False
        self.incumbent = node, int(at[values.argmin()])
        self.incumbent_value = float(values.min())
        if self.on_improvement is not None:
            self.on_improvement(self.result(Ending.NODES))
        return True

    def expand(self, node: _Node[State, Step]) -> bool:
        """Make the successors of a node; true if one of them became the incumbent.

        Detours wait: since they lower no bound, a way through one costs at least the cheapest step more than the node
        promised, so the node is put back with that much more and its detours are tried when its turn comes again.
        """
        self.expansions += 1
        if node.detoured:
            steps = self.model.detours(node.state)
        else:
            steps = self.model.applicable(node.state)
            node.detoured = True
            node.bound = node.bound + self.model.cheapest
            if self.value(node) < self.incumbent_value:
                self.push(node)
        if not steps:
            return False
        states = self.model.successors(node.state, steps)
        fresh: list[tuple[Step, State, float, Hashable]] = []
        for step, state in zip(steps, states, strict=True):
            cost, key = node.cost + self.model.cost(step), self.model.key(state)
            known = self.best.get(key)
            if known is None or cost < known.cost - 1e-9:
                fresh.append((step, state, cost, key))
        if not fresh:
            return False
        discrepancies, bounds = self.model.discrepancy([state for _, state, _, _ in fresh])
        improved = False
        for (step, state, cost, key), discrepancy, bound in zip(fresh, discrepancies, bounds, strict=True):
            known = self.best.get(key)
            if known is not None:
                if known.cost <= cost:  # a sibling with the same key
                    continue
                known.outdated = True
            child = _Node(state, node, step, cost, discrepancy, bound.astype(np.float64))
            self.best[key] = child
            improved |= self.reach(child)
            if self.value(child) < self.incumbent_value:
                self.push(child)
        return improved

    def result(self, ending: Ending) -> SearchResult[State, Step]:
        """The incumbent, or the reason why there is none."""
        seconds = time.perf_counter() - self.began
        waiting = [entry[3] for entry in self.open] + self.parked
        bound = min((float((n.cost + n.bound + self.to_go).min()) for n in waiting if not n.outdated), default=np.inf)
        if self.incumbent is None:
            return SearchResult(
                RecoveryStatus.IMPOSSIBLE if ending is Ending.EXHAUSTED else RecoveryStatus.BUDGET_EXHAUSTED,
                lower_bound=bound if ending is not Ending.EXHAUSTED else np.inf,
                expansions=self.expansions,
                seconds=seconds,
                ending=ending,
            )
        node, subgoal = self.incumbent
        path: list[Step] = []
        states: list[State] = []
        cost = node.cost + float(self.to_go[subgoal])
        while node.parent is not None and node.step is not None:
            path.append(node.step)
            states.append(node.state)
            node = node.parent
        return SearchResult(
            RecoveryStatus.RECOVERED if path else RecoveryStatus.ALREADY_AT_SUBGOAL,
            tuple(reversed(path)),
            tuple(reversed(states)),
            subgoal,
            cost,
            lower_bound=min(bound, cost),
            proven_optimal=ending is Ending.PROVEN,
            expansions=self.expansions,
            seconds=seconds,
            ending=ending,
        )


def _phases(order: IndexArray) -> Iterator[tuple[IndexArray | slice, float, int | None]]:
    """Subgoals to look at (1, 3, 5, ... all), the weight of the bound, and how many nodes to spend."""
    spend = PHASE_EXPANSIONS
    for count in range(1, len(order), 2):
        yield np.sort(order[:count]), GREEDY_WEIGHT, spend
        spend *= 2
    yield slice(None), GREEDY_WEIGHT, spend
    yield slice(None), 1.0, None


def search(
    model: WorldModel[State, Step],
    start: State,
    costs_to_go: Sequence[float],
    *,
    max_expansions: int | None = None,
    budget_s: float | None = None,
    on_improvement: Callable[[SearchResult[State, Step]], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult[State, Step]:
    """Find the cheapest way from a state to any subgoal, counting what the plan costs from there on.

    If the start already is at a subgoal, nothing has to be done and nothing is searched.

    Args:
        model: what can be done and how far the subgoals are.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal; not negative.
        max_expansions: nodes that may be expanded; with this alone the outcome is deterministic. None: no limit.
        budget_s: wall time, in seconds; None: no limit.
        on_improvement: called with every new incumbent.
        cancelled: asked before every expansion; if it says true, the search stops and the incumbent is returned.

    Returns:
        The best way found. That there is none, or that the budget was used up, is an answer and not an exception.

    Raises:
        InvalidConfiguration: a budget or cost-to-go is negative, or their number is not that of the subgoals.
    """
    if len(costs_to_go) == 0 or min(costs_to_go) < 0:
        raise InvalidConfiguration(f"expected a cost-to-go >= 0 for each of 1 or more subgoals, found {costs_to_go}")
    if (max_expansions is not None and max_expansions < 0) or (budget_s is not None and budget_s < 0):
        raise InvalidConfiguration(
            f"expected budgets >= 0, found max_expansions={max_expansions} and budget_s={budget_s}; None means no limit"
        )
    run = _Search(model, start, costs_to_go, on_improvement)
    if run.reach(run.root):
        best = float((run.root.bound + run.to_go).min())
        found = run.result(Ending.PROVEN)
        return replace(found, proven_optimal=best >= found.cost, lower_bound=best)
    run.parked.append(run.root)
    # nearest first: by the least that going there and on to the goal can cost, then by the discrepancy
    order = np.lexsort((run.root.discrepancy, run.root.bound + run.to_go))
    for active, weight, spend in _phases(order):
        run.start_phase(active, weight)
        until = None if spend is None else run.expansions + spend
        while run.open and (until is None or run.expansions < until):
            node = heapq.heappop(run.open)[3]
            if node.outdated or run.value(node) >= run.incumbent_value:
                continue
            ending = _interruption(run.expansions, run.began, max_expansions, budget_s, cancelled)
            if ending is not None:
                run.parked.append(node)
                return run.result(ending)
            if run.expand(node) and spend is not None:
                break
    return run.result(Ending.EXHAUSTED if run.incumbent is None else Ending.PROVEN)


def _interruption(
    expansions: int,
    began: float,
    max_expansions: int | None,
    budget_s: float | None,
    cancelled: Callable[[], bool] | None,
) -> Ending | None:
    """Whether, and why, the search has to stop before the next expansion."""
    if max_expansions is not None and expansions >= max_expansions:
        return Ending.NODES
    if budget_s is not None and time.perf_counter() - began >= budget_s:
        return Ending.TIME
    if cancelled is not None and cancelled():
        return Ending.CANCELLED
    return None

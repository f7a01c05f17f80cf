"""Anytime best-first search from one state to any of several subgoals (Kalithasan et al., section V).

Minimises C(error -> subgoal) + C(subgoal -> goal) over a `WorldModel`; knows nothing of scenes or networks.

One search tree serves all phases. The first phases consider only the nearest subgoals (1, 3, 5, ...) and weight the
bound heavily, so that a first solution comes early. Every new node is compared with all subgoals at once, so widening
the set or lowering the weight only re-sorts the open nodes. The last phase has weight 1 and all subgoals: once no open
node can beat the incumbent, it is optimal, and if there is no incumbent, there is no way.

Costs are compared up to `ROUNDING`: a way that is cheaper by less may be missed.

Models whose good bounds are slow to compute (`nsrecover.planning.lazy`) have other phases.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nsrecover.core.deprecation import serve_old_names
from nsrecover.core.protocols import WorldModel
from nsrecover.core.recovery import ReasonCode
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.lazy import LazyModel, LazySearchTree
from nsrecover.planning.search_tree import ROUNDING, IndexArray, SearchResult, SearchTree, State, Step

__all__ = ["ROUNDING", "SearchResult", "search"]

GREEDY_WEIGHT = 5.0
"""Weight of the bound before the last phase: large, so that the search goes deep first."""

PHASE_EXPANSIONS = 32
"""Nodes expanded in the first phase before the next one widens the view; doubled in every phase."""


class _Phase(NamedTuple):
    """Subgoals to consider, weight of the bound, nodes to expand, and whether an improvement ends the phase."""

    active: IndexArray | slice
    weight: float
    spend: int | None = None
    until_better: bool = False


EVERY = slice(None)
"""All subgoals."""


def _phases(order: IndexArray) -> Iterator[_Phase]:
    """The nearest 1, 3, 5, ... subgoals, then all of them."""
    spend = PHASE_EXPANSIONS
    for count in range(1, len(order), 2):
        yield _Phase(np.sort(order[:count]), GREEDY_WEIGHT, spend, until_better=True)
        spend *= 2
    yield _Phase(EVERY, GREEDY_WEIGHT, spend, until_better=True)
    yield _Phase(EVERY, 1.0)


def _lazy_phases() -> Iterator[_Phase]:
    """All subgoals at once, since one evaluation covers them all: first a way, then proofs and better ways."""
    yield _Phase(EVERY, GREEDY_WEIGHT, until_better=True)
    yield _Phase(EVERY, 1.0, 1)  # often the start's own bound is proof enough
    spend = PHASE_EXPANSIONS // 2
    yield _Phase(EVERY, 2.0, spend)
    yield _Phase(EVERY, 1.0, spend)
    yield _Phase(EVERY, 1.5, 4 * spend)
    yield _Phase(EVERY, 1.0, 64 * spend)
    yield _Phase(EVERY, 1.5, 64 * spend)
    yield _Phase(EVERY, 1.0)


def search(
    model: WorldModel[State, Step],
    start: State,
    costs_to_go: Sequence[float],
    *,
    max_expansions: int | None = None,
    budget_s: float | None = None,
    on_improvement: Callable[[SearchResult[State, Step]], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    settle: bool = True,
) -> SearchResult[State, Step]:
    """Find the cheapest way from a state to any subgoal, counting what the plan costs from there on.

    Args:
        model: steps between states, and the distances of states to the subgoals.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal; not negative.
        max_expansions: nodes that may be expanded; with this alone the outcome is deterministic. None: no limit.
        budget_s: wall time, in seconds; None: no limit.
        on_improvement: called with every new incumbent.
        cancelled: called before every expansion; if it returns true, the search stops and returns the incumbent.
        settle: if the start already is at a subgoal, do nothing and search nothing, even if there might be a cheaper
            way by another subgoal.

    Returns:
        The best way found. An impossible problem or a used-up budget is an answer, not an exception.

    Raises:
        InvalidConfiguration: a budget or cost-to-go is negative, or their number is not that of the subgoals.
    """
    if len(costs_to_go) == 0 or min(costs_to_go) < 0:
        raise InvalidConfiguration(f"expected a cost-to-go >= 0 for each of 1 or more subgoals, found {costs_to_go}")
    check_budgets(max_expansions, budget_s)
    began = time.perf_counter()

    def interrupted() -> ReasonCode | None:
        return _interruption(tree.expansions, began, max_expansions, budget_s, cancelled)

    if isinstance(model, LazyModel):
        tree: SearchTree[State, Step] = LazySearchTree(model, start, costs_to_go, on_improvement, interrupted)
    else:
        tree = SearchTree(model, start, costs_to_go, on_improvement)
    if tree.reach(tree.root) and settle:
        best = float((tree.root.bound + tree.to_go).min())
        found = tree.result(complete=True)
        return replace(found, proven_optimal=best >= found.cost, lower_bound=best)
    tree.parked.append(tree.root)
    # nearest first: by the least that going there and on to the goal can cost, then by the discrepancy
    order = np.lexsort((tree.root.discrepancy, tree.root.bound + tree.to_go))
    for phase in _lazy_phases() if isinstance(tree, LazySearchTree) else _phases(order):
        if phase.spend is None and phase.until_better and tree.incumbent is not None:
            continue
        tree.start_phase(phase.active, phase.weight)
        until = None if phase.spend is None else tree.expansions + phase.spend
        while tree.frontier and (until is None or tree.expansions < until):
            node = heapq.heappop(tree.frontier)[3]
            if node.outdated or tree.value(node) >= tree.limit:
                continue
            stopped = interrupted()
            if stopped is not None:
                tree.parked.append(node)
                return tree.result(False, stopped)
            if tree.ready(node) and tree.expand(node) and phase.until_better:
                break
    return tree.result(complete=True)


def check_budgets(max_expansions: int | None, budget_s: float | None) -> None:
    """Refuse budgets that are negative.

    Raises:
        InvalidConfiguration: a budget is negative.
    """
    if (max_expansions is not None and max_expansions < 0) or (budget_s is not None and budget_s < 0):
        raise InvalidConfiguration(
            f"expected budgets >= 0, found max_expansions={max_expansions} and budget_s={budget_s}; None means no limit"
        )


def _interruption(
    expansions: int,
    began: float,
    max_expansions: int | None,
    budget_s: float | None,
    cancelled: Callable[[], bool] | None,
) -> ReasonCode | None:
    """Why the search has to stop before the next expansion; None if it can go on."""
    if max_expansions is not None and expansions >= max_expansions:
        return ReasonCode.NODE_BUDGET
    if budget_s is not None and time.perf_counter() - began >= budget_s:
        return ReasonCode.TIME_BUDGET
    if cancelled is not None and cancelled():
        return ReasonCode.CANCELLED
    return None


serve_old_names(__name__)

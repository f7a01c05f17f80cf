"""Anytime best-first search from one state to any of several subgoals (Kalithasan et al., section V).

Minimises C(error -> subgoal) + C(subgoal -> goal) over a `WorldModel`; knows nothing of scenes or networks.

One set of nodes (`search_tree`) serves all phases. The first ones look only at the nearest subgoals (1,
3, 5, ...) and weight the bound heavily, so a first solution comes early; since every node is compared with all subgoals
as soon as it is made, widening the set or lowering the weight only re-sorts the open nodes. The last phase has weight 1
and all subgoals: once no open node can beat the incumbent, that is optimal, and if there is none, there is no way.

Models that take long to judge a state well (`nsrecover.planning.lazy`) have phases of their own.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from nsrecover.core.protocols import WorldModel
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.lazy import LazyFrontier, LazyModel
from nsrecover.planning.search_tree import Ending, Frontier, IndexArray, SearchResult, State, Step

__all__ = ["Ending", "SearchResult", "search"]

GREEDY_WEIGHT = 5.0
"""Weight of the bound before the last phase: large, so that the search goes deep first."""

PHASE_EXPANSIONS = 32
"""Nodes expanded in the first phase before the next one widens the view; doubled in every phase."""


class _Phase(NamedTuple):
    """Subgoals to look at, the weight of the bound, how many nodes to spend, and whether an improvement ends it."""

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
    """All subgoals at once, since one look at a state judges them all: first a way, then proofs and better ways."""
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
        model: what can be done and how far the subgoals are.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal; not negative.
        max_expansions: nodes that may be expanded; with this alone the outcome is deterministic. None: no limit.
        budget_s: wall time, in seconds; None: no limit.
        on_improvement: called with every new incumbent.
        cancelled: asked before every expansion; if it says true, the search stops and the incumbent is returned.
        settle: if the start already is at a subgoal, do nothing and search nothing, even if there might be a cheaper
            way by another subgoal.

    Returns:
        The best way found. That there is none, or that the budget was used up, is an answer and not an exception.

    Raises:
        InvalidConfiguration: a budget or cost-to-go is negative, or their number is not that of the subgoals.
    """
    if len(costs_to_go) == 0 or min(costs_to_go) < 0:
        raise InvalidConfiguration(f"expected a cost-to-go >= 0 for each of 1 or more subgoals, found {costs_to_go}")
    check_budgets(max_expansions, budget_s)
    began = time.perf_counter()

    def interrupted() -> Ending | None:
        return _interruption(run.expansions, began, max_expansions, budget_s, cancelled)

    if isinstance(model, LazyModel):
        run: Frontier[State, Step] = LazyFrontier(model, start, costs_to_go, on_improvement, interrupted)
    else:
        run = Frontier(model, start, costs_to_go, on_improvement)
    if run.reach(run.root) and settle:
        best = float((run.root.bound + run.to_go).min())
        found = run.result(Ending.PROVEN)
        return replace(found, proven_optimal=best >= found.cost, lower_bound=best)
    run.parked.append(run.root)
    # nearest first: by the least that going there and on to the goal can cost, then by the discrepancy
    order = np.lexsort((run.root.discrepancy, run.root.bound + run.to_go))
    for phase in _lazy_phases() if isinstance(run, LazyFrontier) else _phases(order):
        if phase.spend is None and phase.until_better and run.incumbent is not None:
            continue
        run.start_phase(phase.active, phase.weight)
        until = None if phase.spend is None else run.expansions + phase.spend
        while run.open and (until is None or run.expansions < until):
            node = heapq.heappop(run.open)[3]
            if node.outdated or run.value(node) >= run.limit:
                continue
            ending = interrupted()
            if ending is not None:
                run.parked.append(node)
                return run.result(ending)
            if run.ready(node) and run.expand(node) and phase.until_better:
                break
    return run.result(Ending.EXHAUSTED if run.incumbent is None else Ending.PROVEN)


def check_budgets(max_expansions: int | None, budget_s: float | None) -> None:
    """Refuse budgets that are negative.

    Raises:
        InvalidConfiguration: one of them is.
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
) -> Ending | None:
    """Whether, and why, the search has to stop before the next expansion."""
    if max_expansions is not None and expansions >= max_expansions:
        return Ending.NODES
    if budget_s is not None and time.perf_counter() - began >= budget_s:
        return Ending.TIME
    if cancelled is not None and cancelled():
        return Ending.CANCELLED
    return None

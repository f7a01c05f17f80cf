"""Anytime best-first search from one state to any of several subgoals (Kalithasan et al., section V).

Minimises C(error -> subgoal) + C(subgoal -> goal) over a `WorldModel`, and knows nothing of scenes or networks. There
is one engine: `search` has the main loop, `nsrecover.planning.search_tree` has the nodes, the open list and the
incumbent, and both are the same for the neural and the symbolic model.

A search runs in phases that share one tree. A phase has a set of subgoals and a weight of the bound; a new phase only
re-sorts the open nodes. The first phases look for some solution quickly. The last phase has weight 1 and all subgoals:
once no open node can beat the incumbent, the incumbent is optimal; without an incumbent, there is no way.

Costs are compared up to `ROUNDING`: a way that is cheaper by less may be missed.

`nsrecover.planning.lazy` changes what differs for models whose good bounds are slow to compute: the phases, the
priority of open nodes, and the moment at which a node is evaluated.
"""

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from nsrecover.core.protocols import WorldModel
from nsrecover.core.recovery import ReasonCode
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.lazy import LazyModel, LazySearchTree
from nsrecover.planning.search_tree import ROUNDING, SearchResult, SearchTree, State, Step

__all__ = ["ROUNDING", "SearchResult", "search"]


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
        on_improvement: called with every new incumbent; a lazy search improves the first one for a moment before.
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
        """Why the search has to stop before the next expansion; None if it can go on."""
        if max_expansions is not None and tree.expansions >= max_expansions:
            return ReasonCode.NODE_BUDGET
        if budget_s is not None and time.perf_counter() - began >= budget_s:
            return ReasonCode.TIME_BUDGET
        return ReasonCode.CANCELLED if cancelled is not None and cancelled() else None

    kind: type[SearchTree[State, Step]] = LazySearchTree if isinstance(model, LazyModel) else SearchTree
    tree = kind(model, start, costs_to_go, on_improvement, interrupted)
    if tree.reach(tree.root) and settle:
        best = float((tree.root.bound + tree.to_go).min())
        tree.finish()
        found = tree.result(complete=True)
        return replace(found, proven_optimal=best >= found.cost, lower_bound=best)
    tree.parked.append(tree.root)
    for phase in tree.phases():
        if phase.spend is None and phase.until_better and tree.incumbent is not None:
            continue
        tree.start_phase(phase)
        until = None if phase.spend is None else tree.expansions + phase.spend
        while tree.frontier and (until is None or tree.expansions < until):
            node = heapq.heappop(tree.frontier)[3]
            if node.outdated or tree.value(node) >= tree.limit:
                continue
            stopped = interrupted()
            if stopped is not None:
                tree.parked.append(node)
                tree.finish()
                return tree.result(False, stopped)
            if tree.ready(node) and tree.expand(node) and phase.until_better:
                break
    tree.finish()
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

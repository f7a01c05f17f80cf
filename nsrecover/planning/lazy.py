"""Search over models whose good estimates and bounds are slow to compute.

Every new state is compared with the subgoals cheaply. The slow evaluation is postponed until the state is at the head
of the frontier: an estimate in the phases that look for a way, a tight bound in the phases that prove that there is no
cheaper one. Until then the state has the values of its parent. Most states never get to the head.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from nsrecover.core.protocols import BoundArray, WorldModel
from nsrecover.core.recovery import ReasonCode
from nsrecover.core.scene import FloatArray
from nsrecover.planning.search_tree import ROUNDING, CostArray, IndexArray, Node, SearchResult, SearchTree, State, Step


@runtime_checkable
class LazyModel(WorldModel[State, Step], Protocol[State, Step]):
    """A world model with a quick and a slow evaluation of states.

    `applicable` lists the steps that the estimate recommends in a state; none before `estimate`. `detours` lists all
    other steps that can be taken.
    """

    def estimate(self, state: State) -> CostArray:
        """Estimated cost to each subgoal, (K,): too high or too low, but inf only where there is no way."""
        ...

    def tighten(self, state: State, stop: Callable[[], bool]) -> CostArray:
        """A tight lower bound on the cost to each subgoal, (K,); slow.

        Args:
            state: the state.
            stop: called repeatedly; once it returns true, the bound found so far is returned.
        """
        ...


@dataclass(eq=False)
class _LazyNode(Node[State, Step]):
    """A node whose slow evaluation may be postponed.

    Attributes:
        estimate: (K,) of its own state or, until it is `estimated`, of its parent's.
        estimated: whether the estimate is of its own state.
        tight: whether its bound has been tightened.
    """

    estimate: CostArray | None = None
    estimated: bool = False
    tight: bool = False


class LazySearchTree(SearchTree[State, Step]):
    """The nodes of a search over a `LazyModel`.

    Of ways that cost the same the one that rejoins the plan early is preferred when both are found, but the search does
    not look for it: with good bounds, proving that there is none would take most of the time.

    Args:
        model: the model.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal.
        on_improvement: called with every new incumbent.
        interrupted: returns why the search has to stop, or None; may be called while a bound is computed.
    """

    def __init__(
        self,
        model: LazyModel[State, Step],
        start: State,
        costs_to_go: Sequence[float],
        on_improvement: Callable[[SearchResult[State, Step]], None] | None,
        interrupted: Callable[[], ReasonCode | None],
    ) -> None:
        super().__init__(model, start, costs_to_go, on_improvement)
        self.lazy = model
        self.interrupted = interrupted

    @property
    def limit(self) -> float:
        """The cost of the incumbent, less `ROUNDING`."""
        if self.incumbent is None:
            return float("inf")
        node, subgoal = self.incumbent
        return node.cost + float(self.to_go[subgoal]) - ROUNDING

    def value(self, node: Node[State, Step]) -> float:
        """Lower bound on the cost of any way through a node, over all subgoals."""
        return float((node.cost + node.bound + self.to_go).min())

    def start_phase(self, active: IndexArray | slice, weight: float) -> None:
        """Sort all open nodes again; before proofs begin, raise their bounds by the start's tight bound."""
        root = self.root
        if weight == 1.0 and self.tightened(root):
            for node in [entry[3] for entry in self.frontier] + self.parked:
                node.bound = np.maximum(node.bound, root.bound - node.cost)
        super().start_phase(active, weight)

    def make_node(
        self,
        state: State,
        parent: Node[State, Step] | None,
        step: Step | None,
        cost: float,
        discrepancy: FloatArray,
        bound: BoundArray,
    ) -> Node[State, Step]:
        """Make a node that has its parent's estimate until its own is computed."""
        node = _LazyNode(state, parent, step, cost, discrepancy, bound.astype(np.float64))
        if isinstance(parent, _LazyNode):
            node.estimate = parent.estimate
        return node

    def push(self, node: Node[State, Step]) -> None:
        """Sort a node into the frontier: by its estimate in phases that look for a way, by its bound in proofs."""
        assert isinstance(node, _LazyNode)
        value = self.value(node)
        if value >= self.limit:
            self.parked.append(node)
            return
        self.count += 1
        if self.weight > 1.0:
            expected = 0.0 if node.estimate is None else self.weight * node.estimate
            promise = float((node.cost + expected + self.to_go).min()), float(node.discrepancy.min()), self.count
        else:
            promise = value, -node.cost, self.count
        heapq.heappush(self.frontier, (*promise, node))

    def ready(self, node: Node[State, Step]) -> bool:
        """Evaluate a node; one that is no longer the best of the frontier is put back."""
        assert isinstance(node, _LazyNode)
        if self.weight > 1.0:
            if node.estimated:
                return True
            node.estimate = self.lazy.estimate(node.state)
            node.estimated = True
            node.bound = np.where(np.isinf(node.estimate), np.inf, node.bound)
        else:
            if not self.tightened(node):
                return True
        self.push(node)
        if self.frontier and self.frontier[0][3] is node:
            heapq.heappop(self.frontier)
            return True
        return False

    def tightened(self, node: Node[State, Step]) -> bool:
        """Tighten the bound of a node; False if that was done before."""
        assert isinstance(node, _LazyNode)
        if node.tight:
            return False
        bound = self.lazy.tighten(node.state, lambda: self.interrupted() is not None)
        node.bound = np.maximum(node.bound, bound)
        node.tight = True
        return True

    def expand(self, node: Node[State, Step]) -> bool:
        """Make the successors of a node; true if one of them became the incumbent.

        In the phases that look for a way, steps that the estimate does not recommend wait until nothing better is open.
        """
        assert isinstance(node, _LazyNode)
        self.expansions += 1
        if node.detoured:
            return self.follow(node, self.lazy.detours(node.state))
        node.detoured = True
        steps = list(self.lazy.applicable(node.state))
        if self.weight > 1.0 and steps:
            assert node.estimate is not None
            improved = self.follow(node, steps)
            node.estimate = node.estimate + self.lazy.cheapest
            self.push(node)
            return improved
        return self.follow(node, [*steps, *self.lazy.detours(node.state)])

    def reach(self, node: Node[State, Step]) -> bool:
        """Make a node the incumbent if it is at a subgoal and nothing better is known.

        Afterwards its bound is raised to its parent's bound less the cost of the step between them.
        """
        reached = super().reach(node)
        if node.parent is not None:
            node.bound = np.maximum(node.bound, node.parent.bound - (node.cost - node.parent.cost))
        return reached

"""Searching over models that take long to judge a state well.

Every new state is compared with the subgoals cheaply. Only when its turn comes it is looked at more closely: in the
phases that look for a way, by an estimate; in those that prove that there is no cheaper one, by a tight bound. Until
then it counts as good as the state it was reached from. Most states' turn never comes.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from nsrecover.core.protocols import WorldModel
from nsrecover.core.scene import FloatArray
from nsrecover.planning.search_tree import CostArray, Ending, Frontier, IndexArray, Node, SearchResult, State, Step

ROUNDING = 1e-9
"""Costs that differ by less are the same."""


@runtime_checkable
class LazyModel(WorldModel[State, Step], Protocol[State, Step]):
    """A world model that can look at a state twice.

    `applicable` is what the estimate recommends in a state: nothing where none was made. `detours` is all the rest that
    can be done, whatever it leads to.
    """

    def estimate(self, state: State) -> CostArray:
        """Roughly the cost to each subgoal, (K,): too much or too little, but inf only where there is no way."""
        ...

    def tighten(self, state: State, stop: Callable[[], bool]) -> CostArray:
        """A lower bound on the cost to each subgoal, (K,), that may take long.

        Args:
            state: the state.
            stop: asked now and then; once it says true, what has been found so far is returned.
        """
        ...


@dataclass(eq=False)
class _LazyNode(Node[State, Step]):
    """A node that may not have been looked at closely yet.

    Attributes:
        estimate: (K,) its own or, until it is `estimated`, that of its parent.
        estimated: whether the estimate is its own.
        tight: whether its bound is the best there is.
    """

    estimate: CostArray | None = None
    estimated: bool = False
    tight: bool = False


class LazyFrontier(Frontier[State, Step]):
    """The nodes of a search over a `LazyModel`.

    Of ways that cost the same the one that rejoins the plan early is preferred when both are found, but not looked for:
    with good bounds, proving that there is none would take most of the time.

    Args:
        model: the model.
        start: the state to recover from.
        costs_to_go: (K,) what it costs to reach the goal from each subgoal.
        on_improvement: called with every new incumbent.
        interrupted: whether time is up; may be asked while a bound is being computed.
    """

    def __init__(
        self,
        model: LazyModel[State, Step],
        start: State,
        costs_to_go: Sequence[float],
        on_improvement: Callable[[SearchResult[State, Step]], None] | None,
        interrupted: Callable[[], Ending | None],
    ) -> None:
        super().__init__(model, start, costs_to_go, on_improvement)
        self.lazy = model
        self.interrupted = interrupted

    @property
    def limit(self) -> float:
        """The cost of the incumbent."""
        if self.incumbent is None:
            return float("inf")
        node, subgoal = self.incumbent
        return node.cost + float(self.to_go[subgoal]) - ROUNDING

    def value(self, node: Node[State, Step]) -> float:
        """Lower bound on the cost of any way through a node, over all subgoals."""
        return float((node.cost + node.bound + self.to_go).min())

    def start_phase(self, active: IndexArray | slice, weight: float) -> None:
        """Sort all open nodes again; before proofs begin, the start's own bound is made use of for all of them."""
        root = self.root
        if weight == 1.0 and self.tightened(root):
            for node in [entry[3] for entry in self.open] + self.parked:
                node.bound = np.maximum(node.bound, root.bound - node.cost)
        super().start_phase(active, weight)

    def made(
        self,
        state: State,
        parent: Node[State, Step] | None,
        step: Step | None,
        cost: float,
        discrepancy: FloatArray,
        bound: FloatArray,
    ) -> Node[State, Step]:
        """A new node, as good as its parent until it is looked at."""
        node = _LazyNode(state, parent, step, cost, discrepancy, bound.astype(np.float64))
        if isinstance(parent, _LazyNode):
            node.estimate = parent.estimate
        return node

    def push(self, node: Node[State, Step]) -> None:
        """Sort a node into the open list: by its estimate to find a way, by its bound to prove that there is none."""
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
        heapq.heappush(self.open, (*promise, node))

    def ready(self, node: Node[State, Step]) -> bool:
        """Look at a node more closely; one that turns out worse than another is put back."""
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
        if self.open and self.open[0][3] is node:
            heapq.heappop(self.open)
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

        While a way is looked for, the steps that the estimate does not recommend wait until nothing better is open.
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

        Afterwards it gets its parent's bound less the step between them, where that is better than its own.
        """
        reached = super().reach(node)
        if node.parent is not None:
            node.bound = np.maximum(node.bound, node.parent.bound - (node.cost - node.parent.cost))
        return reached

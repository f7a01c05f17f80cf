"""What differs in the search over models whose good estimates and bounds are slow to compute.

Every new state is compared with the subgoals cheaply. The slow evaluation is postponed until the state is at the head
of the frontier: an estimate in the phases that look for a way (weight above 1), a tight bound in the phases that prove
that there is no cheaper one (weight 1). Until then the state has the values of its parent. Most states never get to
the head.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np

from nsrecover.core.protocols import WorldModel
from nsrecover.planning.search_tree import (
    EVERY,
    GREEDY_WEIGHT,
    PHASE_EXPANSIONS,
    ROUNDING,
    CostArray,
    Node,
    Phase,
    SearchTree,
    State,
    Step,
)


@runtime_checkable
class LazyModel(WorldModel[State, Step], Protocol[State, Step]):
    """A world model with a quick and a slow evaluation of states.

    `applicable` lists the steps that the estimate recommends in a state; none before `estimate`. `detours` lists all
    other steps that can be taken.
    """

    def estimate(self, state: State) -> CostArray:
        """Estimated cost to each subgoal, (K,): too high or too low, but inf only where there is no way."""

    def tighten(self, state: State, stop: Callable[[], bool]) -> CostArray:
        """A tight lower bound on the cost to each subgoal, (K,); slow.

        Args:
            state: the state.
            stop: called repeatedly; once it returns true, the bound found so far is returned.
        """


class LazySearchTree(SearchTree[State, Step]):
    """The nodes of a search over a `LazyModel`.

    Of ways that cost the same the one that rejoins the plan early is preferred when both are found, but the search does
    not look for it: with good bounds, proving that there is none would take most of the time.
    """

    model: LazyModel[State, Step]
    factor = 1.0

    def phases(self) -> Iterator[Phase]:
        """All subgoals at once, since one evaluation covers them all: first a way, then proofs and better ways."""
        yield Phase(EVERY, GREEDY_WEIGHT, until_better=True)
        yield Phase(EVERY, 1.0, 1)  # often the start's own bound is proof enough
        half = PHASE_EXPANSIONS // 2
        for weight, spend in ((2.0, half), (1.0, half), (1.5, 4 * half), (1.0, 64 * half), (1.5, 64 * half)):
            yield Phase(EVERY, weight, spend)
        yield Phase(EVERY, 1.0)

    @property
    def limit(self) -> float:
        """The cost of the incumbent, less `ROUNDING`."""
        if self.incumbent is None:
            return float("inf")
        node, subgoal = self.incumbent
        return node.cost + float(self.to_go[subgoal]) - ROUNDING

    def start_phase(self, phase: Phase) -> None:
        """Sort all open nodes again; before proofs begin, raise their bounds by the start's tight bound."""
        if phase.weight == 1.0 and self.tightened(self.root):
            for node in [entry[3] for entry in self.frontier] + self.parked:
                node.bound = np.maximum(node.bound, self.root.bound - node.cost)
        super().start_phase(phase)

    def priority(self, node: Node[State, Step]) -> tuple[float, float]:
        """Place of a node in the frontier: by its estimate in phases that look for a way, by its bound in proofs."""
        if self.phase.weight == 1.0:
            return self.value(node), -node.cost
        expected = 0.0 if node.estimate is None else self.phase.weight * node.estimate
        return float((node.cost + expected + self.to_go).min()), float(node.discrepancy.min())

    def ready(self, node: Node[State, Step]) -> bool:
        """Evaluate a node; one that is no longer the best of the frontier is put back."""
        if self.phase.weight == 1.0:
            if not self.tightened(node):
                return True
        elif node.estimated:
            return True
        else:
            node.estimate, node.estimated = self.model.estimate(node.state), True
            node.bound = np.where(np.isinf(node.estimate), np.inf, node.bound)
        self.push(node)
        if self.frontier and self.frontier[0][3] is node:
            heapq.heappop(self.frontier)
            return True
        return False

    def tightened(self, node: Node[State, Step]) -> bool:
        """Tighten the bound of a node; False if that was done before."""
        if node.tight:
            return False
        bound = self.model.tighten(node.state, lambda: self.interrupted() is not None)
        node.bound, node.tight = np.maximum(node.bound, bound), True
        return True

    def expand(self, node: Node[State, Step]) -> bool:
        """Make the successors of a node; true if one of them became the incumbent.

        In the phases that look for a way, steps that the estimate does not recommend wait until nothing better is open.
        """
        self.expansions += 1
        if node.detoured:
            return self.follow(node, self.model.detours(node.state))
        node.detoured = True
        steps = list(self.model.applicable(node.state))
        if self.phase.weight == 1.0 or not steps:
            return self.follow(node, [*steps, *self.model.detours(node.state)])
        assert node.estimate is not None
        improved = self.follow(node, steps)
        node.estimate = node.estimate + self.model.cheapest
        self.push(node)
        return improved

    def reach(self, node: Node[State, Step]) -> bool:
        """Make a node the incumbent if it is at a subgoal and nothing better is known.

        Afterwards its bound is raised to its parent's bound less the cost of the step between them.
        """
        reached = super().reach(node)
        if node.parent is not None:
            node.bound = np.maximum(node.bound, node.parent.bound - (node.cost - node.parent.cost))
        return reached

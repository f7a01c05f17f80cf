"""Search over models whose good estimates and bounds are slow to compute.

Every new state is compared with the subgoals cheaply. The slow evaluation is postponed until the state is at the head
of the frontier: an estimate in the phases that look for a way (weight above 1), a tight bound in the phases that prove
that there is no cheaper one (weight 1). Until then the state has the values of its parent. Most states never get to
the head.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from nsrecover.core.protocols import WorldModel
from nsrecover.planning.search_tree import (
    EVERY,
    GREEDY_WEIGHT,
    PHASE_EXPANSIONS,
    ROUNDING,
    CostArray,
    IndexArray,
    Node,
    SearchPhase,
    SearchTree,
    State,
    Step,
)

PATIENCE = 128
"""Expansions without any way after which the model is asked for a proof that there is none."""


@runtime_checkable
class LazyModel(WorldModel[State, Step], Protocol[State, Step]):
    """A world model with a quick and a slow evaluation of states.

    `applicable` lists the steps that the estimate recommends in a state; none before `estimate`. `detours` lists all
    other steps that can be taken.
    """

    def estimate(self, state: State) -> CostArray:
        """Estimated cost to each subgoal, (K,): too high or too low, but inf only where there is no way."""

    def tighten(self, state: State, stop: Callable[[], bool], enough: float = ...) -> CostArray:
        """A tight lower bound on the cost to each subgoal, (K,); slow.

        Args:
            state: the state.
            stop: called repeatedly; once it returns true, the bound found so far is returned.
            enough: a bound on the cost to the goal that need not be exceeded; infinite by default.
        """

    def bound_after(self, state: State, step: Step) -> CostArray:
        """What the tight bound of a state says about the state after a step, (K,): quick, and at most its tight bound.

        Args:
            state: a state that was tightened.
            step: a step that can be taken there.
        """

    @property
    def settling(self) -> int:
        """Expansions by which the first way is improved before it is announced."""

    def solvable(self) -> bool:
        """False if a proof that looks at all of the task shows that there is no way from the start; slow."""

    def sufficient(self, state: State, steps: Sequence[Step]) -> Sequence[Step]:
        """Those of all steps that can be taken in a tightened state that a search for a cheapest way has to try."""


class LazySearchTree(SearchTree[State, Step]):
    """The nodes of a search over a `LazyModel`.

    Of ways that cost the same the one that rejoins the plan early is preferred when both are found, but the search does
    not look for it: with good bounds, proving that there is none would take most of the time.
    """

    model: LazyModel[State, Step]
    factor = 1.0
    _first: int | None = None  # expansions when the first way was found
    _pending = False  # whether the incumbent is not announced yet

    def phases(self) -> Iterator[SearchPhase]:
        """All subgoals at once, since one evaluation covers them all: first a way, then proofs and better ways."""
        yield SearchPhase(EVERY, GREEDY_WEIGHT, PATIENCE, until_better=True)
        if self.incumbent is None and not self.model.solvable():
            self.frontier, self.parked = [], []  # nothing is left to be searched
            return
        yield SearchPhase(EVERY, GREEDY_WEIGHT, until_better=True)
        yield SearchPhase(EVERY, 1.0, 1)  # often the start's own bound is proof enough
        half = PHASE_EXPANSIONS // 2
        for weight, spend in ((2.0, half), (1.0, half), (1.5, 4 * half), (1.0, 64 * half), (1.5, 16 * half)):
            yield SearchPhase(EVERY, weight, spend)
        yield SearchPhase(EVERY, 1.0)

    @property
    def limit(self) -> float:
        """The cost of the incumbent, less `ROUNDING`."""
        if self.incumbent is None:
            return float("inf")
        node, subgoal = self.incumbent
        return node.cost + float(self.to_go[subgoal]) - ROUNDING

    def start_phase(self, phase: SearchPhase) -> None:
        """Sort all open nodes again; before proofs begin, raise their bounds by the start's tight bound."""
        if phase.weight == 1.0 and self.tightened(self.root):
            for node in [entry[3] for entry in self.frontier] + self.parked:
                self.raised(node, self.root.bound - node.cost)
        super().start_phase(phase)

    def value(self, node: Node[State, Step], active: IndexArray | slice = EVERY) -> float:
        """Lower bound on the cost of any way through a node to one of the subgoals, which are always all active."""
        if node.least is None:
            node.least = node.cost + float((node.bound + self.to_go).min())
        return node.least

    def priority(self, node: Node[State, Step]) -> tuple[float, float]:
        """Place of a node in the frontier: by its estimate in phases that look for a way, by its bound in proofs."""
        if self.phase.weight == 1.0:
            return self.value(node), -node.cost
        # the rest of the plan weighs as much as the way to it; else the search would restore the plan whatever it costs
        expected = self.to_go if node.estimate is None else node.estimate + self.to_go
        return node.cost + self.phase.weight * float(expected.min()), float(node.discrepancy.min())

    def ready(self, node: Node[State, Step]) -> bool:
        """Evaluate a node; one that is no longer the best of the frontier is put back."""
        if self.phase.weight == 1.0:
            if not self.tightened(node):
                return True
            if self.value(node) >= self.limit:
                return False
        elif node.estimated:
            return True
        else:
            node.estimate, node.estimated = self.model.estimate(node.state), True
            if np.isinf(node.estimate).any():
                self.raised(node, np.where(np.isinf(node.estimate), np.inf, 0.0))
        if self.frontier and self.priority(node) >= self.frontier[0][:2]:
            self.push(node)
            return False
        return self.value(node) < self.limit

    def tightened(self, node: Node[State, Step]) -> bool:
        """Tighten the bound of a node; False if that was done before."""
        if node.tight:
            return False
        node.tight = True
        enough = self.limit - node.cost
        self.raised(node, self.model.tighten(node.state, lambda: self.interrupted() is not None, enough))
        return True

    def expand(self, node: Node[State, Step]) -> bool:
        """Make the successors of a node; true if one of them became the incumbent.

        In the phases that look for a way, steps that the estimate does not recommend wait until nothing better is open.
        """
        self.expansions += 1
        self._announce()
        if node.detoured:
            return self.follow(node, self.model.detours(node.state))
        node.detoured = True
        steps = list(self.model.applicable(node.state))
        if self.phase.weight == 1.0 or not steps:
            steps = [*steps, *self.model.detours(node.state)]
            return self.follow(node, self.model.sufficient(node.state, steps) if node.tight else steps)
        assert node.estimate is not None
        improved = self.follow(node, steps)
        node.estimate = node.estimate + self.model.cheapest
        self.push(node)
        return improved

    def reach(self, node: Node[State, Step]) -> bool:
        """Make a node the incumbent if it is at a subgoal and nothing better is known; then raise its bound."""
        announce, self.on_improvement = self.on_improvement, None
        reached = super().reach(node)
        self.on_improvement = announce
        if reached:
            self._first = self.expansions if self._first is None else self._first
            self._pending = True
            self._announce()
        if node.parent is not None and node.parent.tight and node.step is not None:
            self.raised(node, self.model.bound_after(node.parent.state, node.step))
        return reached

    def _announce(self) -> None:
        """Announce the incumbent, unless it is the first one and may soon be improved."""
        if self._pending and self._first is not None and self.expansions >= self._first + self.model.settling:
            self.finish()

    def finish(self) -> None:
        """Announce the incumbent if that was not done."""
        if self._pending and self.on_improvement is not None:
            self.on_improvement(self.result(complete=False))
        self._pending = False

"""RePlan: forward search with the learned transition model to the final goal after each error.

Baseline of Kalithasan et al. (section VI): it plans over all operators and objects, as PDSketch does, with the same
discrepancy as heuristic. It knows the goal, and ignores the original plan, the implicated objects and their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core import Action, Discrepancy, FloatArray, Recovery, RecoveryStatus, SceneGraph, Trace
from nsrecover.core.geometry import CONTACT_M, as_box, bottom, footprint_overlap, intersects, top
from nsrecover.domains.tabletop.operators import OPERATORS, operator_of
from nsrecover.domains.tabletop.relations import SUPPORT_OVERLAP
from nsrecover.explanation.reasons import STOPPED
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import find_free_place, within_reach
from nsrecover.models.same_place import same_place
from nsrecover.planning.planner import MAX_EXPANSIONS
from nsrecover.planning.search import SearchResult, search

GRAIN_M = 0.005
"""States whose objects differ by less than about this are the same state."""


class ForwardStep(NamedTuple):
    """Action, number of the moved object, and its node afterwards."""

    action: Action
    moved: int
    box: FloatArray
    visual: FloatArray


class ForwardState(NamedTuple):
    """A scene and, for each object, P(as in the goal)."""

    graph: SceneGraph
    same: FloatArray


class ForwardModel:
    """`WorldModel` of all actions on all objects, with one subgoal: the last scene of the trace.

    Args:
        bundle: the learned parts.
        graph: the scene to recover from.
        goal: the last scene of the plan.
    """

    def __init__(self, bundle: Bundle, graph: SceneGraph, goal: SceneGraph) -> None:
        self._bundle = bundle
        self._goal = goal
        self._learned = [name for name in bundle.config.operators if len(OPERATORS[name].arguments) == 2]
        self.start = ForwardState(graph, same_place(bundle, goal.visual, goal.boxes, graph.visual, graph.boxes))

    def applicable(self, state: ForwardState) -> Sequence[ForwardStep]:
        """Actions whose preconditions hold and whose target is free and within reach."""
        graph = state.graph
        names = range(len(graph))
        movable = [i for i in names if within_reach(graph.boxes[i], self._bundle) and self._runs(graph, "free", i)]
        pairs = [(name, i, j) for name in self._learned for i in movable for j in names if i != j]
        pairs = [(name, i, j) for name, i, j in pairs if self._runs(graph, name, i, j)]
        steps: list[ForwardStep] = []
        if pairs:
            known = self._bundle.config.operators
            operators, moved, reference = zip(*((known.index(name), i, j) for name, i, j in pairs), strict=True)
            boxes, features = self._bundle.predict(graph.visual, graph.boxes, operators, moved, reference)
            for (name, i, j), box, visual in zip(pairs, boxes, features, strict=True):
                steps.append(ForwardStep(Action(name, (graph.names[i], graph.names[j])), i, box, visual))
        for i in movable:
            steps.append(self._to(graph, "restore", i, self._goal.boxes[i]))
            place = find_free_place(self._bundle, graph.boxes[i], graph.boxes)
            if place is not None:
                steps.append(self._to(graph, "free", i, place))
        return [step for step, possible in zip(steps, self._possible(graph, steps), strict=True) if possible]

    def detours(self, state: ForwardState) -> Sequence[ForwardStep]:
        """No detours: all actions are in `applicable`."""
        return ()

    @property
    def cheapest(self) -> float:
        """Cost of the cheapest action."""
        return 1.0

    def successors(self, state: ForwardState, steps: Sequence[ForwardStep]) -> Sequence[ForwardState]:
        """States after the steps; all moved objects are compared with the goal in one batch."""
        moved = [step.moved for step in steps]
        same = same_place(
            self._bundle,
            self._goal.visual[moved],
            self._goal.boxes[moved],
            np.stack([step.visual for step in steps]),
            np.stack([step.box for step in steps]),
        )
        states = []
        for step, value in zip(steps, same, strict=True):
            probabilities = state.same.copy()
            probabilities[step.moved] = value
            states.append(ForwardState(state.graph.with_node(step.moved, step.box, step.visual), probabilities))
        return states

    def discrepancy(self, states: Sequence[ForwardState]) -> tuple[FloatArray, FloatArray]:
        """D = N - sum of P(same) (section IV-C), and the number of misplaced objects, both (B, 1)."""
        same = np.stack([state.same for state in states])
        wrong = same < self._bundle.threshold
        return (1.0 - same).sum(axis=1, keepdims=True), wrong.sum(axis=1, keepdims=True).astype(np.float32)

    def cost(self, step: ForwardStep) -> float:
        """Cost of a step: 1."""
        return 1.0

    def key(self, state: ForwardState) -> bytes:
        """Rounded places of all objects, with their sides where room counts."""
        numbers = 3 if self._bundle.room_m is None else 6
        return np.round(state.graph.boxes[:, :numbers] / GRAIN_M).astype(np.int16).tobytes()

    def _runs(self, graph: SceneGraph, name: str, *objects: int) -> bool:
        action = Action(name, tuple(graph.names[i] for i in objects))
        return not operator_of(action).violated(graph, action)

    def _to(self, graph: SceneGraph, name: str, index: int, box: FloatArray) -> ForwardStep:
        return ForwardStep(Action(name, (graph.names[index],), as_box(box)), index, box, self._goal.visual[index])

    def _possible(self, graph: SceneGraph, steps: Sequence[ForwardStep]) -> npt.NDArray[np.bool_]:
        """Return which steps have a free, supported target within reach that is accessible from above."""
        if not steps:
            return np.zeros(0, np.bool_)
        boxes = np.stack([step.box for step in steps])
        others = np.arange(len(graph)) != np.array([[step.moved] for step in steps])
        beneath, over = bottom(boxes)[:, None], top(boxes)[:, None]
        shared = others & (footprint_overlap(boxes, graph.boxes) >= SUPPORT_OVERLAP)
        touching = (others & intersects(boxes, graph.boxes)).any(axis=1)
        covered = (shared & (bottom(graph.boxes) > over - CONTACT_M)).any(axis=1)
        carried = (shared & (np.abs(top(graph.boxes) - beneath) < CONTACT_M)).any(axis=1)
        standing = carried | (beneath[:, 0].astype(np.float64) <= CONTACT_M)
        allowed = [
            within_reach(step.box, self._bundle)
            and (step.action.target is None or not operator_of(step.action).violated(graph, step.action))
            for step in steps
        ]
        possible: npt.NDArray[np.bool_] = np.array(allowed) & ~touching & ~covered & standing
        return possible


class RePlanner:
    """Plans from the present scene to the final goal; used like `nsrecover.planning.planner.RecoveryPlanner`.

    Args:
        bundle: the learned parts.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def recover(
        self,
        graph: SceneGraph,
        trace: Trace,
        discrepancy: Discrepancy,
        budget_s: float | None = 1.0,
        max_expansions: int | None = MAX_EXPANSIONS,
        on_improvement: Callable[[Recovery], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery:
        """Plan a recovery; arguments and result as for `RecoveryPlanner.recover`.

        The goal has a place for every object, so that it cannot be reached if an object is gone.
        """
        began = time.perf_counter()
        gone = tuple(graph.names[i] for i in np.flatnonzero(graph.missing))
        if gone:
            return Recovery(RecoveryStatus.IMPOSSIBLE, note=f"the {' and the '.join(gone)} cannot be seen", blamed=gone)
        model = ForwardModel(self._bundle, graph, trace.graphs[-1])

        def finished(result: SearchResult[ForwardState, ForwardStep]) -> Recovery:
            return replace(_recovery(result, trace), seconds=time.perf_counter() - began)

        result = search(
            model,
            model.start,
            [0.0],
            max_expansions=max_expansions,
            budget_s=budget_s,
            on_improvement=None if on_improvement is None else lambda found: on_improvement(finished(found)),
            cancelled=cancelled,
        )
        return finished(result)


def _recovery(result: SearchResult[ForwardState, ForwardStep], trace: Trace) -> Recovery:
    """Its last scene is the goal itself: what is only accepted as such would be the goal of the next search."""
    if result.subgoal is None:
        stopped = result.reason_code
        note = "every reachable state was searched" if stopped is None else STOPPED[stopped]
        return Recovery(result.status, expansions=result.expansions, reason_code=stopped, note=note)
    return Recovery(
        result.status,
        tuple(step.action for step in result.path),
        (*(state.graph for state in result.states[:-1]), trace.graphs[-1]) if result.path else (),
        subgoal=len(trace.plan),
        cost=result.cost,
        proven_optimal=result.proven_optimal,
        expansions=result.expansions,
        reason_code=result.reason_code,
        note="" if result.reason_code is None else STOPPED[result.reason_code],
    )

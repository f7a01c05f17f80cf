"""What should be: the scene graph after an action, and after every step of a plan (Kalithasan et al., section IV-B)."""

from __future__ import annotations

import numpy as np

from nsrecover.models.bundle import Bundle
from nsrecover.operators import moved_object, operator_of
from nsrecover.structs import Action, Plan, SceneGraph, Trace


class Imagination:
    """Applies the learned transition model to scene graphs.

    Args:
        bundle: the learned parts.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle

    def step(self, graph: SceneGraph, action: Action) -> SceneGraph:
        """The scene after one action; only the moved object's node differs.

        Raises:
            InvalidAction: the action is not well formed.
            UnknownObject: it names an object that is not in the scene.
        """
        operator_of(action)
        moved = moved_object(graph, action)
        if action.target is not None:
            return graph.with_node(moved, action.target)
        if len(action.arguments) == 1:
            return graph.with_node(moved, self._bundle.free_box(graph.boxes[None], [moved])[0])
        box, visual = self._bundle.predict(
            graph.visual[None],
            graph.boxes[None],
            [self._bundle.config.operators.index(action.operator)],
            [moved],
            [graph.index(action.arguments[1])],
        )
        return graph.with_node(moved, box[0], visual[0])

    def trace(self, graph: SceneGraph, plan: Plan) -> Trace:
        """The scenes a plan should lead through, beginning with the given one."""
        graphs = [graph]
        for action in plan:
            graphs.append(self.step(graphs[-1], action))
        return Trace(plan, tuple(graphs))

    def rebase(self, trace: Trace, step: int, graph: SceneGraph) -> Trace:
        """Imagine the rest of a plan again from what was observed, so that prediction errors do not pile up.

        Args:
            trace: what was imagined so far.
            step: how many actions are done.
            graph: the scene observed after them, judged to be as expected.

        Returns:
            The trace with graphs `step` and later replaced. Objects that have yet to be brought back to a place that
            was imagined earlier (`restore`) keep that place, since it comes with the action.
        """
        rest = self.trace(graph, Plan(trace.plan.actions[step:]))
        return Trace(trace.plan, trace.graphs[:step] + rest.graphs)


def as_expected(bundle: Bundle, expected: SceneGraph, observed: SceneGraph) -> np.ndarray:
    """P(as expected) of every object: (N,); 0 for an object that can no longer be seen though it was expected to be.

    Args:
        bundle: the learned parts.
        expected: the imagined scene.
        observed: the seen scene, same names in the same order.
    """
    probabilities = bundle.same(expected.visual, expected.boxes, observed.visual, observed.boxes)
    return np.where(observed.seen, probabilities, 0.0).astype(np.float32)

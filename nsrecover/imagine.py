"""What should be: the scene graph after an action, and after every step of a plan (Kalithasan et al., section IV-B)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsrecover.errors import InvalidAction, InvalidCheckpoint
from nsrecover.free_place import find_free_place
from nsrecover.models.bundle import Bundle
from nsrecover.operators import moved_object, operator_of
from nsrecover.scene.geometry import as_box
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
            InvalidCheckpoint: the checkpoint was trained without this operator.
        """
        action = self.ground(graph, action)
        moved = moved_object(graph, action)
        if action.target is not None:
            return graph.with_node(moved, action.target)
        known = self._bundle.config.operators
        if action.operator not in known:
            raise InvalidCheckpoint(
                f"expected a checkpoint that has learned {action.operator!r}, found one for {', '.join(known)}; "
                "train on demonstrations that use it"
            )
        box, visual = self._bundle.predict(
            graph.visual[None],
            graph.boxes[None],
            [known.index(action.operator)],
            [moved],
            [graph.index(action.arguments[1])],
        )
        return graph.with_node(moved, box[0], visual[0])

    def ground(self, graph: SceneGraph, action: Action) -> Action:
        """Say where an action leads, if neither its operator nor its target does: `free(a)` gets a free place.

        So what is imagined and what the robot is told to do are the same.

        Raises:
            InvalidAction: the action is not well formed, or there is no free place.
        """
        if action.target is not None or len(operator_of(action).arguments) > 1:
            return action
        moved = moved_object(graph, action)
        # its own place counts as taken: it is to go elsewhere
        place = find_free_place(self._bundle, graph.boxes[moved], graph.boxes)
        if place is None:
            raise InvalidAction(f"expected room on the table for {str(action)!r}, found none; clear the table first")
        return replace(action, target=as_box(place))

    def trace(self, graph: SceneGraph, plan: Plan) -> Trace:
        """The scenes a plan should lead through, beginning with the given one; its actions are grounded."""
        graphs, actions = [graph], []
        for action in plan:
            actions.append(self.ground(graphs[-1], action))
            graphs.append(self.step(graphs[-1], actions[-1]))
        return Trace(Plan(tuple(actions)), tuple(graphs))

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
    """P(as expected) of every object: (N,); 0 for an object that is not to be seen though nothing hides its place.

    Args:
        bundle: the learned parts.
        expected: the imagined scene.
        observed: the seen scene, same names in the same order.
    """
    probabilities = bundle.same(expected.visual, expected.boxes, observed.visual, observed.boxes)
    return np.where(observed.missing, 0.0, probabilities).astype(np.float32)

"""What should be: the scene graph after an action, and after every step of a plan (Kalithasan et al., section IV-B)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import PUSH, REACHED_M, TABLETOP, has_own_effect, moved_object, reference_name
from nsrecover.domains.tabletop.relations import landed
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidAction, InvalidCheckpoint
from nsrecover.models.free_place import find_free_place
from nsrecover.models.protocols import PushOutcomes, RecoveryModels, SceneModels, Transitions
from nsrecover.models.same_place import ITSELF, same_place
from nsrecover.util.python310 import Self


class ModelAndDomain(Protocol):
    """Models and the domain that they are for."""

    @property
    def models(self) -> SceneModels:
        """Learned parts, or geometry alone."""
        ...

    @property
    def domain(self) -> SpatialDomain:
        """Has the operators."""
        ...


@dataclass(frozen=True)
class Imagination:
    """Predicts scene graphs after actions: by the learned transition model or, without one, by `PlacingOperator.place`.

    Attributes:
        models: predict where actions lead, if they have learned it, and find free places.
        domain: has the operators.
    """

    models: RecoveryModels
    domain: SpatialDomain = TABLETOP

    def with_model(self, model: ModelAndDomain) -> Self:
        """The same imagination with another model."""
        return replace(self, models=model.models, domain=model.domain)

    @property
    def _learned(self) -> tuple[str, ...]:
        """Names of the operators whose effect the models have learned."""
        return self.models.operators if isinstance(self.models, Transitions) else ()

    def step(self, graph: SceneGraph, action: Action) -> SceneGraph:
        """The scene after one action; only the moved object's node differs.

        Raises:
            InvalidAction: the action is not well formed.
            UnknownObject: it names an object that is not in the scene.
            InvalidCheckpoint: the checkpoint was trained without this operator, which does not say where it leads.
        """
        action = self.ground(graph, action)
        moved = moved_object(graph, action)
        if action.operator == PUSH.name and action.target is not None and isinstance(self.models, PushOutcomes):
            return replace(graph, boxes=self.models.pushed(graph.boxes, moved, action.target))
        if action.target is not None:
            return graph.with_node(moved, landed(graph, moved, action.target, REACHED_M))
        known = self._learned
        if isinstance(self.models, Transitions) and action.operator in known:
            box, visual = self.models.predict(
                graph.visual[None],
                graph.boxes[None],
                [known.index(action.operator)],
                [moved],
                [graph.index(reference_name(action))],
            )
            return graph.with_node(moved, box[0], visual[0])
        operator = self.domain.operator_of(action)
        if operator.place is not None:
            return graph.with_node(moved, operator.place(graph, action))
        raise InvalidCheckpoint(
            f"expected to know where {action.operator!r} leads, found it neither in the checkpoint (which has learned "
            f"{', '.join(known) or 'nothing'}) nor with the operator; train on demonstrations that use it, or give the "
            "operator a method place(graph, action)"
        )

    def ground(self, graph: SceneGraph, action: Action) -> Action:
        """The action with a target: `free(a)` gets a free place; others have a target or an operator that gives one.

        Thus the robot gets the same target that is imagined.

        Raises:
            InvalidAction: the action is not well formed, or there is no free place.
        """
        operator = self.domain.operator_of(action)
        learned = action.operator in self._learned and has_own_effect(action)
        if action.target is not None or len(operator.arguments) > 1 or operator.place is not None or learned:
            return action
        moved = moved_object(graph, action)
        # its own place counts as occupied: it has to go elsewhere
        place = find_free_place(self.models, graph.boxes[moved], graph.boxes)
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


def as_expected(
    models: RecoveryModels, expected: SceneGraph, observed: SceneGraph, itself: np.ndarray | None = None
) -> np.ndarray:
    """P(as expected) of every object: (N,); 0 for an object that is missing from a visible place.

    Args:
        models: their discriminator is used.
        expected: the imagined scene.
        observed: the seen scene, same names in the same order.
        itself: (N,) `surely_itself` of them, if it is known.
    """
    itself = surely_itself(models, expected, observed) if itself is None else itself
    probabilities = same_place(models, expected.visual, expected.boxes, observed.visual, observed.boxes)
    looks = np.where(itself[:, None], observed.visual, expected.visual)
    in_place = same_place(models, looks, expected.boxes, observed.visual, observed.boxes)
    return np.where(observed.missing, 0.0, np.maximum(probabilities, in_place)).astype(np.float32)


def surely_itself(models: RecoveryModels, expected: SceneGraph, observed: SceneGraph) -> np.ndarray:
    """Whether an object looks like itself, and not as much like any other object of the scene: (N,).

    Appearance then says which object it is, and the rest of the difference how it is turned or lit: a cube that was
    turned by 45 degrees shows other faces. The tracker has followed it by looks, place and size.
    """
    if not len(expected):
        return np.zeros(0, np.bool_)
    gate = getattr(models, "gate", None)  # geometry alone has none
    itself = _most_alike(models.learned(observed.visual), models.learned(expected.visual), ITSELF)
    return itself if gate is None else itself | _most_alike(observed.visual, expected.visual, 1.0 - gate.elsewhere)


def _most_alike(observed: np.ndarray, expected: np.ndarray, least: float) -> np.ndarray:
    """Whether features (N, D) of an object are so like its own expected ones, and less like all others."""
    likeness = observed @ expected.T
    own = likeness.diagonal().copy()
    np.fill_diagonal(likeness, -1.0)
    return np.asarray((own >= least) & (own > likeness.max(axis=1)))

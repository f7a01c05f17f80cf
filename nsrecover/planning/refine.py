"""Refinement of the moves of a search to actions that the robot can execute from the observed scene.

Objects that count as right are still some millimetres off. Objects put on or next to them follow them, so that errors
do not add up. The preconditions of every action are tested in the scene in which it will be executed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.geometry import SAME_SIZE_M, as_box, bottom, intersects, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import PUT_BACK, REACHED_M, SET_ASIDE
from nsrecover.domains.tabletop.relations import supporter
from nsrecover.models.free_place import find_free_place
from nsrecover.planning.neural_model import Move, NeuralModel, State
from nsrecover.planning.subgoals import Subgoal

NUDGES = tuple(
    sorted(product((0.0, 0.005, -0.005, 0.01, -0.01), repeat=2), key=lambda shift: shift[0] ** 2 + shift[1] ** 2)
)
"""A place is shifted by one of these along x and y, metres, nearest first, if a neighbour stands a little too near."""

CLEARANCE_M = 0.001
"""A box nearer than this to another one may come down on its edge, although it counts as next to it."""


def refine(
    model: NeuralModel, path: Sequence[Move], scene: Subgoal
) -> tuple[tuple[Action, ...], tuple[SceneGraph, ...]]:
    """Actions and the imagined scene after each of them.

    Args:
        model: the model that was searched.
        path: moves from its start.
        scene: the scene of a trace that the path leads to. A move to a place that is not right in it only gets
            an object out of the way and is called `free`, wherever the place comes from, unless that costs more.
    """
    graph, state = model.graph, model.start
    actions: list[Action] = []
    graphs: list[SceneGraph] = []
    for move in path:
        aside = Action(SET_ASIDE, (graph.names[move.owner],))
        if not model.right_place(move.place, scene) and model.action_cost(aside) <= model.cost(move):
            move = replace(move, action=aside, before=None)
        action, box = _Refinement(model, graph, state, move).refined()
        graph = graph.with_node(move.owner, box, model.places[move.place].visual)
        graph = replace(graph, held=None if graph.held == move.owner else graph.held)
        (state,) = model.successors(state, [move])
        actions.append(action)
        graphs.append(graph)
    return tuple(actions), tuple(graphs)


@dataclass(frozen=True, eq=False)
class _Refinement:
    """One move of a search, with the scene and the state before it."""

    model: NeuralModel
    graph: SceneGraph
    state: State
    move: Move

    def refined(self) -> tuple[Action, FloatArray]:
        """The action of the move, and the box (6,) where it will put the object."""
        model, graph, move, action = self.model, self.graph, self.move, self.move.action
        box = model.places[move.place].box
        if move.before is not None and action.operator not in (SET_ASIDE, PUT_BACK):
            # the prediction is relative to the reference: it moves with it
            shifted = box.copy()
            for name in action.arguments[1:2]:
                reference = graph.index(name)
                shifted[:3] += graph.boxes[reference, :3] - model.scenes[move.before].boxes[reference, :3]
            if self._can_run(action):
                # a robot that knows only the support would put down an object on another side, or askew, as it is
                turned = abs(graph.boxes[move.owner, 5] - shifted[5]) > SAME_SIZE_M
                clear = self._clear(shifted) if turned or self._grazes(shifted) else None
                return clear or (action, shifted)
        if action.operator == SET_ASIDE:
            action = replace(action, target=as_box(box))
            if self._can_run(action) and not self._grazes(box):
                return action, box
            if move.before is None:  # else the imagined place belongs to a subgoal and has to be met
                return self._elsewhere(action, box)
        box = self._rested(box)
        # at worst next to a neighbour that it may touch
        return self._clear(box) or next(self._nudged(box), (self._restore(box), box))

    def _can_run(self, action: Action) -> bool:
        return not self.model.domain.operator_of(action).violated(self.graph, action)

    def _restore(self, box: FloatArray) -> Action:
        return Action(PUT_BACK, (self.graph.names[self.move.owner],), as_box(box))

    def _grazes(self, box: FloatArray) -> bool:
        """Whether the object (6,) comes down on an edge: it almost touches another one that does not carry it."""
        owner = self.move.owner
        below = supporter(self.graph.with_node(owner, box), owner)
        others = np.delete(self.graph.boxes, [i for i in (owner, below) if i is not None], axis=0)
        return bool(intersects(box, others, -CLEARANCE_M).any())

    def _nudged(self, box: FloatArray) -> Iterator[tuple[Action, FloatArray]]:
        """`restore` to every place around (6,) at which it can be done, the nearest first."""
        for shift in NUDGES:
            nudged = box.copy()
            nudged[:2] += np.array(shift, dtype=np.float32)
            if self._can_run(action := self._restore(nudged)):
                yield action, nudged

    def _clear(self, box: FloatArray) -> tuple[Action, FloatArray] | None:
        """The nearest of them that grazes nothing, if there is one."""
        return next((found for found in self._nudged(box) if not self._grazes(found[1])), None)

    def _elsewhere(self, action: Action, box: FloatArray) -> tuple[Action, FloatArray]:
        """`free` to the free place nearest to a box (6,): a neighbour stands too near to it by now."""
        now = np.delete(self.graph.boxes, self.move.owner, axis=0)
        needed = np.reshape([place.box for place in self.model.places if place.owner != self.move.owner], (-1, 6))
        for obstacles in (np.concatenate([now, needed]), now):
            found = find_free_place(self.model.models, box, obstacles)
            if found is not None:
                return replace(action, target=as_box(found)), found
        return action, box

    def _rested(self, place: FloatArray) -> FloatArray:
        """The box (6,) of the move's place, resting exactly on what carries it there, or on the table."""
        box = place.copy()
        below = self.model.carried_by(self.move, self.state)
        if below is not None:
            carrier = self.graph.boxes[below]
            box[2] = float(top(carrier)) + box[5] / 2
            # as far aside as the carrier stands from where an imagined scene has it under the place
            for scene, imagined in self.model.scenes.items():
                offset = carrier[:2] - imagined.boxes[below, :2]
                if self.model.right_place(self.move.place, scene) and np.linalg.norm(offset) < carrier[3:5].min() / 2:
                    box[:2] += offset
                    break
        elif abs(float(bottom(box))) <= REACHED_M:
            box[2] = box[5] / 2
        return box

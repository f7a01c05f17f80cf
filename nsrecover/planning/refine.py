"""Refinement of the moves of a search to actions that the robot can execute from the observed scene.

Objects that count as right are still some millimetres off. Objects put on or next to them follow them, so that errors
do not add up. The preconditions of every action are tested in the scene in which it will be executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.geometry import SAME_SIZE_M, as_box, bottom, intersects, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import supporter
from nsrecover.domains.tabletop.spatial import SpatialDomain
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
            an object out of the way and is called `free`, wherever the place comes from.
    """
    graph, state = model.graph, model.start
    actions: list[Action] = []
    graphs: list[SceneGraph] = []
    for move in path:
        if not model.right_place(move.place, scene):
            box = model.places[move.place].box
            move = replace(move, action=Action("free", (graph.names[move.owner],), as_box(box)), before=None)
        action, box = _action_of(model, graph, state, move)
        graph = graph.with_node(move.owner, box, model.places[move.place].visual)
        graph = replace(graph, held=None if graph.held == move.owner else graph.held)
        (state,) = model.successors(state, [move])
        actions.append(action)
        graphs.append(graph)
    return tuple(actions), tuple(graphs)


def _action_of(model: NeuralModel, graph: SceneGraph, state: State, move: Move) -> tuple[Action, FloatArray]:
    """The action of one move, from the scene and the state before it, and where it will put the object."""
    box = model.places[move.place].box
    if move.before is not None and move.action.operator not in ("free", "restore"):
        # the prediction is relative to the reference: it moves with it
        shifted = box.copy()
        before = model.scenes[move.before]
        for name in move.action.arguments[1:2]:
            reference = graph.index(name)
            shifted[:3] += graph.boxes[reference, :3] - before.boxes[reference, :3]
        if not model.domain.operator_of(move.action).violated(graph, move.action):
            exactly = _grazes(graph, move.owner, shifted) or _on_another_side(graph.boxes[move.owner], shifted)
            restored = _restored(model.domain, graph, move.owner, shifted) if exactly else None
            return restored or (move.action, shifted)
    if move.action.operator == "free":
        if move.before is None:
            return _free(model, graph, move)
        # an action of the plan: its imagined place belongs to a subgoal and has to be met
        action = replace(move.action, target=as_box(box))
        if not model.domain.operator_of(action).violated(graph, action) and not _grazes(graph, move.owner, box):
            return action, box
    return _restore(model, graph, state, move)


def _on_another_side(box: FloatArray, goal: FloatArray) -> bool:
    """Whether an object (6,) is higher or lower than at its goal (6,): it stands on another side, or askew.

    A robot that knows only the support would put it down as it is.
    """
    return bool(abs(box[5] - goal[5]) > SAME_SIZE_M)


def _grazes(graph: SceneGraph, owner: int, box: FloatArray) -> bool:
    """Whether an object (6,) comes down on an edge: it almost touches another one that does not carry it."""
    placed = graph.with_node(owner, box)
    others = np.ones(len(graph), dtype=np.bool_)
    others[[i for i in (owner, supporter(placed, owner)) if i is not None]] = False
    return bool(intersects(box, graph.boxes[others], -CLEARANCE_M).any())


def _nudged(
    domain: SpatialDomain, graph: SceneGraph, owner: int, box: FloatArray
) -> Iterator[tuple[Action, FloatArray]]:
    """`restore` to every place around (6,) at which it can be done, the nearest first."""
    for shift in NUDGES:
        nudged = box.copy()
        nudged[:2] += np.array(shift, dtype=np.float32)
        action = Action("restore", (graph.names[owner],), as_box(nudged))
        if not domain.operator_of(action).violated(graph, action):
            yield action, nudged


def _restored(
    domain: SpatialDomain, graph: SceneGraph, owner: int, box: FloatArray
) -> tuple[Action, FloatArray] | None:
    """The nearest of them that grazes nothing, if there is one."""
    return next((found for found in _nudged(domain, graph, owner, box) if not _grazes(graph, owner, found[1])), None)


def _free(model: NeuralModel, graph: SceneGraph, move: Move) -> tuple[Action, FloatArray]:
    """`free` to the place, or to the nearest one that is free if a neighbour stands too near to it by now."""
    box = model.places[move.place].box
    action = replace(move.action, target=as_box(box))
    if not model.domain.operator_of(action).violated(graph, action) and not _grazes(graph, move.owner, box):
        return action, box
    now = np.delete(graph.boxes, move.owner, axis=0)
    needed = np.reshape([place.box for place in model.places if place.owner != move.owner], (-1, 6))
    for obstacles in (np.concatenate([now, needed]), now):
        found = find_free_place(model.models, box, obstacles)
        if found is not None:
            return replace(action, target=as_box(found)), found
    return action, box


def _restore(model: NeuralModel, graph: SceneGraph, state: State, move: Move) -> tuple[Action, FloatArray]:
    """`restore` to the place, resting exactly on what carries it there."""
    box = _rested(model, graph, state, move, model.places[move.place].box)
    clear = _restored(model.domain, graph, move.owner, box)
    if clear is not None:
        return clear
    as_meant = Action("restore", (graph.names[move.owner],), as_box(box)), box
    return next(
        _nudged(model.domain, graph, move.owner, box), as_meant
    )  # at worst next to a neighbour that it may touch


def _rested(model: NeuralModel, graph: SceneGraph, state: State, move: Move, place: FloatArray) -> FloatArray:
    """The box (6,) of a move's place, resting exactly on what carries it there, or on the table."""
    box = place.copy()
    below = model.carried_by(move, state)
    if below is not None:
        box[2] = float(top(graph.boxes[below])) + box[5] / 2
        box[:2] += _slip(model, graph, move, below)
    elif abs(float(bottom(box))) <= REACHED_M:
        box[2] = box[5] / 2
    return box


def _slip(model: NeuralModel, graph: SceneGraph, move: Move, below: int) -> FloatArray:
    """How far, in x and y, the carrier stands from where an imagined scene has it under the moved object's place."""
    for scene, imagined in model.scenes.items():
        if model.right_place(move.place, scene):
            offset = graph.boxes[below, :2] - imagined.boxes[below, :2]
            if np.linalg.norm(offset) < graph.boxes[below, 3:5].min() / 2:
                return np.asarray(offset, dtype=np.float32)
    return np.zeros(2, dtype=np.float32)

"""From the moves of many searches to actions that the robots can carry out: `realise` for all of them, step by step.

The usual case, an action whose preconditions hold where the search left the object, is worked out for all searches
together; what needs a second thought is left to `nsrecover.planning.refine`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.geometry import CONTACT_M, as_box, bottom, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import OPERATORS
from nsrecover.domains.tabletop.relations import DIRECTIONS, NEAR_M, SUPPORT_OVERLAP, Relation
from nsrecover.planning.neural_model import Move, State
from nsrecover.planning.packed import PackedModel
from nsrecover.planning.places import BoolArray, meeting, shared_footprint
from nsrecover.planning.refine import CLEARANCE_M, another_height, realised, rested

FAR_M = 1e3
"""Where the padding stands: in nobody's way."""

Way = tuple[tuple[Action, ...], tuple[SceneGraph, ...]]
"""Actions and the imagined scene after each of them."""


@dataclass(eq=False)
class _Course:
    """One answer under way.

    Attributes:
        model: what was searched.
        path: the moves.
        scene: number of the imagined scene that they lead to.
        graph: the scene by now.
        state: the state of the search by now.
        actions: what has been done.
        graphs: the scene after each of them.
    """

    model: PackedModel
    path: Sequence[Move]
    scene: int
    graph: SceneGraph
    state: State
    actions: list[Action]
    graphs: list[SceneGraph]


def realise_together(answers: Sequence[tuple[PackedModel, Sequence[Move], int]]) -> list[Way]:
    """What `nsrecover.planning.refine.realise` gives for each model, path and number of a scene."""
    courses = [_Course(model, path, scene, model.graph, model.start, [], []) for model, path, scene in answers]
    size = max((len(course.graph) for course in courses), default=0)
    now = np.zeros((len(courses), size, 6), dtype=np.float32)
    now[..., :3] = FAR_M
    for row, course in enumerate(courses):
        now[row, : len(course.graph)] = course.graph.boxes
    for step in range(max((len(course.path) for course in courses), default=0)):
        rows = [row for row, course in enumerate(courses) if step < len(course.path)]
        chosen = [courses[row] for row in rows]
        moves = [_renamed(course, course.path[step]) for course in chosen]
        goals = np.stack([_goal(course, move) for course, move in zip(chosen, moves, strict=True)])
        hindered = _hindered(now[rows], goals, moves, [course.graph for course in chosen])
        for course, move, goal, row, bad in zip(chosen, moves, goals, rows, hindered.tolist(), strict=True):
            if bad:
                action, box = realised(course.model, course.graph, course.state, move)
            else:
                action, box = move.action, goal
                if not _relative(move):
                    action = replace(action, target=as_box(box))
            now[row, move.owner] = box
            _advance(course, move, action, box)
    return [(tuple(course.actions), tuple(course.graphs)) for course in courses]


def _relative(move: Move) -> bool:
    """Whether the action says where to, relative to another object."""
    return move.before is not None and move.action.operator not in ("free", "restore")


def _renamed(course: _Course, move: Move) -> Move:
    """The move, as `free` if it only gets an object out of the way."""
    if course.model.tables.right[move.place, course.scene]:
        return move
    return Move(move.owner, move.place, Action("free", (course.graph.names[move.owner],)))


def _goal(course: _Course, move: Move) -> FloatArray:
    """Where the object is to be put, before anything is in the way there."""
    model, boxes = course.model, course.graph.boxes
    box: FloatArray = model.tables.boxes[move.place].copy()
    if move.before is not None and _relative(move):
        # the prediction is relative to the reference: it moves with it
        for name in move.action.arguments[1:2]:
            reference = course.graph.index(name)
            box[:3] += boxes[reference, :3] - model.scenes[move.before].boxes[reference, :3]
    elif move.action.operator == "restore":
        box = rested(model, course.graph, course.state, move, box)
    return box


def _hindered(now: FloatArray, goals: FloatArray, moves: Sequence[Move], graphs: Sequence[SceneGraph]) -> BoolArray:
    """Whether a precondition of each action is violated, as its operator would say: (M,) for scenes now (M, N, 6)."""
    rows = np.arange(len(moves))
    moved = np.array([move.owner for move in moves])
    others = np.ones(now.shape[:2], dtype=np.bool_)
    others[rows, moved] = False
    hindered = np.any(meeting(now, now[rows, moved][:, None])[2] & others, axis=1)
    to_target = np.array([not _relative(move) for move in moves])
    clash, _, rests = meeting(goals[:, None], now)
    hindered |= to_target & np.any(clash & others, axis=1)
    hindered |= to_target & (bottom(goals) > CONTACT_M) & ~np.any(rests & others, axis=1)
    hindered |= _grazing(now, goals, others)
    hindered |= ~to_target & another_height(now[rows, moved], goals)
    named = np.flatnonzero(~to_target).tolist()
    if len(named):
        hindered[named] |= _taken(now[named], others[named], [moves[i] for i in named], [graphs[i] for i in named])
    return np.asarray(hindered)


def _grazing(now: FloatArray, goals: FloatArray, others: BoolArray) -> BoolArray:
    """Whether each object comes down on an edge at its goal (M, 6), as `nsrecover.planning.refine` means it: (M,)."""
    goal = goals[:, None]
    gaps = [np.abs(goal[..., i] - now[..., i]) - (goal[..., 3 + i] + now[..., 3 + i]) / 2 for i in range(3)]
    near = (gaps[0] < CLEARANCE_M) & (gaps[1] < CLEARANCE_M) & (gaps[2] < CLEARANCE_M) & others
    touching = (np.abs(top(now) - bottom(goal)) < CONTACT_M) & others
    share = np.where(touching, shared_footprint(goal, now, gaps), 0.0)
    rows, best = np.arange(len(goals)), share.argmax(axis=1)
    near[rows, best] &= share[rows, best] < SUPPORT_OVERLAP  # not what it rests on
    return np.asarray(near.any(axis=1))


def _taken(
    now: FloatArray, others: BoolArray, moves: Sequence[Move], graphs: Sequence[SceneGraph]
) -> npt.NDArray[np.bool_]:
    """Whether something already is where each action of a plan puts its object relative to its reference: (M,)."""
    rows = np.arange(len(moves))
    taken = np.ones(len(moves), dtype=np.bool_)  # operators that are not known here are left to their own judgement
    reference = np.zeros(len(moves), dtype=np.intp)
    axis, sign = np.zeros(len(moves), dtype=np.intp), np.zeros(len(moves), dtype=np.float32)
    stacking = np.zeros(len(moves), dtype=np.bool_)
    for row, (move, graph) in enumerate(zip(moves, graphs, strict=True)):
        operator = OPERATORS.get(move.action.operator)
        if operator is not None and operator.source is None and len(operator.parameters) == 2:
            reference[row], taken[row] = graph.index(move.action.arguments[1]), False
            if operator.name in DIRECTIONS:
                axis[row], sign[row] = DIRECTIONS[Relation(operator.name)]
            else:
                stacking[row] = True
    third = others.copy()
    third[rows, reference] = False
    base = now[rows, reference][:, None]
    taken |= stacking & np.any(meeting(now, base)[2] & third, axis=1)
    offset = np.take_along_axis(now[..., :2] - base[..., :2], axis[:, None, None], axis=2)[..., 0]
    gaps = np.abs(now[..., :2] - base[..., :2]) - (now[..., 3:5] + base[..., 3:5]) / 2
    along = np.take_along_axis(gaps, axis[:, None, None], axis=2)[..., 0]
    across = np.take_along_axis(gaps, 1 - axis[:, None, None], axis=2)[..., 0]
    level = np.abs(bottom(now) - bottom(base)) < 2 * CONTACT_M
    beside = (offset * sign[:, None] > 0) & (across < 0) & level & (along > -CONTACT_M) & (along < NEAR_M)
    taken |= ~stacking & np.any(beside & third, axis=1)
    return taken


def _advance(course: _Course, move: Move, action: Action, box: FloatArray) -> None:
    """Carry an action out in imagination."""
    graph = course.graph
    boxes, visual = graph.boxes.copy(), graph.visual.copy()
    boxes[move.owner], visual[move.owner] = box, course.model.tables.visual[move.place]
    held = None if graph.held == move.owner else graph.held
    course.graph = SceneGraph(graph.names, visual, boxes, graph.seen, graph.occluded, held, graph.states)
    course.state = course.state.moved(move.owner, move.place)
    course.actions.append(action)
    course.graphs.append(course.graph)

"""Places of objects: where an action puts its object, according to the arm's estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.core import Action, SceneGraph
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.domains.tabletop.relations import DIRECTIONS, Relation
from sim.common.rotations import axis_aligned, leveled, matrix_of, rotation_about, tilt_angle, upright_axis
from sim.common.rounding import rounded
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]

GAP_M = 0.03
"""Gap between two objects that are placed next to each other."""

MAX_TILT_RAD = math.radians(60.0)
"""Maximum tilt of a held object."""
TIPPING_RAD = math.radians(15.0)
"""An object that is to topple is tilted this much beyond its point of balance."""
OTHER_FACE_M = 0.012
"""An object whose height differs more than this from its target's has to be turned over."""
APART_M = 0.08
"""Minimum distance between two free places that are tried."""
REACH_M = 0.77
"""Maximum distance from the arm's base at which it can place an object."""


def extents(matrix: Array, size: Array) -> Array:
    """Sides (3,) of the axis-aligned box around an object of a rotation (3, 3) and a size (3,)."""
    return rounded(np.abs(matrix) @ size)


def boxes(estimates: PoseEstimates) -> Array:
    """Axis-aligned boxes of all objects, (N, 6): centres and sides."""
    bounds = [
        _bounds(estimates, name, matrix_of(q)) for name, q in zip(estimates.names, estimates.orientations, strict=True)
    ]
    shifts, sides = (np.array(part).reshape(-1, 3) for part in (zip(*bounds, strict=True) if bounds else ((), ())))
    return np.concatenate([estimates.positions + shifts, sides], axis=1)


def _bounds(estimates: PoseEstimates, name: str, rotation: Array) -> tuple[Array, Array]:
    """Box around an object in a rotation (3, 3): its centre (3,), from the object's position, and its sides (3,)."""
    outline = estimates.outlines.get(name)
    if outline is None:
        return np.zeros(3), extents(rotation, estimates.sizes[estimates.index(name)])
    points = rounded(outline @ rotation.T)
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2, high - low


def true_graph(estimates: PoseEstimates) -> SceneGraph:
    """A scene graph with the true boxes and no appearance, for judging relations."""
    exact = boxes(estimates).astype(np.float32)
    count = len(estimates.names)
    return SceneGraph(estimates.names, np.zeros((count, 0), np.float32), exact, np.ones(count, bool))


def _floor_under(centre: Array, sides: Array, others: Array) -> float:
    """Height of the highest surface below a box (centre and sides, (3,)): the table or one of other boxes (M, 6)."""
    inside = np.all(np.abs(others[:, :2] - centre[:2]) < (others[:, 3:5] + sides[:2]) / 2 - 0.004, axis=1)
    tops = others[:, 2] + others[:, 5] / 2
    below = inside & (tops < centre[2] - sides[2] / 2 + 0.02)
    return float(max([0.0, *tops[below]]))


def _turned_to(matrix: Array, size: Array, sides: Array, keep_yaw: bool = False) -> Array:
    """The axis-aligned rotation whose box has the given sides (3,), with the smallest turn; or the yaw that it has.

    A leaning object is placed on the face that gives these sides. An object that stands on another face is toppled if
    its height is wrong and it can be toppled.
    """
    faces = [axis_aligned(matrix, axis) for axis in range(3)]
    faces = [
        flat for flat in faces if not needs_toppling(matrix, flat) or toppling_tilt(matrix, size, flat) is not None
    ]
    options = [rotation_about((0.0, 0.0, 1.0), k * math.pi / 2) @ flat for flat in faces for k in (0, 1, -1, 2)]
    if keep_yaw:
        options.append(leveled(matrix))
    # only clear differences count: a measured target has an error of a few millimetres
    misfits = [rounded(np.abs(extents(option, size) - sides)) for option in options]
    heights = [round(float(misfit[2]) / 0.012) for misfit in misfits]
    far = [needs_toppling(matrix, option) for option in options]
    widths = [round(float(misfit[:2].sum()) / 0.012) for misfit in misfits]
    turns = [
        float(rounded(math.acos(min(1.0, max(-1.0, (float(np.trace(option @ matrix.T)) - 1) / 2))), 6))
        for option in options
    ]
    return options[min(range(len(options)), key=lambda i: (heights[i], far[i], widths[i], turns[i]))]


def needs_toppling(matrix: Array, rotation: Array) -> bool:
    """Whether the hand cannot tilt an object far enough to turn it from one rotation (3, 3) to another."""
    return tilt_angle(matrix, upright_axis(rotation)[0]) > MAX_TILT_RAD


def toppling_tilt(matrix: Array, size: Array, rotation: Array) -> tuple[Array, Array] | None:
    """The tilt from which a released object falls onto another face.

    Args:
        matrix: its rotation, (3, 3).
        size: its sides, (3,).
        rotation: its rotation after the fall, (3, 3).

    Returns:
        Its tilted rotation (3, 3), and the horizontal axis (3,) of the tilt; None if the hand cannot tilt it so far,
        because it is wider than high.
    """
    up, lying = upright_axis(matrix)[0], upright_axis(rotation)[0]
    angle = math.atan2(size[lying], size[up]) + TIPPING_RAD
    if up == lying or angle > MAX_TILT_RAD:
        return None
    flat = leveled(matrix, up)
    axis = flat[:, 3 - up - lying]
    return rotation_about(axis, angle) @ flat, axis


def free_places(estimates: PoseEstimates, name: str, sides: Array) -> Iterator[Array]:
    """Free places for an object on the table, the nearest first.

    Args:
        estimates: of all objects.
        name: the object.
        sides: of its box when placed, (3,).

    Yields:
        x and y, (2,), at a distance from the places before; nothing if the table is full.
    """
    row = estimates.index(name)
    start = estimates.positions[row, :2]
    others = np.delete(boxes(estimates), row, axis=0)
    x, y = np.meshgrid(
        *(np.arange(low + 0.03, high - 0.03, 0.015) for low, high in (estimates.table.x_m, estimates.table.y_m))
    )
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    places = places[np.linalg.norm(places, axis=1) < REACH_M - 0.02]
    gap = np.abs(places[:, None] - others[None, :, :2]) - (others[None, :, 3:5] + sides[:2]) / 2
    room = gap.max(axis=2).min(axis=1, initial=np.inf)
    distance = np.linalg.norm(places - start, axis=1)
    for least in (0.06, 0.045, GAP_M):
        left = room > least
        if not left.any():
            continue
        while left.any():
            nearest = places[int(np.where(left, distance, np.inf).argmin())]
            yield nearest
            left &= np.linalg.norm(places - nearest, axis=1) > APART_M
        return


def place_for(action: Action, estimates: PoseEstimates) -> tuple[Array, Array] | None:
    """The place where an action puts its object: a box parallel to the axes, anything else at the yaw that it has.

    Args:
        action: a well-formed action whose arguments are all among the estimates.
        estimates: of all objects.

    Returns:
        Centre (3,) and rotation (3, 3) of the placed object; None if there is no free place.
    """
    name, row = action.arguments[0], estimates.index(action.arguments[0])
    own = operator_of(action).place
    if len(action.arguments) == 1 and action.target is None and own is not None:
        action = replace(action, target=own(true_graph(estimates), action))
    matrix, size = matrix_of(estimates.orientations[row]), estimates.sizes[row]
    shaped = name in estimates.outlines
    rotation = leveled(matrix) if shaped or estimates.keep_yaw else axis_aligned(matrix)
    if action.target is not None:
        target = np.asarray(action.target, dtype=np.float64)
        if not shaped or abs(_bounds(estimates, name, rotation)[1][2] - target[5]) > OTHER_FACE_M:
            rotation = _turned_to(matrix, size, target[3:], estimates.keep_yaw)
    shift, sides = _bounds(estimates, name, rotation)
    centre = _centre_for(action, estimates, sides)
    return None if centre is None else (centre - shift, rotation)


def _centre_for(action: Action, estimates: PoseEstimates, sides: Array) -> Array | None:
    """Centre (3,) of the box with some sides (3,) that an action puts down; None if there is no free place."""
    row = estimates.index(action.arguments[0])
    others = np.delete(boxes(estimates), row, axis=0)
    if action.target is not None:
        target = np.asarray(action.target, dtype=np.float64)
        centre: Array = np.array([*target[:2], target[2] - target[5] / 2 + sides[2] / 2])
        floor = _floor_under(centre, sides, others)
        # a target's height is measured to a few millimetres; the support's height is more exact
        if abs(floor - (centre[2] - sides[2] / 2)) < 0.02:
            centre[2] = floor + sides[2] / 2
        return centre
    if len(action.arguments) == 1:
        place = next(free_places(estimates, action.arguments[0], sides), None)
        return None if place is None else np.array([*place, sides[2] / 2])
    reference: Array = boxes(estimates)[estimates.index(action.arguments[1])]
    centre = reference[:3].copy()
    if action.operator == "top":
        centre[2] += (reference[5] + sides[2]) / 2
        return np.asarray(centre)
    axis, sign = DIRECTIONS[Relation(action.operator)]
    centre[axis] += sign * ((reference[3 + axis] + sides[axis]) / 2 + GAP_M)
    centre[2] += (sides[2] - reference[5]) / 2
    floor = _floor_under(centre, sides, others)
    if abs(floor - (centre[2] - sides[2] / 2)) < 0.02:
        centre[2] = floor + sides[2] / 2
    return np.asarray(centre)

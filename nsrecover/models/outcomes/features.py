"""What the network sees of every object: shapes, distances, contacts and rigid propagation, as numbers.

Every number is even or odd under a reflection at the line of the push, so that a scene also teaches its mirror image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.models.outcomes.rigid import POINTS, in_action_frame, normals, outline_gaps, rigid_outcomes
from nsrecover.models.outcomes.scene import (
    APPROACH_M,
    FINGER_M,
    OPERATORS,
    Array,
    ContactAction,
    ContactScene,
    Shape,
)

NEIGHBOURS = 2
"""Nearest objects that are described beside each one."""
TARGET = len(Shape)
"""Index of the number that says whether an object is the target."""
_FAR_M = 0.3
"""Gap that stands for no neighbour."""
_TURNS = 2 * np.pi * np.arange(POINTS) / POINTS
_FINGERS = FINGER_M * np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1)
_EVEN, _ODD = 1.0, -1.0


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """Numbers for N objects.

    Attributes:
        values: (N, F).
        prior: (N, 3) displacement by rigid propagation in the axes of the action, metres.
        boxes: (N, 6) centre and half-extents along the axes of the action, metres.
        rolls: (N,) whether an object is known to roll.
        fixed: (N,) whether it cannot move.
    """

    values: FloatArray
    prior: FloatArray
    boxes: FloatArray
    rolls: npt.NDArray[np.bool_]
    fixed: npt.NDArray[np.bool_]


def node_features(scene: ContactScene, action: ContactAction) -> NodeFeatures:
    """The numbers of every object before an action."""
    columns, extents, rigid = _columns(scene, action)
    values = np.concatenate([column for column, _ in columns], axis=1).astype(np.float32)
    middles = action.to_action(scene.centres - [*action.start, 0.0])
    boxes = np.concatenate([middles, extents, scene.sizes[:, 2:] / 2], axis=1).astype(np.float32)
    rolls = np.isin(scene.shapes, (Shape.LYING, Shape.BALL))
    return NodeFeatures(values, rigid[-1].astype(np.float32), boxes, rolls, scene.shapes == Shape.BIN)


def parity() -> FloatArray:
    """(F,) the sign of every number in the mirror image of a scene."""
    one = ContactScene(np.zeros(1, np.int64), np.zeros((1, 3)), np.full((1, 3), 0.05), np.zeros(1))
    columns = _columns(one, ContactAction("push", 0, np.array([-0.05, 0.0]), np.array([1.0, 0.0]), 0.05))[0]
    return np.concatenate([signs for _, signs in columns]).astype(np.float32)


def _columns(scene: ContactScene, action: ContactAction) -> tuple[list[tuple[Array, Array]], Array, Array]:
    """Blocks (N, f) of numbers with their parity (f,), the half-extents (N, 2), and rigid propagation (2, N, 3)."""
    count, target = len(scene), action.target
    shapes = in_action_frame(scene, action)
    rigid = rigid_outcomes(scene, action)
    middles = action.to_action(scene.centres - [*action.start, 0.0])
    extents = np.ptp(shapes, axis=1) / 2
    gaps, ways = _all_gaps(shapes)
    finger_gaps, finger_ways = outline_gaps(_FINGERS, shapes)
    turn = np.where(np.isin(scene.shapes, (Shape.STANDING, Shape.BALL)), 0.0, 2.0)
    yaws = scene.yaws - np.arctan2(action.direction[1], action.direction[0])
    own, chosen = np.eye(len(Shape))[scene.shapes], np.zeros((count, 1))
    chosen[target] = 1.0
    travel = APPROACH_M + action.distance
    height = np.array([action.distance if action.operator == "drop_into" else 0.0])
    ahead = middles[:, 0] - extents[:, 0]
    columns = [
        _even(own),
        _even(chosen),
        _even(np.tile(np.eye(len(OPERATORS))[OPERATORS.index(action.operator)], (count, 1))),
        _even(np.tile(own[target], (count, 1))),
        _even(10 * middles[:, [0, 2]]),
        _odd(10 * middles[:, 1:2]),
        _even(10 * np.abs(middles[:, 1:2])),
        _even(20 * extents),
        _even(20 * scene.sizes),
        _even(np.tile(20 * scene.sizes[target], (count, 1))),
        _even((turn > 0)[:, None] * np.cos(turn * yaws)[:, None]),
        _odd((turn > 0)[:, None] * np.sin(turn * yaws)[:, None]),
        _even(np.tile(10 * np.array([action.distance, height[0]]), (count, 1))),
        _even(10 * (ahead - travel)[:, None]),
        _even(20 * (np.abs(middles[:, 1]) - extents[:, 1])[:, None]),
        *_pair(middles - middles[target], gaps[target], ways[target]),
        *_pair(middles, finger_gaps, finger_ways),
        *_neighbours(middles, gaps, ways, rigid[-1]),
        *(block for each in rigid for block in (_even(20 * each[:, [0, 2]]), _odd(20 * each[:, 1:2]))),
        *(
            block
            for each in rigid
            for block in (
                _even(np.tile(20 * each[target, :1], (count, 1))),
                _odd(np.tile(20 * each[target, 1:2], (count, 1))),
            )
        ),
        _even(np.tile([count / 8, (np.linalg.norm(rigid[0], axis=1) > 0.005).sum() / 4], (count, 1))),
        _even(((gaps < 0.01).sum(axis=1) - 1)[:, None] / 3.0),
        *_bin(scene, middles, extents),
    ]
    return columns, extents, rigid


def _even(block: Array) -> tuple[Array, Array]:
    return block, np.full(block.shape[1], _EVEN)


def _odd(block: Array) -> tuple[Array, Array]:
    return block, np.full(block.shape[1], _ODD)


def _pair(away: Array, gaps: Array, ways: Array) -> list[tuple[Array, Array]]:
    """Where something is, how near, and in which direction it touches."""
    near = np.clip(gaps, -0.05, _FAR_M)
    closeness = np.stack(
        [10 * near, np.exp(-np.maximum(near, 0.0) / 0.006), np.exp(-np.maximum(near, 0.0) / 0.02)], axis=1
    )
    return [_even(10 * away[:, :1]), _odd(10 * away[:, 1:2]), _even(closeness), _even(ways[:, :1]), _odd(ways[:, 1:2])]


def _neighbours(middles: Array, gaps: Array, ways: Array, rigid: Array) -> list[tuple[Array, Array]]:
    """The nearest objects, and how far rigid propagation moves them."""
    found = []
    order = np.argsort(gaps + 1e3 * np.eye(len(gaps)), axis=1)
    rows = np.arange(len(gaps))
    for k in range(NEIGHBOURS):
        if k + 1 < len(gaps):
            near = order[:, k]
            found += _pair(middles[near] - middles, gaps[rows, near], ways[rows, near])
            found.append(_even(20 * np.linalg.norm(rigid[near], axis=1)[:, None]))
        else:
            nothing = np.zeros((len(gaps), 3))
            found += _pair(nothing, np.full(len(gaps), _FAR_M), nothing[:, :2])
            found.append(_even(nothing[:, :1]))
    return found


def _bin(scene: ContactScene, middles: Array, extents: Array) -> list[tuple[Array, Array]]:
    """Distances to the walls of the bin; zeros without one."""
    bins = np.flatnonzero(scene.shapes == Shape.BIN)
    if not len(bins):
        return [_even(np.zeros((len(scene), 4))), _odd(np.zeros((len(scene), 1)))]
    away = middles - middles[bins[0]]
    room = extents[bins[0]] - np.abs(away[:, :2])
    inside = (room > 0).all(axis=1)
    return [
        _even(np.column_stack([10 * room, inside, np.full(len(scene), inside.sum() / 4)])),
        _odd(10 * away[:, 1:2]),
    ]


def _all_gaps(shapes: Array) -> tuple[Array, Array]:
    """Gaps (N, N) between all outlines and normals (N, N, 2) from the first to the second."""
    out = normals(shapes)
    found = [outline_gaps(shape, shapes, out[i], out) for i, shape in enumerate(shapes)]
    own = np.arange(len(shapes))
    gaps, ways = np.array([gaps for gaps, _ in found]), np.array([ways for _, ways in found])
    gaps[own, own], ways[own, own] = 0.0, 0.0
    return gaps, ways

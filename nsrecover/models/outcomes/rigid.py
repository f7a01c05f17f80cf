"""Rigid propagation: what touches moves what it touches, without masses or friction. The prior of the network."""

from __future__ import annotations

import math

import numpy as np

from nsrecover.models.outcomes.scene import APPROACH_M, FINGER_M, Array, ContactAction, ContactScene, Shape

STEP_M = 0.005
"""Step of the fingers in the propagation."""
POINTS = 16
"""Points of an outline; a rectangle has some on its edges."""
FLOOR_M = 0.006
"""Thickness of the floor of a bin."""
_MOST_CONTACTS = 30
_TURNS = 2 * math.pi * np.arange(POINTS) / POINTS
_CIRCLE = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=1) / 2
_CORNERS = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) / 2
_ALONG = np.arange(POINTS // 4)[:, None] / (POINTS // 4)
_RECTANGLE = np.concatenate(
    [one + _ALONG * (other - one) for one, other in zip(_CORNERS, np.roll(_CORNERS, -1, axis=0), strict=True)]
)
BLENDS = (0.0, 0.5)
"""Directions in which contact pushes, see `propagated`; the last one is the prior."""


def outlines(scene: ContactScene) -> Array:
    """The convex outlines (N, POINTS, 2) of all objects from above, counter-clockwise, metres."""
    is_round = np.isin(scene.shapes, (Shape.STANDING, Shape.BALL))
    local = np.where(is_round[:, None, None], _CIRCLE, _RECTANGLE) * scene.sizes[:, None, :2]
    turns = np.where(is_round, 0.0, scene.yaws)
    cos, sin = np.cos(turns)[:, None], np.sin(turns)[:, None]
    x, y = local[..., 0], local[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1) + scene.centres[:, None, :2]


def normals(outline: Array) -> Array:
    """Outward unit normals (..., POINTS, 2) of the edges of counter-clockwise outlines."""
    edges = np.roll(outline, -1, axis=-2) - outline
    out = np.stack([edges[..., 1], -edges[..., 0]], axis=-1)
    return np.asarray(out / np.linalg.norm(out, axis=-1, keepdims=True))


def outline_gaps(one: Array, others: Array, out: Array | None = None, outs: Array | None = None) -> tuple[Array, Array]:
    """Gaps between a convex outline and others (negative: depth of the overlap), and unit normals towards them.

    Args:
        one: (POINTS, 2) metres.
        others: (M, POINTS, 2) metres.
        out: normals of the one, if they are known.
        outs: normals of the others, if they are known.

    Returns:
        Gaps (M,) and normals (M, 2).
    """
    first = normals(one) if out is None else out
    second = normals(others) if outs is None else outs
    ahead = (others @ first.T).min(axis=1) - (one @ first.T).max(axis=0)
    back = (second @ one.T).min(axis=2) - (second @ others.transpose(0, 2, 1)).max(axis=2)
    i, j, rows = ahead.argmax(axis=1), back.argmax(axis=1), np.arange(len(others))
    larger = ahead[rows, i] >= back[rows, j]
    return np.where(larger, ahead[rows, i], back[rows, j]), np.where(larger[:, None], first[i], -second[rows, j])


def propagated(outlines_: Array, travel: float, blend: float) -> Array:
    """Displacements (N, 2) of objects that fingers push along +x from the origin, and of those they push in turn.

    Args:
        outlines_: (N, POINTS, 2) in the frame of the fingers.
        travel: how far the fingers go, metres.
        blend: what is touched moves along x (0), along the normal of the contact (1), or in between.
    """
    shapes = np.concatenate([_CIRCLE[None] * 2 * FINGER_M, outlines_])
    out, middles = normals(shapes), shapes.mean(axis=1)
    radii = np.linalg.norm(shapes - middles[:, None], axis=2).max(axis=1)
    moved = np.zeros((len(shapes), 2))
    ahead = np.array([1.0, 0.0])
    for x in np.linspace(0.0, travel, max(2, math.ceil(travel / STEP_M) + 1))[1:]:
        moved[0] = (x, 0.0)
        queue, seen = [0], 0
        while queue and seen < _MOST_CONTACTS:
            pusher = queue.pop(0)
            seen += 1
            away = np.linalg.norm(middles + moved - middles[pusher] - moved[pusher], axis=1)
            near = np.flatnonzero((away < radii + radii[pusher])[1:]) + 1
            near = near[near != pusher]
            if not len(near):
                continue
            gaps, ways = outline_gaps(
                shapes[pusher] + moved[pusher], shapes[near] + moved[near, None], out[pusher], out[near]
            )
            for i, gap, normal in zip(near, gaps, ways, strict=True):
                if gap >= -1e-4:
                    continue
                way = normal * blend + ahead * (1.0 - blend) * (normal[0] > 0.05)
                way = way / np.linalg.norm(way) if way.any() else normal
                moved[i] += -gap / max(float(way @ normal), 0.3) * way
                queue.append(int(i))
    return moved[1:]


def in_action_frame(scene: ContactScene, action: ContactAction) -> Array:
    """The outlines (N, POINTS, 2) of all objects with the fingers at the origin and the push along +x."""
    return np.asarray((outlines(scene) - action.start) @ action.axes.T)


def rigid_outcomes(scene: ContactScene, action: ContactAction) -> Array:
    """(2, N, 3) displacements in the axes of the action by rigid propagation, one for each of `BLENDS`."""
    found = np.zeros((len(BLENDS), len(scene), 3))
    target, size = action.target, scene.sizes[action.target]
    if action.operator == "drop_into":
        found[:, target, 2] = size[2] / 2 + FLOOR_M - scene.centres[target, 2]
        return found
    shapes = in_action_frame(scene, action)
    for k, blend in enumerate(BLENDS):
        found[k, :, :2] = propagated(shapes, APPROACH_M + action.distance, blend)
    if action.operator == "topple":
        # it falls over its far edge, and lies with its middle half its height beyond it
        far = float(np.ptp(shapes[target][:, 0]))
        found[:, target] = ((far + size[2]) / 2, 0.0, (far - size[2]) / 2)
    return found

"""Whether an object stands as it did: turned about the vertical, leaning or lying, told by its upper end.

Side faces are covered and seen from one side only; the upper end is what cameras above a table see best. Its height
tells an object that leans or lies from one that stands, and so does the normal of a flat top. Widths of the top in all
directions tell a turn about the vertical. What is round, or has its top covered, says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nsrecover.core import FloatArray, Observation
from nsrecover.core.discrepancy import Cause
from nsrecover.perception.cameras.visibility import sees_through


@dataclass(frozen=True)
class StanceRules:
    """When an object no longer stands as it did; chosen on the learn set of mOSD and on simulated boxes.

    Attributes:
        top_m: change of the height of its upper end, metres.
        placed_m: the same of an object that an action has put down, as places are imagined to a few millimetres.
        tilt_deg: change of the tilt of its top, degrees; of a small top more, by the error of depth over its size.
        error_m: of the depth of a top.
        as_level: a top of which a level plane holds this share of the points is not tilted; part of it may be covered.
        turn_m: by how much turning its widths back must make them fit better, root mean square, metres.
        least_turn_deg: smallest turn, degrees; neighbours are nudged.
        same_m: largest difference of the widths of one top that was turned, metres.
        face_m: points this close to the highest ones are of the top; twice that if it is tilted.
        fewest: points of a top.
        empty: share of the earlier top through which cameras see if it is not there any more.
    """

    top_m: float = 0.006
    placed_m: float = 0.012
    tilt_deg: float = 7.0
    error_m: float = 0.003
    as_level: float = 0.7
    turn_m: float = 0.0015
    least_turn_deg: float = 15.0
    same_m: float = 0.0025
    face_m: float = 0.012
    fewest: int = 40
    empty: float = 0.35


RULES = StanceRules()
_ANGLES = np.radians(np.arange(0, 360, 3))
_DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)])


def stance_change(
    before: FloatArray,
    now: FloatArray,
    shift: FloatArray,
    observation: Observation,
    placed: bool,
    open_share: float = 0.0,
) -> Cause | None:
    """What has happened to an object that is where it should be; None if it stands as it did, or cannot be judged.

    Args:
        before: (P, 3) points on it when it was put where it was, metres.
        now: (Q, 3) points on it now.
        shift: (3,) from where it was: horizontally to where it is, in height to where it should be, or to what
            it was put on.
        observation: the views.
        placed: whether an action has put it there, which may turn it about the vertical.
        open_share: share of its top through which cameras saw although it was there (`open_top`).
    """
    before = before + shift
    if min(len(before), len(now)) < RULES.fewest:
        return None
    first, second = _flat_top(before), _flat_top(now)
    high, height = np.quantile(before[:, 2], 0.98), now[:, 2]
    # without a flat top something may cover it, and a bit of that may seem to belong to it
    risen = np.quantile(height, 0.98 if second else 0.9) - high if first else 0.0
    limit = RULES.placed_m if placed else RULES.top_m
    empty = open_top(before, observation) - open_share
    if risen > limit or (np.quantile(height, 0.98) < high - limit and empty > RULES.empty):
        return Cause.LYING if second and second.tilt_deg < RULES.tilt_deg else Cause.LEANING
    if not placed and _turned(before, now):
        return Cause.TURNED
    return Cause.LEANING if _steeper(first, second) or (not placed and empty > RULES.empty) else None


def open_top(points: FloatArray, observation: Observation) -> float:
    """Share of the upper end of points (P, 3) through which cameras see something farther away."""
    return float(sees_through(observation, _top(points)).mean())


def _top(points: FloatArray, depth: float = 1.0) -> FloatArray:
    """Points (T, 3) of the upper end."""
    return points[points[:, 2] > np.quantile(points[:, 2], 0.97) - depth * RULES.face_m]


class _Top(NamedTuple):
    """The flat upper end of an object.

    Attributes:
        tilt_deg: of its plane.
        size_m: its standard deviation along the plane's shorter direction.
        level: how many points lie in a level plane, as a share of those in this one.
    """

    tilt_deg: float
    size_m: float
    level: float


def _steeper(first: _Top | None, second: _Top | None) -> bool:
    """Whether a flat top is steeper than it was: one that is flatter now was seen badly before."""
    if first is None or second is None or second.level > RULES.as_level:
        return False
    limit = max(RULES.tilt_deg, *(np.degrees(np.arctan(RULES.error_m / top.size_m)) for top in (first, second)))
    return bool(second.tilt_deg - first.tilt_deg > limit)


def _flat_top(points: FloatArray) -> _Top | None:
    """The flat upper end of points (P, 3); None if there is none."""
    face = _top(points, 2.0).astype(np.float64)
    if len(face) < RULES.fewest:
        return None
    face = face[:: 1 + len(face) // 300]
    rng = np.random.default_rng(0)
    corners = face[rng.integers(0, len(face), (60, 3))]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    off = np.abs((face @ normals.T) - (corners[:, 0] * normals).sum(axis=1)) < RULES.error_m
    counts = off.sum(axis=0) * (np.abs(normals[:, 2]) > 0.7)
    on = face[off[:, counts.argmax()]]
    if counts.max() < max(0.4 * len(face), RULES.fewest / 2):
        return None
    heights = np.sort(face[:, 2])
    level = np.searchsorted(heights, heights + 2 * RULES.error_m) - np.arange(len(heights))
    sizes, axes = np.linalg.eigh(np.cov((on - on.mean(axis=0)).T))
    tilt, size = np.degrees(np.arccos(min(abs(axes[2, 0]), 1.0))), np.sqrt(max(sizes[1], 1e-8))
    return _Top(float(tilt), float(size), float(level.max() / counts.max()))


def _turned(before: FloatArray, now: FloatArray) -> bool:
    """Whether the widths of the top fit those before if they are turned, and not as they are."""
    faces = [_top(points) for points in (before, now)]
    if min(map(len, faces)) < RULES.fewest:
        return False
    first, second = (_profile(face[:, :2]) for face in faces)
    if abs(first.mean() - second.mean()) > RULES.same_m:
        return False
    turns = np.stack([np.roll(first, k) for k in range(len(_ANGLES))])
    off = np.sqrt(((turns - second) ** 2).mean(axis=1))
    best = int(off.argmin())
    turn = np.degrees(min(_ANGLES[best], 2 * np.pi - _ANGLES[best]))
    better = min(off[0], off[1], off[-1]) - off[best] > RULES.turn_m
    return bool(better and off[best] < RULES.same_m and turn >= RULES.least_turn_deg)


def _profile(face: FloatArray) -> FloatArray:
    """How far points (T, 2) reach in 120 directions from their Steiner point: (120,), metres."""
    reach = np.quantile(face @ _DIRECTIONS, 0.99, axis=0)
    middle = 2 * (_DIRECTIONS * reach).mean(axis=1)
    return np.asarray(reach - middle @ _DIRECTIONS, np.float32)

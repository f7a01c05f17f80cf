"""Whether an object stands as it did, told by orientations that a pose estimator gives."""

from __future__ import annotations

import numpy as np

from nsrecover.core.discrepancy import Cause
from nsrecover.core.scene import FloatArray
from nsrecover.perception.objects.stances import RULES

SQUARE = 0.15
"""A footprint whose sides differ by a smaller share counts as square or round: its turn means nothing."""


def rotation_of(quaternion: FloatArray) -> FloatArray:
    """The rotation matrix (3, 3) of a quaternion x, y, z, w of any length but 0."""
    x, y, z, w = np.asarray(quaternion, np.float64) / np.linalg.norm(quaternion)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.array(rows, np.float32)


def changed_stance(before: FloatArray, now: FloatArray, placed: bool) -> Cause | None:
    """What has happened to an object that is where it should be; None if it stands as it did.

    The frame of an object is that of a box: half a turn about one of its axes changes nothing.

    Args:
        before: (7,) quaternion x, y, z, w as it stood, and its size along its own axes, metres.
        now: (7,) the same as it stands.
        placed: whether an action has put it there, which may turn it about the vertical.
    """
    first, second = (rotation_of(each[:4]) for each in (before, now))
    upright, up = (int(np.abs(each[2]).argmax()) for each in (first, second))
    if _degrees(second[2, up]) > _degrees(first[2, upright]) + RULES.tilt_deg:
        return Cause.LEANING
    if abs(now[4 + up] - before[4 + upright]) > RULES.top_m:
        return Cause.LYING
    flat = [axis for axis in range(3) if axis != up]
    short, long = sorted(flat, key=lambda axis: float(now[4 + axis]))
    if placed or up != upright or now[4 + short] > (1 - SQUARE) * now[4 + long]:
        return None
    ways = [each[:2, long] / max(float(np.linalg.norm(each[:2, long])), 1e-6) for each in (first, second)]
    return Cause.TURNED if _degrees(float(ways[0] @ ways[1])) >= RULES.least_turn_deg else None


def _degrees(cosine: float) -> float:
    """Angle from 0 to 90 degrees between two lines."""
    return float(np.degrees(np.arccos(min(abs(cosine), 1.0))))

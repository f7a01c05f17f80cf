"""Sides of objects that no camera sees: the visible half of an object, mirrored about the middle of its top.

A camera that looks down at a box sees how deep the top is. Of a bottle or a ball it sees the near half, and its box is
too short along the line of sight. Most things are about as deep behind the middle of their top as in front of it.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.cameras.visibility import sees_through
from nsrecover.perception.lifting import TRIM

UNCERTAIN_M, UNCERTAIN_SHARE = 0.006, 0.1
"""How far the centres of objects may be off along the line of sight if all cameras look from one side, as thin and far
ends have no depth: so much, and this share of the longer horizontal side. Of simulated objects 98 % are less off."""

TOP_M = 0.01
"""Points this close to the highest one belong to the top."""

ADDED_M = 0.004
"""Mirroring that adds less than this is left out."""

WIDEST = 1.3
"""Largest depth of a completed object, in multiples of what is seen of its width."""


def one_sided(observation: Observation) -> bool:
    """Whether all cameras look in nearly the same horizontal direction, less than a right angle apart."""
    ahead = np.array([camera.world_from_camera[:2, 2] for camera in observation.cameras])
    return bool((ahead @ ahead.T).min() > 0)


def uncertain_m(boxes: FloatArray) -> FloatArray:
    """How far the centres of boxes (N, 6) of objects that are seen from one side may be off along it: (N,), metres."""
    return np.asarray(UNCERTAIN_M + UNCERTAIN_SHARE * boxes[:, 3:5].max(axis=1), np.float32)


def with_unseen_sides(observation: Observation, points: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """Points of objects, those of the far halves included that all cameras look away from.

    Args:
        observation: the views.
        points: of each object the points (P, 3) that are seen, metres.

    Returns:
        Of each object (P + Q, 3); objects that are seen from opposite sides, or as deep as they are high up, stay.
    """
    eyes = np.array([camera.world_from_camera[:2, 3] for camera in observation.cameras])
    return tuple(_completed(observation, eyes, own) if len(own) else own for own in points)


def _completed(observation: Observation, eyes: npt.NDArray[np.float64], points: FloatArray) -> FloatArray:
    away = points[:, :2].mean(axis=0) - eyes
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    if (away @ away.T).min() <= 0:
        return points
    direction = away.mean(axis=0) / np.linalg.norm(away.mean(axis=0))
    depth = points[:, :2] @ direction
    width = points[:, :2] @ np.array([-direction[1], direction[0]])
    high = points[:, 2] > np.quantile(points[:, 2], 1 - TRIM) - TOP_M
    near, far = np.quantile(depth, [TRIM, 1 - TRIM])
    middle = float(np.quantile(depth[high], [TRIM, 1 - TRIM]).mean())
    deepest = near + WIDEST * float(np.ptp(np.quantile(width, [TRIM, 1 - TRIM])))
    mirrored = 2 * middle - depth
    rows = (depth >= near) & (mirrored > far) & (mirrored <= deepest)
    if min(2 * middle - near, deepest) < far + ADDED_M or not rows.any():
        return points
    behind = points[rows].copy()
    behind[:, :2] += (mirrored[rows] - depth[rows])[:, None] * direction
    behind = behind[~sees_through(observation, behind)]
    return np.concatenate([points, behind.astype(np.float32)])

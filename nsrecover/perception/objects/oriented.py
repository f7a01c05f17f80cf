"""Oriented boxes with a covariance, for whoever grasps what the perceiver sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.lifting import MIN_PIXELS, TRIM, ViewPixels, box_around, depth_noise

CALIBRATION_M = 0.003
"""Standard deviation of the error of a camera's position, on each axis, that hand-eye calibration leaves."""

OUTLINE_PX = 0.5
"""Standard deviation of the error of an outline, pixels."""

ALIKE_PIXELS = 25
"""Number of neighbouring pixels whose depth errors count as one: they are not independent."""

_ANGLES = np.radians(np.arange(-45.0, 45.0, 1.0))
_SAMPLE = 500


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """An upright box around what is seen of an object.

    Attributes:
        centre: (3,) metres.
        size: (3,) sides along the box's own axes, metres.
        yaw: rotation of these axes about the vertical, radians, from -pi/4 to pi/4.
        covariance: (3, 3) of the error of the centre, square metres.
    """

    centre: FloatArray
    size: FloatArray
    yaw: float
    covariance: FloatArray


def oriented_box(observation: Observation, lifted: Sequence[ViewPixels], numbers: Sequence[int]) -> OrientedBox | None:
    """The oriented box of one object; None if too little of it is seen.

    Its footprint is the smallest rectangle around the points, without the outermost few at each side. The covariance
    adds, for every view, the noise of its depth along the viewing direction, the error of outlines, and that of its
    calibration.

    Args:
        observation: the views.
        lifted: pixels of each that show objects.
        numbers: of the masks that show the object.
    """
    parts, covariances = [], []
    for view, (rows, columns, points, _) in enumerate(lifted):
        own = points[np.isin(observation.instances[view][rows, columns], numbers)]
        if len(own) >= MIN_PIXELS:
            parts.append(own)
            covariances.append(_view_covariance(observation, view, own))
    if not parts:
        return None
    weights = np.array([len(part) for part in parts], dtype=np.float64)
    weights /= weights.sum()
    points = np.concatenate(parts)
    yaw, low, high = smallest_rectangle(points[:: max(len(points) // _SAMPLE, 1), :2])
    upright = box_around(points)
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    return OrientedBox(
        np.append(turn @ ((low + high) / 2), upright[2]).astype(np.float32),
        np.append(high - low, upright[5]).astype(np.float32),
        yaw,
        np.asarray(sum(w**2 * each for w, each in zip(weights, covariances, strict=True)), dtype=np.float32),
    )


def smallest_rectangle(places: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Angle of the smallest rectangle around places (M, 2), and its lower and upper corner in its own axes (2,)."""
    cos, sin = np.cos(_ANGLES)[:, None], np.sin(_ANGLES)[:, None]
    turned = np.stack([cos * places[:, 0] + sin * places[:, 1], cos * places[:, 1] - sin * places[:, 0]])  # (2, A, M)
    cut = int(TRIM * (len(places) - 1))
    ordered = np.partition(turned, (cut, len(places) - 1 - cut), axis=-1)
    low, high = ordered[..., cut], ordered[..., len(places) - 1 - cut]
    best = int((high - low).prod(axis=0).argmin())
    return float(_ANGLES[best]), low[:, best], high[:, best]


def _view_covariance(observation: Observation, view: int, points: FloatArray) -> FloatArray:
    """Covariance (3, 3) of the centre of points (M, 3) that one view shows."""
    camera, depth = observation.cameras[view], observation.depth_m[view]
    ray = points.mean(axis=0) - camera.world_from_camera[:3, 3]
    distance = float(np.linalg.norm(ray))
    noise = depth_noise(depth, depth > 0) ** 2 / max(len(points) / ALIKE_PIXELS, 1.0)
    outline = (OUTLINE_PX * distance / float(camera.intrinsics[0, 0])) ** 2
    along = np.outer(ray, ray) / distance**2
    return np.asarray(noise * along + (outline + CALIBRATION_M**2) * np.eye(3), dtype=np.float32)

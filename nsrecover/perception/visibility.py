"""Whether the cameras see through a place, or something stands in front of it."""

from __future__ import annotations

import numpy as np

from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray

DEPTH_SLACK_M = 0.012
"""How much farther than a surface a reading must be to show that the surface is not there."""

_INSET = 0.8
"""The samples lie on a box that is smaller by this factor: near an edge, rays pass by an object that is slightly turned
or measured slightly too large."""

_GRID = 6


def _face_samples() -> FloatArray:
    """Points (5 * _GRID^2, 3) on the top and the four sides of a box a little smaller than that from -1/2 to 1/2."""
    line = np.linspace(-_INSET / 2, _INSET / 2, _GRID)
    a, b = (part.ravel() for part in np.meshgrid(line, line, indexing="ij"))
    half = np.full_like(a, _INSET / 2)
    faces = [(a, b, half), (half, a, b), (-half, a, b), (a, half, b), (a, -half, b)]
    return np.concatenate([np.stack(face, axis=1) for face in faces]).astype(np.float32)


_SAMPLES = _face_samples()


def seen_through(observation: Observation, boxes: FloatArray) -> FloatArray:
    """Share of the surface of each box at which a camera sees something farther away, so that no such object is there.

    A surface point behind something nearer, or outside every image, counts as not seen through.

    Args:
        observation: the views.
        boxes: (C, 6).

    Returns:
        (C,) in 0..1; 0 where no camera contradicts a box.
    """
    points = boxes[:, None, :3] + _SAMPLES * boxes[:, None, 3:]  # (C, S, 3)
    empty = np.zeros(points.shape[:2], dtype=np.bool_)
    for camera, depth_m in zip(observation.cameras, observation.depth_m, strict=True):
        rotation, origin = camera.world_from_camera[:3, :3], camera.world_from_camera[:3, 3]
        x, y, z = np.moveaxis((points - origin) @ rotation, -1, 0)
        k, (height, width) = camera.intrinsics, depth_m.shape
        ahead = np.maximum(z, 1e-6)
        column = np.floor(k[0, 0] * x / ahead + k[0, 2]).astype(int)
        row = np.floor(k[1, 1] * y / ahead + k[1, 2]).astype(int)
        inside = (z > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
        reading = np.where(inside, depth_m[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)], 0.0)
        empty |= reading > z + DEPTH_SLACK_M
    return np.asarray(empty.mean(axis=1), dtype=np.float32)

"""Whether one view sees what another one shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray
from nsrecover.perception.lifting import MIN_PIXELS, to_world

ABOVE_M = 0.02
"""Points below this height may belong to the table."""

BEYOND_M = 0.03
"""A reading that is so much farther than a point shows that nothing is there."""

ABSENT = 0.75
"""An object is not there for a view that sees through so many of its points."""

BESIDE_M = 0.025
"""An object may be so far beside its place in another view: cameras are off by a degree and a centimetre."""

_POINTS = 400


def contradicted(observation: Observation, one: int, two: int) -> int:
    """Number of objects that one view shows where another one sees through: the views are not of the same moment."""
    depth = observation.depth_m[two]
    focal, distance = observation.cameras[two].intrinsics[0, 0], np.median(depth[depth > 0])
    nearest = ndimage.minimum_filter(
        np.where(depth > 0, depth, np.inf), 2 * int(np.ceil(focal * BESIDE_M / distance)) + 1
    )
    observation = replace(observation, depth_m=observation.depth_m.copy())
    observation.depth_m[two] = np.where(np.isfinite(nearest), nearest, 0.0)
    absent = 0
    for points in _objects(observation, one):
        reading, distance = readings_at(observation, two, points)
        known = reading > 0
        if np.count_nonzero(known) >= max(MIN_PIXELS, len(points) / 2):
            absent += bool((reading > distance + BEYOND_M)[known].mean() > ABSENT)
    return absent


def unmasked(observation: Observation, view: int) -> int:
    """Number of objects of other views that one view sees at their places, whether or not it has masks of them."""
    shown = []
    for other in range(len(observation.cameras)):
        found = 0
        for points in _objects(observation, other) if other != view else ():
            reading, distance = readings_at(observation, view, points)
            found += bool((np.abs(reading - distance) < BEYOND_M / 2).mean() > 0.25)
        shown.append(found)
    return max(shown)


def readings_at(observation: Observation, view: int, points: FloatArray) -> tuple[FloatArray, npt.NDArray[np.float64]]:
    """What one view measures in the direction of points (M, 3): depth (M,), 0 for none, and their own (M,)."""
    camera, depth = observation.cameras[view], observation.depth_m[view]
    pose, k = camera.world_from_camera, camera.intrinsics
    x, y, z = ((points - pose[:3, 3]) @ pose[:3, :3]).T.astype(np.float64)
    ahead = np.maximum(z, 1e-6)
    column = np.floor(k[0, 0] * x / ahead + k[0, 2]).astype(int)
    row = np.floor(k[1, 1] * y / ahead + k[1, 2]).astype(int)
    inside = (z > 0) & (column >= 0) & (column < depth.shape[1]) & (row >= 0) & (row < depth.shape[0])
    reading = depth[np.clip(row, 0, depth.shape[0] - 1), np.clip(column, 0, depth.shape[1] - 1)]
    return np.where(inside, reading, 0.0).astype(np.float32), z


def _objects(observation: Observation, view: int) -> list[FloatArray]:
    """Points (M, 3) above the table on each object that one view shows well."""
    found = []
    instances, depth = observation.instances[view], observation.depth_m[view]
    for number in np.unique(instances[instances > 0]):
        rows, columns = np.nonzero((instances == number) & (depth > 0))
        some = slice(None, None, max(len(rows) // _POINTS, 1))
        points = to_world(observation, view, rows[some], columns[some])
        points = points[points[:, 2] > ABOVE_M]
        if len(points) >= 3 * MIN_PIXELS:
            found.append(points)
    return found

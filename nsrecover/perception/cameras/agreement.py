"""Whether one view sees what another one shows."""

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.lifting import MIN_PIXELS, mask_pixels, to_world

ABOVE_M = 0.02
"""Points below this height may belong to the table."""

SAME_M = 0.015
"""Maximum distance between a reading and a point that it shows."""

FOOT_M, ROOM_M = 0.015, 0.045
"""Radius around the middle of an object in which a view must see the table, and in which it must see nothing higher, to
show that the object is not there; cameras may be off by a degree and a centimetre."""

FEWEST_SEEN = 8
"""Fewest readings that show the table in the smaller circle."""

MOST_ABOVE = 0.1
"""Largest share of the readings in the larger circle that may be higher by mistake."""

_POINTS = 400


def contradicted(observation: Observation, one: int, two: int) -> int:
    """Number of objects that one view shows where another one sees the bare table: not views of the same moment."""
    rows, columns = np.nonzero(observation.depth_m[two][::2, ::2] > 0)
    seen = to_world(observation, two, 2 * rows, 2 * columns)
    absent = 0
    places = [np.median(points[:, :2], axis=0) for points in _objects(observation, one)]
    if places:
        low, high = np.min(places, axis=0) - ROOM_M, np.max(places, axis=0) + ROOM_M
        seen = seen[((seen[:, :2] > low) & (seen[:, :2] < high)).all(axis=1)]
    for place in places:
        offset = seen[:, :2] - place
        around = (np.abs(offset[:, 0]) < ROOM_M) & (np.abs(offset[:, 1]) < ROOM_M)
        away, heights = np.linalg.norm(offset[around], axis=1), seen[around, 2]
        foot, room = heights[away < FOOT_M], heights[away < ROOM_M]
        if len(foot) >= FEWEST_SEEN and np.median(np.abs(foot)) < ABOVE_M / 2:
            absent += bool((room > ABOVE_M).mean() < MOST_ABOVE)
    return absent


def unmasked(observation: Observation, view: int) -> int:
    """Number of objects of other views that one view sees at their places, whether or not it has masks of them."""
    shown = []
    for other in range(len(observation.cameras)):
        found = 0
        for points in _objects(observation, other) if other != view else ():
            reading, distance = readings_at(observation, view, points)
            found += bool((np.abs(reading - distance) < SAME_M).mean() > 0.25)
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
    for rows, columns in mask_pixels(observation, view).values():
        some = slice(None, None, max(len(rows) // _POINTS, 1))
        points = to_world(observation, view, rows[some], columns[some])
        points = points[points[:, 2] > ABOVE_M]
        if len(points) >= 3 * MIN_PIXELS:
            found.append(points)
    return found

"""Whether one view sees what another one shows."""

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.cameras.visibility import readings
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

CELL_M = 0.003
"""Size of the cells in which readings are counted."""

STRIDE_OF = 160
"""Images are read at about so many columns to find what a view sees of the table."""

_POINTS = 400


def contradictions(observation: Observation) -> npt.NDArray[np.int_]:
    """Number (V, V) of objects that one view shows where another one sees the bare table: not of the same moment."""
    views = len(observation.cameras)
    found = np.zeros((views, views), dtype=int)
    if views < 2:
        return found
    places = [[np.median(points[:, :2], axis=0) for points in _objects(observation, view)] for view in range(views)]
    owner = np.repeat(np.arange(views), [len(each) for each in places])
    if not len(owner):
        return found
    every = np.array([place for each in places for place in each])
    low = every.min(axis=0) - ROOM_M
    shape = np.ceil((every.max(axis=0) + ROOM_M - low) / CELL_M).astype(int) + 1
    reach = int(ROOM_M / CELL_M)
    offsets = np.mgrid[-reach : reach + 1, -reach : reach + 1].reshape(2, -1)
    away = CELL_M * np.hypot(*offsets)
    offsets, foot = offsets[:, away < ROOM_M], away[away < ROOM_M] < FOOT_M
    cells = np.clip(((every - low) / CELL_M).astype(int)[:, :, None] + offsets, 0, shape[:, None] - 1)
    cells = cells[:, 0] * shape[1] + cells[:, 1]
    for view in range(views):
        seen, low_ones, high_ones = (layer[cells] for layer in _counted(observation, view, low, shape))
        table = low_ones[:, foot].sum(axis=1) > seen[:, foot].sum(axis=1) / 2
        enough = seen[:, foot].sum(axis=1) >= FEWEST_SEEN
        bare = high_ones.sum(axis=1) < MOST_ABOVE * seen.sum(axis=1)
        found[:, view] = np.bincount(owner[table & enough & bare], minlength=views)
    np.fill_diagonal(found, 0)
    return found


def _counted(
    observation: Observation, view: int, low: npt.NDArray[np.floating], shape: npt.NDArray[np.int_]
) -> list[npt.NDArray[np.int_]]:
    """Readings of one view in the cells of the table: all, those at its height, and those above it."""
    stride = max(observation.depth_m.shape[2] // STRIDE_OF, 1)
    rows, columns = np.nonzero(observation.depth_m[view, ::stride, ::stride] > 0)
    points = to_world(observation, view, stride * rows, stride * columns)
    cell = ((points[:, :2] - low) / CELL_M).astype(int)
    inside = ((points[:, :2] >= low) & (cell < shape)).all(axis=1)
    heights = points[inside, 2]
    number = cell[inside, 0] * shape[1] + cell[inside, 1]
    kinds = (np.ones(len(heights), dtype=np.bool_), np.abs(heights) < ABOVE_M / 2, heights > ABOVE_M)
    return [np.bincount(number[kind], minlength=int(shape.prod())) for kind in kinds]


def unmasked(observation: Observation, view: int) -> int:
    """Number of objects of other views that one view sees at their places, whether or not it has masks of them."""
    shown = []
    for other in range(len(observation.cameras)):
        found = 0
        for points in _objects(observation, other) if other != view else ():
            seen = readings(observation, view, points)
            found += bool((np.abs(seen.depth_m - seen.expected_m) < SAME_M).mean() > 0.25)
        shown.append(found)
    return max(shown)


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

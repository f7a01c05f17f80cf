"""Whether one view sees what another one shows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.cameras.visibility import readings
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import mask_pixels, to_world


@dataclass(frozen=True)
class AgreementRules:
    """When one view contradicts another one.

    Attributes:
        above_m: points below this height may belong to the table.
        same_m: maximum distance between a reading and a point that it shows.
        foot_m: radius around the middle of an object in which a view must see the table to show that it is not there;
            cameras may be off by a degree and a centimetre.
        room_m: radius in which it must then see nothing higher.
        fewest_seen: fewest readings that show the table in the smaller circle.
        most_above: largest share of the readings in the larger circle that may be higher by mistake.
        cell_m: size of the cells in which readings are counted.
        stride_of: images are read at about so many columns to find what a view sees of the table.
        points: points of an object that are looked at.
    """

    above_m: float = 0.02
    same_m: float = 0.015
    foot_m: float = 0.015
    room_m: float = 0.045
    fewest_seen: int = 8
    most_above: float = 0.1
    cell_m: float = 0.003
    stride_of: int = 160
    points: int = 400


RULES = AgreementRules()


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
    low = every.min(axis=0) - RULES.room_m
    shape = np.ceil((every.max(axis=0) + RULES.room_m - low) / RULES.cell_m).astype(int) + 1
    reach = int(RULES.room_m / RULES.cell_m)
    offsets = np.mgrid[-reach : reach + 1, -reach : reach + 1].reshape(2, -1)
    away = RULES.cell_m * np.hypot(*offsets)
    offsets, foot = offsets[:, away < RULES.room_m], away[away < RULES.room_m] < RULES.foot_m
    cells = np.clip(((every - low) / RULES.cell_m).astype(int)[:, :, None] + offsets, 0, shape[:, None] - 1)
    cells = cells[:, 0] * shape[1] + cells[:, 1]
    for view in range(views):
        seen, low_ones, high_ones = (layer[cells] for layer in _counted(observation, view, low, shape))
        table = low_ones[:, foot].sum(axis=1) > seen[:, foot].sum(axis=1) / 2
        enough = seen[:, foot].sum(axis=1) >= RULES.fewest_seen
        bare = high_ones.sum(axis=1) < RULES.most_above * seen.sum(axis=1)
        found[:, view] = np.bincount(owner[table & enough & bare], minlength=views)
    np.fill_diagonal(found, 0)
    return found


def _counted(
    observation: Observation, view: int, low: npt.NDArray[np.floating], shape: npt.NDArray[np.int_]
) -> list[npt.NDArray[np.int_]]:
    """Readings of one view in the cells of the table: all, those at its height, and those above it."""
    stride = max(observation.depth_m.shape[2] // RULES.stride_of, 1)
    rows, columns = np.nonzero(observation.depth_m[view, ::stride, ::stride] > 0)
    points = to_world(observation, view, stride * rows, stride * columns)
    cell = ((points[:, :2] - low) / RULES.cell_m).astype(int)
    inside = ((points[:, :2] >= low) & (cell < shape)).all(axis=1)
    heights = points[inside, 2]
    number = cell[inside, 0] * shape[1] + cell[inside, 1]
    kinds = (np.ones(len(heights), dtype=np.bool_), np.abs(heights) < RULES.above_m / 2, heights > RULES.above_m)
    return [np.bincount(number[kind], minlength=int(shape.prod())) for kind in kinds]


def unmasked(observation: Observation, view: int) -> int:
    """Number of objects of other views that one view sees at their places, whether or not it has masks of them."""
    shown = []
    for other in range(len(observation.cameras)):
        found = 0
        for points in _objects(observation, other) if other != view else ():
            seen = readings(observation, view, points)
            found += bool((np.abs(seen.depth_m - seen.expected_m) < RULES.same_m).mean() > 0.25)
        shown.append(found)
    return max(shown)


def _objects(observation: Observation, view: int) -> list[FloatArray]:
    """Points (M, 3) above the table on each object that one view shows well."""
    found = []
    for rows, columns in mask_pixels(observation, view).values():
        some = slice(None, None, max(len(rows) // RULES.points, 1))
        points = to_world(observation, view, rows[some], columns[some])
        points = points[points[:, 2] > RULES.above_m]
        if len(points) >= 3 * LIFTING.min_pixels:
            found.append(points)
    return found

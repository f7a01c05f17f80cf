"""What is seen of a scene of dataset IX, and free places by true outlines, by outlines that are seen, and by a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage, signal

from nsrecover.core import FloatArray, Observation
from nsrecover.models.free_place import MARGINS_M
from nsrecover.perception.cameras.aligning import aligned, offsets
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import lift_views
from nsrecover.perception.masks.repair import join_parts, separate_by_other_views
from nsrecover.perception.objects.detections import AppearanceModel, detect, detect_masks
from sim.datasets.clutter.episodes import WORKSPACE, Placing
from sim.datasets.clutter.outlines import barriers, clearance

Array = npt.NDArray[np.float64]

STEP_M, CHUNK = 0.005, 512
"""Spacing of the shifts that are tried, and how many at once."""
CELL_M, FEWEST = 0.007, 2
"""Cells of an outline that is seen, and points in a cell that are not taken for noise."""
GRID_M = 0.01
FLOOR_M = 0.006
"""What is lower belongs to the table."""


@dataclass(frozen=True)
class WholeTable:
    """The table of the dataset, all of it within reach.

    Attributes:
        workspace: x_min, y_min, x_max, y_max, metres.
        reach_m: nearest and farthest distance from the robot.
    """

    workspace: tuple[float, float, float, float] = WORKSPACE
    reach_m: tuple[float, float] = (0.0, 2.0)


@dataclass(frozen=True, eq=False)
class Scene:
    """What is seen of a scene.

    Attributes:
        box: (6,) of the object that is placed, where it is wished to be.
        shift: (2,) from where it is seen to there.
        boxes: (M, 6) that it must keep clear of.
        points: (P, 2) of the object, where it is seen.
        taken: points (Q, 2) of each thing that it must keep clear of.
    """

    box: FloatArray
    shift: Array
    boxes: FloatArray
    points: Array
    taken: list[Array]


def seen_of(placing: Placing, models: AppearanceModel) -> Scene | None:
    """Boxes and points as the library lifts them; None if the object is not seen."""
    first = levelled(placing.seen)
    observation, _ = separate_by_other_views(first, detect_masks(first, models))
    lifted = lift_views(observation)
    found = join_parts(detect(observation, models, lifted=lifted))
    again: Observation = aligned(observation, offsets(observation, lifted, found.numbers))
    found = found.lifted_again(lift_views(again))
    if "moved" not in found.labels:
        return None
    row = list(found.labels).index("moved")
    points = [_standing(np.asarray(each, float)) for each in found.points]
    rows = [i for i in range(len(points)) if len(points[i]) and (placing.aside or i != row)]
    box = found.boxes[row].copy()
    if not placing.aside:
        box[:2] = placing.wish
    return Scene(
        box, (box[:2] - found.boxes[row][:2]).astype(float), found.boxes[rows], points[row], [points[i] for i in rows]
    )


def _standing(points: Array) -> Array:
    return np.asarray(points[points[:, 2] > FLOOR_M, :2])


def outline(points: Array) -> list[Array]:
    """Rectangles (4, 2) at the yaw at which they are fewest, that cover the points (P, 2) of an object."""

    def turned(yaw: float) -> Array:
        return np.asarray(points @ np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]]))

    def area(yaw: float) -> float:
        return float(np.prod(np.ptp(np.quantile(turned(yaw), (0.01, 0.99), axis=0), axis=0)))

    yaw = min(np.radians(np.arange(0, 90, 3)), key=area)
    own = turned(yaw)
    low = own.min(axis=0)
    cells = np.floor((own - low) / CELL_M).astype(int)
    counts = np.zeros(cells.max(axis=0) + 1)
    np.add.at(counts, tuple(cells.T), 1)
    turn = np.array([[math.cos(yaw), math.sin(yaw)], [-math.sin(yaw), math.cos(yaw)]])
    corners = [np.array([(a, b), (c, b), (c, d), (a, d)]) for a, b, c, d in _rectangles(counts >= FEWEST)]
    return [(corner * CELL_M + low) @ turn for corner in corners]


def _rectangles(taken: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int, int, int]]:
    """Few rectangles (x_low, y_low, x_high, y_high) of cells that cover all that are taken, and no others."""
    left = taken.copy()
    for x, y in zip(*np.nonzero(taken), strict=True):
        if not left[x, y]:
            continue
        across = y + int(np.argmin(np.append(taken[x, y:], False)))
        along = x + int(np.argmin(np.append(taken[x:, y:across].all(axis=1), False)))
        left[x:along, y:across] = False
        yield x, y, along, across


def nearest(moved: Sequence[Array], taken: Sequence[Array], wish: Array, gaps_m: Sequence[float]) -> Array | None:
    """The shift (2,) nearest to a wish that keeps an outline on the table, with the first gap there is room for."""
    points = np.concatenate(moved)
    low, high = WORKSPACE[:2] - points.min(axis=0), WORKSPACE[2:] - points.max(axis=0)
    first = np.ceil((low - wish) / STEP_M)
    axes = [wish[i] + STEP_M * np.arange(first[i], (high[i] - wish[i]) / STEP_M) for i in (0, 1)]
    shifts = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    shifts = shifts[np.argsort(np.linalg.norm(shifts - wish, axis=1), kind="stable")]
    found, best = barriers(moved, taken), dict[float, Array]()
    for start in range(0, len(shifts), CHUNK):
        some = shifts[start : start + CHUNK]
        kept = clearance(some, found)
        for gap_m in gaps_m:
            free = np.flatnonzero(kept > gap_m)
            if len(free):
                best.setdefault(gap_m, some[free[0]])
        if gaps_m[0] in best:
            break
    return next((best[gap_m] for gap_m in gaps_m if gap_m in best), None)


def by_truth(placing: Placing, gaps_m: Sequence[float] = MARGINS_M) -> Array | None:
    """Shift by the true outlines."""
    taken = placing.solids if placing.aside else placing.solids[1:]
    parts = [part for solid in taken for part in solid.outline()]
    return nearest(placing.solids[0].outline(), parts, placing.wish - placing.solids[0].place[:2], gaps_m)


def by_outlines(scene: Scene, gaps_m: Sequence[float] = MARGINS_M) -> Array | None:
    """Shift by the outlines that are seen."""
    parts = [part for points in scene.taken for part in outline(points)]
    return nearest(outline(scene.points), parts, scene.shift, gaps_m)


def by_grid(scene: Scene, gaps_m: Sequence[float] = MARGINS_M) -> Array | None:
    """Shift on a grid of 1 cm: cells that hold points are taken, widened by the gap."""
    low = np.array(WORKSPACE[:2])
    shape = np.round((np.array(WORKSPACE[2:]) - low) / GRID_M).astype(int)

    def cells(points: Array, origin: Array, size: npt.NDArray[np.int_]) -> npt.NDArray[np.bool_]:
        index = np.floor((points - origin) / GRID_M).astype(int)
        counts = np.zeros(size)
        index = index[np.all((index >= 0) & (index < size), axis=1)]
        np.add.at(counts, tuple(index.T), 1)
        return np.asarray(counts >= FEWEST)

    start = scene.points.min(axis=0)
    own = cells(scene.points, start, np.ceil(np.ptp(scene.points, axis=0) / GRID_M).astype(int) + 1)
    taken = cells(np.concatenate(scene.taken), low, shape)
    for gap_m in gaps_m:
        away = ndimage.distance_transform_edt(~taken) * GRID_M
        hits = signal.fftconvolve((away <= gap_m).astype(float), own[::-1, ::-1].astype(float), mode="valid")
        free = np.argwhere(hits < 0.5)
        if len(free):
            shifts = low + free * GRID_M - start
            return np.asarray(shifts[np.linalg.norm(shifts - scene.shift, axis=1).argmin()])
    return None


def by_boxes(find: Callable[[FloatArray, FloatArray], FloatArray | None], scene: Scene) -> Array | None:
    """Shift by a search among boxes: of the box of the object, and of what it must keep clear of."""
    place = find(scene.box, scene.boxes)
    return None if place is None else place[:2].astype(float) - scene.box[:2] + scene.shift

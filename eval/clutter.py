"""`python -m eval.clutter`: objects placed without touching anything where boxes hide the free space."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import ndimage, signal

from eval.common.statistics import paired_difference
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import columns_table, difference, document, figure, percent
from eval.metrics import Metric, columns, share, summary
from eval.run import Measurement, Run, Settings, run
from nsrecover.core import FloatArray, Observation
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import MARGINS_M, find_free_place, proposed_free_place
from nsrecover.perception.cameras.aligning import aligned, offsets
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import lift_views
from nsrecover.perception.masks.repair import join_parts, separate_by_other_views
from nsrecover.perception.objects.detections import AppearanceModel, detect, detect_masks
from nsrecover.planning.setting_aside import enumerated_places
from sim.datasets.clutter.episodes import WORKSPACE, Array, Placing, episode, free
from sim.datasets.clutter.outlines import barriers, clearance

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
    found = join_parts(detect(observation, models, lifted=lifted), models.gate.elsewhere)
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


ORACLE, EXACT, TRANSFORMER = "oracle: true outlines", "exact boxes (the default)", "transformer on boxes"
OUTLINES, GRID, NO_FREE = "outlines that are seen", "grid of 1 cm", "grid of 5 cm on boxes (nofree)"
PLACED, TOUCHED, NO_ROOM = "placed", "touched", "no room"


@dataclass
class ClutterConfig(Settings):
    """Measure how often an object is placed without touching anything among outlines that boxes hide (dataset IX).

      python -m eval.clutter                              300 scenes; half an hour on 2 cores
      python -m eval.clutter seed=7 episodes=50 out=DIR   other scenes

    Attributes:
        episodes: number of scenes; seeds 0 to 9 were used in development.
        checkpoint: folder of the transformer and of the appearance; the shipped one if null.
    """

    seed: int = 2026
    episodes: int = 300
    checkpoint: str | None = None
    out: str = "outputs/clutter"


@cache
def _wide(checkpoint: str | None) -> Bundle:
    """The learned parts for the table of the dataset."""
    table = WholeTable()
    bundle: Bundle = copy(system_of(checkpoint).model.bundle)
    bundle.config = replace(bundle.config, workspace=table.workspace, reach_m=table.reach_m)
    return bundle


def _nearest_of_grid(box: FloatArray, boxes: FloatArray) -> FloatArray | None:
    places = enumerated_places(WholeTable(), box, [boxes])
    return min(places, key=lambda place: float(np.linalg.norm(place[:2] - box[:2])), default=None)


def arms(checkpoint: str | None) -> dict[str, Callable[[Scene], Array | None]]:
    """Searches that know what is seen: the shift (2,) of the object, or None."""
    return {
        EXACT: partial(by_boxes, partial(find_free_place, WholeTable())),
        TRANSFORMER: partial(by_boxes, partial(proposed_free_place, _wide(checkpoint))),
        OUTLINES: by_outlines,
        GRID: by_grid,
        NO_FREE: partial(by_boxes, _nearest_of_grid),
    }


def judge(index: int, seed: int, checkpoint: str | None) -> dict[str, Any]:
    """All arms on one scene: for each what came of it, distance from the wish in metres, and processor time in ms."""
    placing = episode(seed, index)
    scene = seen_of(placing, _wide(checkpoint))
    row: dict[str, Any] = {"aside": placing.aside, "cover": placing.cover, "arms": {}}
    for name, search in {ORACLE: lambda _: by_truth(placing), **arms(checkpoint)}.items():
        began = time.process_time()
        shift = None if scene is None and name != ORACLE else search(cast(Scene, scene))
        row["arms"][name] = [*_outcome(placing, shift), 1000 * (time.process_time() - began)]
    return row


def _outcome(placing: Placing, shift: Array | None) -> tuple[str, float]:
    if shift is None:
        return NO_ROOM, float("nan")
    at = np.array(placing.solids[0].place[:2]) + shift
    return PLACED if free(placing, at) else TOUCHED, float(np.linalg.norm(at - placing.wish))


def measure(config: ClutterConfig, run: Run) -> dict[str, Any]:
    """Judge all scenes; return the shares of all arms."""
    rows = run.each(partial(judge, seed=config.seed, checkpoint=config.checkpoint), range(config.episodes), "scene")
    names = list(rows[0]["arms"])
    return {
        "episodes": len(rows),
        "cover": round(float(np.mean([row["cover"] for row in rows])), 3),
        "arms": {name: summary([(row["arms"][name], row["arms"][ORACLE]) for row in rows], METRICS) for name in names},
        "differences": {f"{ORACLE} - {name}": _difference(rows, ORACLE, name) for name in names if name != ORACLE}
        | {f"{EXACT} - {name}": _difference(rows, EXACT, name) for name in (TRANSFORMER, NO_FREE)},
    }


def _came_to(kind: str, pair: Any) -> bool:
    return bool(pair[0][0] == kind)


def _farther(pairs: Sequence[Any]) -> float | None:
    ratios = [(own[1] + 0.01) / (best[1] + 0.01) for own, best in pairs if own[0] == best[0] == PLACED]
    return round(float(np.median(ratios)), 3) if ratios else None


METRICS = (
    *(share(kind, kind, partial(_came_to, kind)) for kind in (PLACED, TOUCHED, NO_ROOM)),
    Metric("farther", "farther", _farther, figure("farther", digits=2)),
    Metric("ms", "ms", lambda pairs: round(float(np.median([own[2] for own, _ in pairs])), 2), figure("ms", digits=2)),
)
"""Of pairs of what came of an arm and of the oracle: outcome, distance from the wish, and processor time."""


def _difference(rows: Sequence[dict[str, Any]], one: str, other: str) -> dict[str, Any]:
    """Difference in objects placed."""
    first, second = ([row["arms"][arm][0] == PLACED for row in rows] for arm in (one, other))
    return paired_difference(first, second)


def table(metrics: dict[str, Any]) -> str:
    """The tables of the arms and of their differences."""
    return document(
        "Free space that boxes do not describe",
        f"{metrics['episodes']} scenes; the boxes around the objects cover {percent(metrics['cover'], None, 0)} of the "
        "table on average. Distances from the wish (with 1 cm added) over those of the oracle, median of what both "
        "placed; processor time of the search alone, median.",
        columns_table(["search"], metrics["arms"], columns(METRICS)),
        columns_table(["placed, same scenes"], metrics["differences"], [("difference", difference)]),
    )


MEASUREMENT = Measurement(ClutterConfig, measure, table, check_checkpoint, {"episodes": 1}, adds=("episodes",))

if __name__ == "__main__":
    run(MEASUREMENT)

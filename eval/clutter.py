"""`python -m eval.clutter`: objects placed without touching anything where boxes hide the free space."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from eval.common.systems import check_checkpoint, system_of
from eval.metrics import comparison, levels, share, total
from eval.run import Settings, run
from nsrecover.core import FloatArray, Observation
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import find_free_place, proposed_free_place
from nsrecover.perception.cameras.aligning import aligned, offsets
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import lift_views
from nsrecover.perception.masks.repair import join_parts, separate_by_other_views
from nsrecover.perception.objects.detections import AppearanceModel, detect, detect_masks
from nsrecover.planning.setting_aside import enumerated_places
from sim.datasets.clutter.episodes import WORKSPACE, Array, Placing, episode, free

FLOOR_M = 0.006
"""What is lower belongs to the table."""
PLACED, TOUCHED, NO_ROOM = "placed", "touched", "no room"


@dataclass(frozen=True)
class WholeTable:
    """The table of the dataset, all of it within reach.

    Attributes:
        workspace: x_min, y_min, x_max, y_max, metres.
        reach_m: nearest and farthest distance from the robot.
    """

    workspace: tuple[float, float, float, float] = WORKSPACE
    reach_m: tuple[float, float] = (0.0, 2.0)


@dataclass
class ClutterConfig(Settings):
    """Measure how often an object is placed without touching anything among outlines that boxes hide (dataset IX).

      python -m eval.clutter                              300 scenes; ten minutes on 2 cores
      python -m eval.clutter seed=7 episodes=50 out=DIR   other scenes

    A place exists in every scene.

    Attributes:
        episodes: number of scenes; seeds 0 to 9 were used in development.
        checkpoint: folder of the transformer and of the appearance; the shipped one if null.
    """

    seed: int = 2026
    episodes: int = 300
    checkpoint: str | None = None


@dataclass(frozen=True)
class PlacedObject:
    """What came of a search on a scene: placed, touched or no room; distance from the wish, and processor time."""

    search: str
    outcome: str
    away_mm: float | None
    ms: float


def seen_of(placing: Placing, models: AppearanceModel) -> tuple[FloatArray, Array, FloatArray] | None:
    """What the library sees of a scene; None if the object is not seen.

    Returns:
        Box (6,) of the object where it is wished to be; shift (2,) from where it is seen to there; boxes (M, 6) that it
        must keep clear of.
    """
    first = levelled(placing.seen)
    observation, _ = separate_by_other_views(first, detect_masks(first, models))
    lifted = lift_views(observation)
    found = join_parts(detect(observation, models, lifted=lifted), models.gate.elsewhere)
    again: Observation = aligned(observation, offsets(observation, lifted, found.numbers))
    found = found.lifted_again(lift_views(again))
    if "moved" not in found.labels:
        return None
    row = list(found.labels).index("moved")
    standing = [bool((np.asarray(each)[:, 2] > FLOOR_M).any()) for each in found.points]
    box = found.boxes[row].copy()
    if not placing.aside:
        box[:2] = placing.wish
    shift = (box[:2] - found.boxes[row][:2]).astype(float)
    return box, shift, found.boxes[[i for i, stands in enumerate(standing) if stands and (placing.aside or i != row)]]


@cache
def _wide(checkpoint: str | None) -> Bundle:
    """The learned parts for the table of the dataset."""
    bundle: Bundle = copy(system_of(checkpoint).model.bundle)
    bundle.config = replace(bundle.config, workspace=WholeTable().workspace, reach_m=WholeTable().reach_m)
    return bundle


def _nearest_of_grid(box: FloatArray, boxes: FloatArray) -> FloatArray | None:
    places = enumerated_places(WholeTable(), box, [boxes])
    return min(places, key=lambda place: float(np.linalg.norm(place[:2] - box[:2])), default=None)


def searches(checkpoint: str | None) -> dict[str, Callable[[FloatArray, FloatArray], FloatArray | None]]:
    """Searches for a free box, from a box and those that it must keep clear of."""
    return {
        "exact boxes (the default)": partial(find_free_place, WholeTable()),
        "transformer on boxes": partial(proposed_free_place, _wide(checkpoint)),
        "grid of 5 cm on boxes (nofree)": _nearest_of_grid,
    }


def judge(number: int, config: ClutterConfig) -> list[PlacedObject]:
    """All searches on one scene."""
    placing, rows = episode(config.seed, number), list[PlacedObject]()
    scene = seen_of(placing, _wide(config.checkpoint))
    for name, search in searches(config.checkpoint).items():
        began = time.process_time()
        found = None if scene is None else search(scene[0], scene[2])
        ms = 1000 * (time.process_time() - began)
        if scene is None or found is None:
            rows.append(PlacedObject(name, NO_ROOM, None, ms))
            continue
        at = np.array(placing.solids[0].place[:2]) + found[:2].astype(float) - scene[0][:2] + scene[1]
        away_mm = 1000 * float(np.linalg.norm(at - placing.wish))
        rows.append(PlacedObject(name, PLACED if free(placing, at) else TOUCHED, away_mm, ms))
    return rows


def _came_to(kind: str, row: Any) -> bool:
    return bool(row.outcome == kind)


METRICS = (
    total("episodes", "scenes"),
    *(share(kind, kind, partial(_came_to, kind)) for kind in (PLACED, TOUCHED, NO_ROOM)),
    levels("away_mm", "mm from the wish, median / 95 %", lambda row: () if row.away_mm is None else (row.away_mm,), 1),
    levels("ms", "ms of the processor, median / 95 %", lambda row: (row.ms,)),
)
MEASUREMENT = comparison(
    ClutterConfig, judge, lambda config, run: range(config.episodes), METRICS, {"search": lambda row: row.search},
    unit="scene", check=check_checkpoint, least={"episodes": 1}, adds=("episodes",),
)  # fmt: skip

if __name__ == "__main__":
    run(MEASUREMENT)

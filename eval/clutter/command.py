"""`python -m eval.clutter`: objects placed without touching anything where boxes hide the free space."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, cast

import numpy as np

from eval.clutter.places import Scene, WholeTable, by_boxes, by_grid, by_outlines, by_truth, seen_of
from eval.common.runner import Measurement, Run, Settings
from eval.common.statistics import paired_interval, share_of
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, number, percent, percent_of
from nsrecover.core import FloatArray
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import find_free_place, proposed_free_place
from nsrecover.planning.setting_aside import enumerated_places
from sim.datasets.clutter.episodes import Array, Placing, episode, free

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
    table, bundle = WholeTable(), copy(system_of(checkpoint).bundle)
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
    oracle = [row["arms"][ORACLE] for row in rows]
    return {
        "episodes": len(rows),
        "cover": round(float(np.mean([row["cover"] for row in rows])), 3),
        "arms": {name: _summary([row["arms"][name] for row in rows], oracle) for name in names},
        "differences": {f"{ORACLE} - {name}": _difference(rows, ORACLE, name) for name in names if name != ORACLE}
        | {f"{EXACT} - {name}": _difference(rows, EXACT, name) for name in (TRANSFORMER, NO_FREE)},
    }


def _summary(found: Sequence[Any], oracle: Sequence[Any]) -> dict[str, Any]:
    ratios = [
        (each[1] + 0.01) / (best[1] + 0.01)
        for each, best in zip(found, oracle, strict=True)
        if each[0] == best[0] == PLACED
    ]
    return {
        **{kind: share_of(each[0] == kind for each in found) for kind in (PLACED, TOUCHED, NO_ROOM)},
        "farther": round(float(np.median(ratios)), 3) if ratios else None,
        "ms": round(float(np.median([each[2] for each in found])), 2),
    }


def _difference(rows: Sequence[dict[str, Any]], one: str, other: str) -> dict[str, Any]:
    """Difference in objects placed, of the same scenes, with a 95 % interval."""
    pairs = [(row["arms"][one][0] == PLACED, row["arms"][other][0] == PLACED) for row in rows]
    both, first, second = (pairs.count(wanted) for wanted in ((True, True), (True, False), (False, True)))
    low, high = paired_interval(both, first, second, len(pairs))
    return {"value": (first - second) / len(pairs), "low": low, "high": high}


def check(config: ClutterConfig) -> None:
    """Refuse settings that cannot be used."""
    if config.episodes < 1:
        raise InvalidConfiguration(f"expected at least one scene, found episodes={config.episodes}")
    system_of(config.checkpoint)


def table(metrics: dict[str, Any]) -> str:
    """The tables of the arms and of their differences."""
    rows = [
        [
            name,
            *(percent_of(arm[kind], 1) for kind in (PLACED, TOUCHED, NO_ROOM)),
            number(arm["farther"]),
            number(arm["ms"]),
        ]
        for name, arm in metrics["arms"].items()
    ]
    differences = [
        [name, percent(each["value"], (each["low"], each["high"]), 1)] for name, each in metrics["differences"].items()
    ]
    return document(
        "Free space that boxes do not describe",
        f"{metrics['episodes']} scenes; the boxes around the objects cover {percent(metrics['cover'], None, 0)} of the "
        "table on average. Distances from the wish (with 1 cm added) over those of the oracle, median of what both "
        "placed; processor time of the search alone, median.",
        markdown_table(["search", PLACED, TOUCHED, NO_ROOM, "farther", "ms"], rows),
        markdown_table(["placed, same scenes", "difference"], differences),
    )


MEASUREMENT = Measurement(ClutterConfig, measure, table, check, adds=("episodes",))

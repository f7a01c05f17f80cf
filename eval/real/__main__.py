"""`python -m eval.real`: the monitor and the table's masks on public sets of real RGB-D frames."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.statistics import grouped
from eval.common.tables import document
from eval.metrics import Metric, levels, share, summary, total, transposed
from eval.real.judging import OFF_M, Judged, judge
from eval.real.readers import Frame, frames_in
from eval.run import Measurement, Run, Settings, run
from nsrecover.loading import load
from nsrecover.system import System

GOOD_IOU = 0.75
"""Intersection over union from which a mask shows its object."""


@dataclass
class RealConfig(Settings):
    """Measure the monitor and the table's masks on public sets of real RGB-D frames.

    False alarms on still objects, with given masks, with given ones that flicker, and with masks that are made again
    from images with the errors of a D435; objects that are moved, removed or replaced in the images; objects that an
    action has placed, well or badly; masks of what stands on the table; times.

      python -m eval.real data=DIR                 all sets below a folder
      python -m eval.real data=DIR frames=10       a quick look

    Writes metrics.json and table.md to out=DIR; rows.jsonl says of every frame what was judged wrong.

    Attributes:
        folder: folder (data=DIR on the command line) with clones of the sets, or parts of them; docs/real_cameras.md
            names them.
        frames: number of frames at most; all if null.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    folder: str = "data/real"
    frames: int | None = None
    checkpoint: str | None = None


def measure(config: RealConfig, run: Run) -> dict[str, Any]:
    """Judge all frames of the sets in a folder; earlier ones replace objects of later ones."""
    count = len(_frames(config.folder))
    places = range(count if config.frames is None else min(count, config.frames))
    task = partial(_judged, folder=config.folder, checkpoint=config.checkpoint)
    rows = run.each(task, places, "frame")
    return {"sets": {name: summary(part, METRICS) for name, part in grouped(rows, lambda row: row.source).items()}}


def _judged(place: int, folder: str, checkpoint: str | None) -> Judged:
    frames = _frames(folder)
    return judge(frames[place], _system(checkpoint), frames[place // 2] if place else None, place % 2 == 1)


@cache
def _frames(folder: str) -> list[Frame]:
    return list(frames_in(Path(folder)))


@cache
def _system(checkpoint: str | None) -> System[Any]:
    return load(checkpoint)


def _edited(kind: str, title: str) -> Metric:
    return share(kind, title, lambda row: row.edits.get(kind, ()), counted=True)


def _made(kind: str, title: str) -> Metric:
    return share(f"made.{kind}", title, lambda row: row.made_edits.get(kind, ()), counted=True)


METRICS = (
    total("frames", "frames"),
    share("refused", "frames refused", lambda row: bool(row.refused), counted=True),
    share("false_alarms", "false alarms, still objects", lambda row: row.still, counted=True),
    share("flicker", "false alarms, masks that flicker", lambda row: row.flickers, counted=True),
    share("bystanders", "false alarms, others of edited frames", lambda row: row.bystanders, counted=True),
    _edited("moved", "moved 30 mm, noticed"),
    _edited("removed", "removed, noticed"),
    share("called_gone", "removed, called missing or replaced", lambda row: row.gone, counted=True),
    _edited("replaced", "replaced, noticed"),
    share("made.frames", "no masks given: frames with a false alarm", lambda row: any(row.made_still),
          lambda row: row.made_still, counted=True),
    share("made.bystanders", "no masks given: false alarms, others of edited frames",
          lambda row: row.made_bystanders, counted=True),
    _made("moved", "no masks given: moved 30 mm, noticed"),
    _made("removed", "no masks given: removed, noticed"),
    share("placed.good", "placed well: false alarms", lambda row: row.placed.get("good", ()), counted=True),
    *(share(f"placed.off_{1000 * off:.0f}", f"placed {1000 * off:.0f} mm off, noticed",
            partial(lambda row, kind: row.placed.get(kind, ()), kind=f"{1000 * off:.0f} mm"), counted=True)
      for off in OFF_M),
    share("segmented", "IoU ≥ 0.75", lambda row: [iou >= GOOD_IOU for iou in row.ious.values()], counted=True),
    share("segmented_odd", "IoU ≥ 0.75, odd frames",
          lambda row: [iou >= GOOD_IOU for iou in row.ious.values() if row.odd], counted=True),
    share("segmented_uncovered", "IoU ≥ 0.75, nothing covers them",
          lambda row: [iou >= GOOD_IOU for n, iou in row.ious.items() if n not in row.covered], counted=True),
    levels("table_mm", "table, median / largest error, mm",
           lambda row: () if row.height_mm is None else (row.height_mm,), median=np.median, largest=max),
    levels("segment_ms", "table and masks, median / p95, ms of one core",
           lambda row: (row.segment_ms,) if row.segment_ms else (), 1),
    levels("look_ms", "the same in second looks", lambda row: row.look_ms, 1),
    levels("check_ms", "comparison, median / p95, ms of one core", lambda row: row.check_ms, 1),
    Metric("reasons", "", lambda rows: sorted({row.refused for row in rows if row.refused}), str),
)  # fmt: skip


def _table(metrics: dict[str, Any]) -> str:
    return document("Real frames", transposed("", metrics["sets"], METRICS))


MEASUREMENT = Measurement(RealConfig, measure, _table)


if __name__ == "__main__":
    # conf/data is a group of the training, so that Hydra would look there for a setting of this name
    given = [f"folder={each[5:]}" if each.startswith("data=") else each for each in sys.argv[1:]]
    sys.argv[1:] = given
    run(MEASUREMENT)

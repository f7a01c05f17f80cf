"""`python -m eval.real`: the monitor and the table's masks on public sets of real RGB-D frames."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from eval.common.runner import Measurement, Run, Settings
from eval.common.statistics import grouped, p95, share_of, spread
from eval.common.tables import document, markdown_table, number, percent_of
from eval.real.edits import again, moved, removed, replaced
from eval.real.readers import Frame, frames_in
from nsrecover.core import Action, Camera, Observation, Plan
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import NsrecoverError
from nsrecover.loading import load
from nsrecover.perception.masks.table import find_table, masks_on
from nsrecover.system import System

GOOD_IOU = 0.75
"""Intersection over union from which a mask shows its object."""

COVERED_SHARE = 0.05
"""An object is covered if nearer ones border on more of its outline."""

TABLE_M = 0.006
"""Readings outside of all objects, this close to a first fit, are those of the careful one."""


@dataclass
class RealConfig(Settings):
    """Measure the monitor and the table's masks on public sets of real RGB-D frames.

    False alarms on still objects, objects that are moved, removed or replaced in the images, masks of what stands on
    the table, and times.

      python -m eval.real data=DIR                 all sets below a folder
      python -m eval.real data=DIR frames=10       a quick look

    Writes metrics.json and table.md to out=DIR.

    Attributes:
        folder: folder (data=DIR on the command line) with clones of the sets, or parts of them; docs/real_cameras.md
            names them.
        frames: number of frames at most; all if null.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    folder: str = "data/real"
    frames: int | None = None
    checkpoint: str | None = None
    out: str = "outputs/real"


@dataclass
class Judged:
    """What was found in one frame.

    Attributes:
        source: the set.
        ious: object -> largest intersection over union with a mask of depth; empty without truth.
        covered: objects of which something nearer covers a part.
        height_mm: distance between the table and a careful fit, in its middle; None without truth.
        segment_ms: processor time of table and masks.
        check_ms: processor times of the monitor's comparisons.
        still: for every object of unchanged frames, whether it deviates.
        edits: kind of edit -> for every edited object, whether it deviates.
        gone: for every removed object, whether it is called missing or replaced.
        bystanders: for the other objects of edited frames, whether they deviate.
        refused: why the monitor refused the frame; empty if it did not.
    """

    source: str
    ious: dict[int, float] = field(default_factory=dict)
    covered: list[int] = field(default_factory=list)
    height_mm: float | None = None
    segment_ms: float = 0.0
    check_ms: list[float] = field(default_factory=list)
    still: list[bool] = field(default_factory=list)
    edits: dict[str, list[bool]] = field(default_factory=dict)
    gone: list[bool] = field(default_factory=list)
    bystanders: list[bool] = field(default_factory=list)
    refused: str = ""


def measure(config: RealConfig, run: Run) -> dict[str, Any]:
    """Judge all frames of the sets in a folder, one after the other: earlier ones replace objects of later ones."""
    system = load(config.checkpoint)
    rows = list[Judged]()
    earlier = list[Observation]()
    for place, frame in enumerate(frames_in(Path(config.folder))):
        if config.frames is not None and place >= config.frames:
            break
        row, seen = judge(frame, system, earlier[len(earlier) // 2] if earlier else None)
        rows.append(row)
        earlier += [] if seen is None else [seen]
    return {"sets": {name: _metrics(part) for name, part in grouped(rows, lambda row: row.source).items()}}


def judge(frame: Frame, system: System[Any], other: Observation | None) -> tuple[Judged, Observation | None]:
    """Judge one frame.

    Args:
        frame: the frame.
        system: whose monitor compares.
        other: another frame, whose objects replace those of this one.

    Returns:
        What was found, and the frame as an observation; that is None if the table was not found.
    """
    row = Judged(frame.source)
    began = time.process_time()
    try:
        table = find_table(frame.depth_m, frame.intrinsics)
    except NsrecoverError as problem:
        row.refused = str(problem)
        return row, None
    masks = masks_on(table, frame.depth_m, frame.intrinsics)
    row.segment_ms = 1000 * (time.process_time() - began)
    if frame.labels is not None:
        row.ious, row.covered = _overlaps(masks, frame), _covered(frame)
        row.height_mm = 1000 * abs(float(_careful_height(frame, table.normal, table.distance_m, table.middle)))
        masks = frame.labels
    names = {n: f"object {n}" for n in np.unique(masks[masks > 0]).tolist()}
    camera = Camera(frame.intrinsics, table.world_from_camera)
    seen = Observation(frame.rgb[None], frame.depth_m[None], masks[None], (camera,), names)
    if len(names) < 2:
        return row, seen
    first, second = list(names.values())[:2]
    plan = Plan((Action("top", (first, second)),))
    try:
        row.still = [cause is not None for cause in _causes(system, plan, seen, seen, row).values()]
        for n, name in names.items():
            changed = {"removed": removed(seen, n, table), "moved": moved(seen, n, table)}
            if other is not None:
                changed["replaced"] = replaced(seen, n, other)
            for kind, after in changed.items():
                found = _causes(system, plan, seen, after, row)
                cause = found.pop(name)
                row.edits.setdefault(kind, []).append(cause is not None)
                row.bystanders += [each is not None for each in found.values()]
                if kind == "removed":
                    row.gone.append(cause in (Cause.MISSING, Cause.REPLACED))
    except NsrecoverError as problem:
        row.refused = str(problem)
    return row, seen


def _causes(
    system: System[Any], plan: Plan, before: Observation, after: Observation, row: Judged
) -> dict[str, Cause | None]:
    """Object -> what the monitor says happened to it; None if it does not deviate."""
    monitor = system.monitor(plan, before)
    after = again(after)
    began = time.process_time()
    found = monitor.check(after)
    row.check_ms.append(1000 * (time.process_time() - began))
    causes = {each.name: each.cause for each in found.deviations}
    return {name: causes.get(name) for name in before.labels.values()}


def _overlaps(masks: np.ndarray, frame: Frame) -> dict[int, float]:
    """Object -> largest intersection over union with a mask, of the pixels with depth."""
    assert frame.labels is not None
    masks, best = np.where(frame.depth_m > 0, masks, 0), dict[int, float]()
    for number_ in np.unique(frame.labels[frame.labels > 0]).tolist():
        own = frame.labels == number_
        near = [masks == n for n in np.unique(masks[own]).tolist() if n]
        best[number_] = max((float((own & each).sum() / (own | each).sum()) for each in near), default=0.0)
    return best


def _covered(frame: Frame) -> list[int]:
    """Objects of which something nearer covers a part: it borders on their outline."""
    assert frame.labels is not None
    labels, depth, covered = frame.labels, frame.depth_m, list[int]()
    for n in np.unique(labels[labels > 0]).tolist():
        own = labels == n
        ring = ndimage.binary_dilation(own, iterations=8) & ~own
        rows, columns = ndimage.distance_transform_edt(~own, return_distances=False, return_indices=True)
        nearer = (labels > 0) & (labels != n) & (depth > 0) & (depth < depth[rows, columns] - 0.008)
        if (ring & nearer).sum() > COVERED_SHARE * ring.sum():
            covered.append(n)
    return covered


def _careful_height(frame: Frame, normal: np.ndarray, distance_m: float, middle: np.ndarray) -> float:
    """Height of a least-squares fit to all readings of the table, in its middle, above the table that was found."""
    assert frame.labels is not None
    k = frame.intrinsics
    rows, columns = np.nonzero((frame.labels == 0) & (frame.depth_m > 0))
    z = frame.depth_m[rows, columns].astype(np.float64)
    points = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0] * z, (rows + 0.5 - k[1, 2]) / k[1, 1] * z, z], axis=1)
    heights = points @ normal + distance_m
    near = np.abs(heights) < TABLE_M + 0.004 * z**2
    flat = points[near] - middle
    terms = np.column_stack([flat - np.outer(flat @ normal, normal), np.ones(len(flat))])
    fitted = np.linalg.lstsq(terms, heights[near], rcond=None)[0]
    return float(fitted[3])


def _metrics(rows: Sequence[Judged]) -> dict[str, Any]:
    kinds = ("moved", "removed", "replaced")
    return {
        "frames": len(rows),
        "refused": share_of(bool(row.refused) for row in rows),
        "false_alarms": share_of(each for row in rows for each in row.still),
        "bystanders": share_of(each for row in rows for each in row.bystanders),
        "called_gone": share_of(each for row in rows for each in row.gone),
        **{kind: share_of(each for row in rows for each in row.edits.get(kind, ())) for kind in kinds},
        "segmented": share_of(iou >= GOOD_IOU for row in rows for iou in row.ious.values()),
        "segmented_uncovered": share_of(
            iou >= GOOD_IOU for row in rows for n, iou in row.ious.items() if n not in row.covered
        ),
        "table_mm": spread([r.height_mm for r in rows if r.height_mm is not None], 2, median=np.median, largest=max),
        "segment_ms": spread([row.segment_ms for row in rows if row.segment_ms], 1, median=np.median, p95=p95),
        "check_ms": spread([each for row in rows for each in row.check_ms], 1, median=np.median, p95=p95),
        "reasons": sorted({row.refused for row in rows if row.refused}),
    }


def _table(metrics: dict[str, Any]) -> str:
    shares = {
        "frames refused": "refused", "false alarms, still objects": "false_alarms",
        "false alarms, others of edited frames": "bystanders", "moved 30 mm, noticed": "moved",
        "removed, noticed": "removed",
        "removed, called missing or replaced": "called_gone", "replaced, noticed": "replaced",
        "IoU ≥ 0.75": "segmented",
        "IoU ≥ 0.75, nothing covers them": "segmented_uncovered",
    }  # fmt: skip
    sets = metrics["sets"]
    lines = [["frames", *(found["frames"] for found in sets.values())]]
    for text, key in shares.items():
        lines.append([text, *(f"{percent_of(each[key], 1)} of {each[key]['of']}" for each in sets.values())])
    lines += [
        [text, *(f"{number(each[key][a], 1)} / {number(each[key][b], 1)}" for each in sets.values())]
        for text, key, a, b in (
            ("table, median / largest error, mm", "table_mm", "median", "largest"),
            ("table and masks, median / p95, ms of one core", "segment_ms", "median", "p95"),
            ("comparison, median / p95, ms of one core", "check_ms", "median", "p95"),
        )
    ]
    return document("Real frames", markdown_table(["", *sets], lines))


MEASUREMENT = Measurement(RealConfig, measure, _table)

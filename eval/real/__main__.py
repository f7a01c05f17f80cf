"""`python -m eval.real`: the monitor and the table's masks on public sets of real RGB-D frames."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from eval.common.statistics import grouped
from eval.common.tables import document
from eval.metrics import Metric, levels, share, summary, total, transposed
from eval.real.readers import Frame, frames_in
from eval.run import Measurement, Run, Settings, run
from nsrecover.core import Action, Camera, Observation, Plan
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import NsrecoverError
from nsrecover.loading import load
from nsrecover.perception.masks.table import SeenTable, find_table, masks_on
from nsrecover.system import System

SHIFT_M = 0.03
"""How far an object is moved, along the table and across the line of sight."""


def removed(seen: Observation, number: int, table: SeenTable) -> Observation:
    """The observation of one camera without an object: the table shows where it was.

    Args:
        seen: masks and images.
        number: of the object's mask.
        table: as the camera sees it.
    """
    own = seen.instances[0] == number
    rgb, depth, instances = seen.rgb.copy(), seen.depth_m.copy(), seen.instances.copy()
    bare = (instances[0] == 0) & (depth[0] > 0)
    rng = np.random.default_rng(0)
    rays = _rays(seen)
    plane = -table.distance_m / np.minimum(rays @ table.normal, -1e-6)
    noise = rng.standard_normal(int(own.sum())) * (0.001 + 0.001 * plane[own] ** 2)
    depth[0][own] = np.clip(plane[own] + noise, 0.0, 5.0)
    texture = rgb[0][bare]
    rgb[0][own] = texture[rng.integers(0, len(texture), int(own.sum()))]
    instances[0][own] = 0
    labels = {n: name for n, name in seen.labels.items() if n != number}
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances, labels=labels)


def moved(seen: Observation, number: int, table: SeenTable) -> Observation:
    """The observation with an object moved to the left; what is behind it is the table."""
    own = seen.instances[0] == number
    shown = own & (seen.depth_m[0] > 0)
    bare = removed(seen, number, table)
    rgb, depth, instances = bare.rgb.copy(), bare.depth_m.copy(), bare.instances.copy()
    k = np.asarray(seen.cameras[0].intrinsics, np.float64)
    points = _rays(seen)[shown] * seen.depth_m[0][shown, None] + SHIFT_M * table.across[1]
    rows, columns = np.nonzero(shown)
    pixels = points @ k.T
    u, v = (np.floor(pixels[:, axis] / pixels[:, 2]).astype(int) for axis in (0, 1))
    for by in (0, 1):  # gaps between shifted pixels are closed
        at_u, at_v = np.clip(u + by, 0, depth.shape[2] - 1), np.clip(v, 0, depth.shape[1] - 1)
        nearer = (depth[0][at_v, at_u] == 0) | (points[:, 2] < depth[0][at_v, at_u])
        at_u, at_v = at_u[nearer], at_v[nearer]
        depth[0][at_v, at_u], instances[0][at_v, at_u] = points[nearer, 2], number
        rgb[0][at_v, at_u] = seen.rgb[0][rows[nearer], columns[nearer]]
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances)


def replaced(seen: Observation, number: int, other: Observation) -> Observation:
    """The observation with an object that has the shape of this one, and the looks of one of another scene."""
    own = seen.instances[0] == number
    numbers, sizes = np.unique(other.instances[0][other.instances[0] > 0], return_counts=True)
    theirs = other.instances[0] == numbers[sizes.argmax()]
    source, target = (np.nonzero(mask) for mask in (theirs, own))
    places = []
    for axis in (0, 1):  # the other object's picture is stretched over this one
        low, high = target[axis].min(), target[axis].max() + 1
        start, end = source[axis].min(), source[axis].max() + 1
        places.append((start + (target[axis] - low) * (end - start) / (high - low)).astype(int))
    rgb = seen.rgb.copy()
    rgb[0][own] = other.rgb[0][places[0], places[1]]
    return replace(seen, rgb=rgb)


def again(seen: Observation) -> Observation:
    """The observation as a second image shows it: colours and depth (0.3 mm) differ a little everywhere."""
    rng = np.random.default_rng(0)
    rgb = np.clip(seen.rgb + rng.integers(-1, 2, seen.rgb.shape), 0, 255).astype(np.uint8)
    noise = rng.normal(0, 0.0003, seen.depth_m.shape)
    depth = np.where(seen.depth_m > 0, np.maximum(seen.depth_m + noise, 0), 0).astype(np.float32)
    return replace(seen, rgb=rgb, depth_m=depth)


def _rays(seen: Observation) -> np.ndarray:
    """Directions (H, W, 3) through all pixels in the camera's frame, 1 m long along the optical axis."""
    k = seen.cameras[0].intrinsics
    v, u = np.indices(seen.depth_m.shape[1:]) + 0.5
    return np.stack([(u - k[0, 2]) / k[0, 0], (v - k[1, 2]) / k[1, 1], np.ones(u.shape)], axis=-1)


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
    return {"sets": {name: summary(part, METRICS) for name, part in grouped(rows, lambda row: row.source).items()}}


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


def _edited(kind: str, title: str) -> Metric:
    return share(kind, title, lambda row: row.edits.get(kind, ()), counted=True)


METRICS = (
    total("frames", "frames"),
    share("refused", "frames refused", lambda row: bool(row.refused), counted=True),
    share("false_alarms", "false alarms, still objects", lambda row: row.still, counted=True),
    share("bystanders", "false alarms, others of edited frames", lambda row: row.bystanders, counted=True),
    _edited("moved", "moved 30 mm, noticed"),
    _edited("removed", "removed, noticed"),
    share("called_gone", "removed, called missing or replaced", lambda row: row.gone, counted=True),
    _edited("replaced", "replaced, noticed"),
    share("segmented", "IoU ≥ 0.75", lambda row: [iou >= GOOD_IOU for iou in row.ious.values()], counted=True),
    share("segmented_uncovered", "IoU ≥ 0.75, nothing covers them",
          lambda row: [iou >= GOOD_IOU for n, iou in row.ious.items() if n not in row.covered], counted=True),
    levels("table_mm", "table, median / largest error, mm",
           lambda row: () if row.height_mm is None else (row.height_mm,), median=np.median, largest=max),
    levels("segment_ms", "table and masks, median / p95, ms of one core",
           lambda row: (row.segment_ms,) if row.segment_ms else (), 1),
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

"""What the monitor says of one real frame and its edits: with given masks, with masks of its own, and after actions."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import ndimage

from eval.real.edits import again, flickering, moved, noisy, removed, replaced
from eval.real.readers import Frame
from nsrecover.core import Action, Camera, Cause, FloatArray, Observation, Plan
from nsrecover.errors import NsrecoverError
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.masks.table import SeenTable, TableMasks, find_table, masks_on
from nsrecover.system import System

COVERED_SHARE = 0.05
"""An object is covered if nearer ones border on more of its outline."""

TABLE_M = 0.006
"""Readings outside of all objects, this close to a first fit, are those of the careful one."""

OFF_M = (0.03, 0.05)
"""How far placed objects are off."""

STARTS_M = ((0.0, 0.12), (0.0, -0.12), (-0.12, 0.0), (0.15, 0.0))
"""Where placed objects were before: away from the camera and to the left, metres."""

SEEN_SHARE, FEWEST_PX, UNCOVERED = 0.7, 1500, 0.9
"""Placed objects have so many pixels and show this share of them in both places; others show this share of theirs."""


@dataclass
class Judged:
    """What was found in one frame.

    Attributes:
        source: the set.
        name: of the frame.
        odd: whether it is a frame with an odd place in its set: those were not used to choose constants.
        ious: object -> largest intersection over union with a mask of depth; empty without truth.
        covered: objects of which something nearer covers a part.
        height_mm: distance between the table and a careful fit, in its middle; None without truth.
        segment_ms: processor time of table and masks.
        check_ms: processor times of the monitor's comparisons.
        still: for every object of unchanged frames, whether it deviates.
        flickers: the same if the given masks flicker.
        edits: kind of edit -> for every edited object, whether it deviates.
        gone: for every removed object, whether it is called missing or replaced.
        bystanders: for the other objects of edited frames, whether they deviate.
        made_still: for every object of the library's own masks, seen twice, whether it deviates.
        made_edits: as `edits`, with these masks.
        made_bystanders: as `bystanders`, with these masks.
        look_ms: processor times of their second looks.
        placed: "good", or how far off in mm -> for every object that an action has placed, whether it deviates.
        refused: why the monitor refused the frame; empty if it did not.
        wrong: what was judged wrong, for a look at it.
    """

    source: str
    name: str = ""
    odd: bool = False
    ious: dict[int, float] = field(default_factory=dict)
    covered: list[int] = field(default_factory=list)
    height_mm: float | None = None
    segment_ms: float = 0.0
    check_ms: list[float] = field(default_factory=list)
    still: list[bool] = field(default_factory=list)
    flickers: list[bool] = field(default_factory=list)
    edits: dict[str, list[bool]] = field(default_factory=dict)
    gone: list[bool] = field(default_factory=list)
    bystanders: list[bool] = field(default_factory=list)
    made_still: list[bool] = field(default_factory=list)
    made_edits: dict[str, list[bool]] = field(default_factory=dict)
    made_bystanders: list[bool] = field(default_factory=list)
    look_ms: list[float] = field(default_factory=list)
    placed: dict[str, list[bool]] = field(default_factory=dict)
    refused: str = ""
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Judge:
    """Judges one frame.

    Attributes:
        frame: the frame.
        system: whose monitor compares.
        row: what was found so far.
    """

    frame: Frame
    system: System[Any]
    row: Judged
    _last: list[tuple[Observation, Action, Monitor[Any, Any]]] = field(default_factory=list)

    def begin(self) -> tuple[SeenTable, Observation] | None:
        """The table, and the frame with true masks or else those of the table; None if no table is found."""
        frame, row = self.frame, self.row
        began = time.process_time()
        try:
            table = find_table(frame.depth_m, frame.intrinsics)
        except NsrecoverError as problem:
            row.refused = str(problem)
            return None
        masks = masks_on(table, frame.depth_m, frame.intrinsics)
        row.segment_ms = 1000 * (time.process_time() - began)
        if frame.labels is not None:
            row.ious, row.covered = overlaps(masks, frame.labels, frame.depth_m), _covered(frame)
            row.height_mm = 1000 * abs(_careful_height(frame, table))
            masks = frame.labels
        names = {n: f"object {n}" for n in np.unique(masks[masks > 0]).tolist()}
        camera = Camera(frame.intrinsics, table.world_from_camera)
        return table, Observation(frame.rgb[None], frame.depth_m[None], masks[None], (camera,), names)

    def given(self, table: SeenTable, seen: Observation, other: Observation | None) -> None:
        """Judge the frame and its edits with given masks; objects of another frame replace those of this one."""
        row = self.row
        row.still = [cause is not None for cause in self._causes("still", seen, again(seen)).values()]
        for place, number in enumerate(seen.labels):
            if place < 2:
                found = self._causes("flicker", seen, flickering(noisy(seen, place), number, place))
                row.flickers += [cause is not None for cause in found.values()]
        for n, name in seen.labels.items():
            changed = {"removed": removed(seen, n, table), "moved": moved(seen, n, table)}
            if other is not None:
                changed["replaced"] = replaced(seen, n, other)
            for kind, after in changed.items():
                found = self._causes(kind, seen, again(after), name)
                cause = found.pop(name)
                row.edits.setdefault(kind, []).append(cause is not None)
                row.bystanders += [each is not None for each in found.values()]
                if kind == "removed":
                    row.gone.append(cause in (Cause.MISSING, Cause.REPLACED))

    def made(self, table: SeenTable, truth: Observation) -> None:
        """Judge second looks, which segment again, at the frame and its edits."""
        row, masks = self.row, TableMasks()
        first = masks.look(truth.rgb, truth.depth_m, truth.cameras)
        if len(first.labels) < 2:
            return

        def look(after: Observation, seed: int) -> Observation:
            second, own = noisy(after, seed), copy.deepcopy(masks)
            began = time.process_time()
            seen = own.look(second.rgb, second.depth_m, second.cameras)
            row.look_ms.append(1000 * (time.process_time() - began))
            return seen

        row.made_still = [c is not None for c in self._causes("second look", first, look(truth, 0)).values()]
        for n in truth.labels if self.frame.labels is not None else ():
            numbers, sizes = np.unique(first.instances[0][truth.instances[0] == n], return_counts=True)
            sizes[numbers == 0] = 0
            if not sizes.any():
                continue
            name = first.labels[int(numbers[sizes.argmax()])]
            pieces = {
                each for m, each in first.labels.items() if (truth.instances[first.instances == m] == n).mean() > 0.5
            }
            for seed, (kind, edit) in enumerate((("removed", removed), ("moved", moved)), start=1):
                found = self._causes(f"{kind} without masks", first, look(edit(truth, n, table), seed), name, pieces)
                row.made_edits.setdefault(kind, []).append(found.pop(name) is not None)
                row.made_bystanders += [c is not None for each, c in found.items() if each not in pieces]

    def place(self, table: SeenTable, seen: Observation) -> None:
        """Judge objects that an action has put where they are, or a little beside."""
        for place, n in enumerate(seen.labels):
            start = next(self._starts(table, seen, n, place), None)
            if start is None:
                continue
            way, before = table.world_from_camera[:3, :3] @ start[0], noisy(start[1], 2 * place)
            graph = self.system.perceiver().reset(before)
            x, y, z, *sides = (graph.boxes[graph.index(seen.labels[n])] - np.pad(way, (0, 3))).tolist()
            action = Action("restore", (seen.labels[n],), (x, y, z, *sides))
            for kind, after in self._ends(table, seen, n, place):
                found = self._monitor(before, action).step(action, noisy(after, 2 * place + 1))
                causes = {each.name: each.cause.value for each in found.deviations}
                hit = seen.labels[n] in causes
                self.row.placed.setdefault(kind, []).append(hit)
                if hit != (kind != "good"):
                    self.row.wrong.append(f"placed {kind}: {seen.labels[n]} {causes.get(seen.labels[n], 'missed')}")

    def _starts(
        self, table: SeenTable, seen: Observation, number: int, place: int
    ) -> Iterator[tuple[FloatArray, Observation]]:
        """Ways (3,) to places in which an object and its neighbours are to be seen, and how they look there."""
        own = seen.instances[0] == number
        if len(seen.labels) > 1 and (own & (seen.depth_m[0] > 0)).sum() >= FEWEST_PX:
            for start in np.roll(STARTS_M, -place, axis=0):
                way = start @ table.across
                if _in_view(seen, there := moved(seen, number, table, way), number):
                    yield way, there

    def _ends(self, table: SeenTable, seen: Observation, number: int, place: int) -> Iterator[tuple[str, Observation]]:
        """Where an object ends: nowhere else, or off along both axes of the table."""
        yield "good", seen
        sign = 1 if place % 2 else -1
        for metres in OFF_M:
            for way in (sign * metres * table.across[0], -sign * metres * table.across[1]):
                if _in_view(seen, there := moved(seen, number, table, way), number):
                    yield f"{1000 * metres:.0f} mm", there

    def _monitor(self, before: Observation, action: Action) -> Monitor[Any, Any]:
        """A monitor of one action that has seen a scene; one for all that happens to it."""
        if not self._last or self._last[0][0] is not before or self._last[0][1] != action:
            self._last[:] = [(before, action, self.system.monitor(Plan((action,)), before))]
        models = self.system.model.models
        return copy.deepcopy(self._last[0][2], {id(models): models})

    def _causes(
        self,
        what: str,
        before: Observation,
        after: Observation,
        edited: str | None = None,
        pieces: Collection[str] = (),
    ) -> dict[str, Cause | None]:
        """Object -> what the monitor says happened to it; None if it does not deviate.

        One is edited, and others may be pieces of it, which deviate, too.
        """
        first, second = list(before.labels.values())[:2]
        monitor = self._monitor(before, Action("top", (first, second)))
        began = time.process_time()
        found = monitor.check(after)
        self.row.check_ms.append(1000 * (time.process_time() - began))
        causes = {each.name: each.cause for each in found.deviations}
        self.row.wrong += [
            f"{what}: {name} {cause.value}" for name, cause in causes.items() if name not in (edited, *pieces)
        ]
        if edited is not None and edited not in causes:
            self.row.wrong.append(f"{what}: {edited} missed")
        return {name: causes.get(name) for name in before.labels.values()}


def judge(frame: Frame, system: System[Any], other: Frame | None, odd: bool) -> Judged:
    """Judge one frame.

    Args:
        frame: the frame.
        system: whose monitor compares.
        other: another frame, whose objects replace those of this one.
        odd: whether its place in its set is odd.
    """
    row = Judged(frame.source, frame.name, odd)
    judge_of = Judge(frame, system, row)
    found = judge_of.begin()
    if found is None or len(found[1].labels) < 2:
        return row
    try:
        replacing = None if other is None else Judge(other, system, Judged(other.source)).begin()
        judge_of.given(*found, None if replacing is None else replacing[1])
        judge_of.made(*found)
        judge_of.place(*found)
    except NsrecoverError as problem:
        row.refused = str(problem)
    return row


def _in_view(before: Observation, after: Observation, number: int) -> bool:
    """Whether an object is as good as whole in the second image, and the others are."""
    shares = {n: (after.instances[0] == n).sum() / (before.instances[0] == n).sum() for n in before.labels}
    return bool(shares.pop(number) > SEEN_SHARE) and all(share > UNCOVERED for share in shares.values())


def overlaps(masks: np.ndarray, labels: np.ndarray, depth_m: FloatArray) -> dict[int, float]:
    """Object -> largest intersection over union with a mask, of the pixels with depth."""
    masks, best = np.where(depth_m > 0, masks, 0), dict[int, float]()
    for number in np.unique(labels[labels > 0]).tolist():
        own = labels == number
        near = [masks == n for n in np.unique(masks[own]).tolist() if n]
        best[number] = max((float((own & each).sum() / (own | each).sum()) for each in near), default=0.0)
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


def _careful_height(frame: Frame, table: SeenTable) -> float:
    """Height of a least-squares fit to all readings of the table, in its middle, above the table that was found."""
    assert frame.labels is not None
    k = frame.intrinsics
    rows, columns = np.nonzero((frame.labels == 0) & (frame.depth_m > 0))
    z = frame.depth_m[rows, columns].astype(np.float64)
    points = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0] * z, (rows + 0.5 - k[1, 2]) / k[1, 1] * z, z], axis=1)
    heights = table.heights(points)
    near = np.abs(heights) < TABLE_M + 0.004 * z**2
    flat = points[near] - table.middle
    terms = np.column_stack([flat - np.outer(flat @ table.normal, table.normal), np.ones(len(flat))])
    return float(np.linalg.lstsq(terms, heights[near], rcond=None)[0][3])

"""Masks that segmenters split or merge, put right with the known sizes of the objects."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.perception.detections import Detections
from nsrecover.perception.lifting import MIN_PIXELS, box_around

LARGER_M = 0.012
"""A detection is too large for its object if a side is longer than it can be by more than this."""

AROUND_M = 0.005
"""Points that are this close to a box belong to it."""

ALIKE = 0.5
"""Parts of one object look at least this much alike (cosine)."""


def absorb_fragments(
    detections: Detections, found: npt.NDArray[np.intp], sizes: FloatArray
) -> tuple[Detections, npt.NDArray[np.intp]]:
    """Join detections that no object has to the objects of which they show a part.

    Args:
        detections: M of them.
        found: (N,) the detection of each object, -1 for none.
        sizes: (N, K, 3) sides that each object may have.

    Returns:
        The same without these parts: detections, and `found` for them.
    """
    groups: list[list[int]] = [[i] for i in range(len(detections))]
    for part in np.setdiff1d(np.arange(len(detections)), found).tolist():
        for row, own in enumerate(found.tolist()):
            if own < 0 or detections.visual[part] @ detections.visual[own] < ALIKE:
                continue
            together = box_around(np.concatenate([detections.points[own], detections.points[part]]))
            if fits(together, sizes[row]):
                groups[own].append(part)
                groups[part] = []
                break
    kept = [group for group in groups if group]
    new_row = {group[0]: row for row, group in enumerate(kept)}
    moved = np.array([new_row.get(int(own), -1) for own in found], dtype=np.intp)
    return (detections if len(kept) == len(detections) else detections.joined(kept)), moved


def separate_merged(
    detections: Detections, found: npt.NDArray[np.intp], sizes: FloatArray, expected: FloatArray
) -> tuple[Detections, npt.NDArray[np.intp]]:
    """Take out of detections that are too large for their object the points on other objects.

    Args:
        detections: M of them.
        found: (N,) the detection of each object, -1 for none.
        sizes: (N, K, 3) sides that each object may have.
        expected: (N, 6) where each should be.

    Returns:
        Detections, with one more for every object that only a mask of two shows; and `found` for them.
    """
    found = found.copy()
    for row, own in enumerate(found.tolist()):
        if own < 0 or fits(detections.boxes[own], sizes[row]):
            continue
        points = detections.points[own]
        for other, theirs in enumerate(found.tolist()):
            if other == row or not expected[other, 3:].all():
                continue
            on_other = near_box(points, expected[other])
            if theirs >= 0:
                on_other |= near_box(points, detections.boxes[theirs])
            surplus = on_other & ~near_box(points, expected[row])
            if surplus.sum() < MIN_PIXELS or (~surplus).sum() < MIN_PIXELS:
                continue
            if not fits(box_around(points[~surplus]), sizes[row]):
                continue
            detections = detections.with_points(own, points[~surplus])
            if theirs < 0:
                detections = detections.with_copy(own, points[surplus])
                found[other] = len(detections) - 1
            break
    return detections, found


def fits(box: FloatArray, sizes: FloatArray) -> bool:
    """Whether a box (6,) is not larger than an object with some sides (K, 3), whichever way it lies."""
    excess = np.sort(box[3:]) - np.sort(sizes, axis=1)
    return bool((excess < LARGER_M).all(axis=1).any())


def near_box(points: FloatArray, box: FloatArray) -> npt.NDArray[np.bool_]:
    """(M,) whether points (M, 3) are inside a box (6,), or close to it."""
    return np.asarray((np.abs(points - box[:3]) <= box[3:] / 2 + AROUND_M).all(axis=1))

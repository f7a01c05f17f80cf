"""Places that objects may be in during a search, and what stands in whose way, as bit masks over the places.

A place is an object with a box: where it was observed, where a subgoal has it, or free space. A state of the search is
one place for each object. Which places exclude each other and which carry each other is worked out once, vectorised, so
that testing a precondition in a state is a few operations on integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.scene.geometry import CONTACT_M, bottom, footprint_overlap, top
from nsrecover.scene.relations import SUPPORT_OVERLAP
from nsrecover.structs import FloatArray

SLACK_M = 0.004
"""Boxes that overlap less than this do not exclude each other (as `nsrecover.scene.geometry.intersects`)."""

MAX_SAG_M = 0.05
"""An imagined object counts as carried by the one below if it hovers over it, or sinks in, by less than this."""

BoolArray = npt.NDArray[np.bool_]


class Place(NamedTuple):
    """An object with a box (6,) and an appearance (D,)."""

    owner: int
    box: FloatArray
    visual: FloatArray


def pairwise(boxes: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Overlap and support between all boxes (S, 6).

    Returns:
        Whether i and j run into each other (S, S), whether they do so deeper than boxes may be off (S, S), and whether
        i rests on j (S, S).
    """
    centre, size = boxes[:, :3], boxes[:, 3:]
    gaps = np.abs(centre[:, None] - centre[None]) - (size[:, None] + size[None]) / 2
    clash, deep = np.all(gaps < -SLACK_M, axis=-1), np.all(gaps < -CONTACT_M, axis=-1)
    shared = np.clip(-gaps[..., :2], 0.0, np.minimum(size[:, None, :2], size[None, :, :2])).prod(-1)
    area = size[:, 0] * size[:, 1]
    share = shared / np.maximum(np.minimum(area[:, None], area[None]), 1e-9)
    touching = np.abs(bottom(boxes)[:, None] - top(boxes)[None]) < CONTACT_M
    return clash, deep, touching & (share >= SUPPORT_OVERLAP)


def carrier(boxes: FloatArray, index: int) -> int | None:
    """The object that carries another one in an imagined scene (N, 6), whose heights may be off; None for the table."""
    box = boxes[index]
    if float(bottom(box)) <= CONTACT_M:
        return None
    sag = np.abs(top(boxes) - bottom(box))
    sag[(footprint_overlap(box, boxes) < SUPPORT_OVERLAP) | (boxes[:, 2] >= box[2])] = np.inf
    sag[index] = np.inf
    best = int(sag.argmin())
    return best if sag[best] < MAX_SAG_M else None


def masks(rows: BoolArray) -> list[int]:
    """Each row (S, S) as an integer with bit j set where the row is true."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]

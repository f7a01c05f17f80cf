"""Places that objects may be in during a search, and what stands in whose way, as bit masks over the places.

A place is an object with a box: where it was observed, where a subgoal has it, or free space. A state of the search is
one place for each object. Which places exclude each other and which carry each other is worked out once, vectorised, so
that testing a precondition in a state is a few operations on integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core.geometry import CONTACT_M, bottom, top
from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.relations import SUPPORT_OVERLAP

SLACK_M = 0.004
"""Boxes that overlap less than this do not exclude each other (as `nsrecover.core.geometry.intersects`)."""

MAX_SAG_M = 0.05
"""An imagined object counts as carried by the one below if it hovers over it, or sinks in, by less than this."""

BoolArray = npt.NDArray[np.bool_]


class Place(NamedTuple):
    """An object with a box (6,) and an appearance (D,)."""

    owner: int
    box: FloatArray
    visual: FloatArray


def _shared_footprint(first: FloatArray, second: FloatArray, gaps: Sequence[FloatArray]) -> FloatArray:
    """Share of the smaller footprint that is shared, given the gaps along x and y."""
    width, depth = (
        np.minimum(np.maximum(-gaps[i], 0.0), np.minimum(first[..., 3 + i], second[..., 3 + i])) for i in range(2)
    )
    smaller = np.minimum(first[..., 3] * first[..., 4], second[..., 3] * second[..., 4])
    return np.asarray(width * depth / np.maximum(smaller, 1e-9))


def pairwise(boxes: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Overlap and support between all boxes (..., S, 6).

    Returns:
        Whether i and j run into each other (..., S, S), whether they do so deeper than boxes may be off (..., S, S),
        and whether i rests on j (..., S, S).
    """
    first, second = boxes[..., :, None, :], boxes[..., None, :, :]
    gaps = [np.abs(first[..., i] - second[..., i]) - (first[..., 3 + i] + second[..., 3 + i]) / 2 for i in range(3)]
    clash = (gaps[0] < -SLACK_M) & (gaps[1] < -SLACK_M) & (gaps[2] < -SLACK_M)
    deep = (gaps[0] < -CONTACT_M) & (gaps[1] < -CONTACT_M) & (gaps[2] < -CONTACT_M)
    touching = np.abs(bottom(first) - top(second)) < CONTACT_M
    return clash, deep, touching & (_shared_footprint(first, second, gaps) >= SUPPORT_OVERLAP)


def _sags(over: FloatArray, under: FloatArray) -> FloatArray:
    """How far boxes hover over others, or sink in, (...,); infinite for those that cannot carry them."""
    gaps = [np.abs(over[..., i] - under[..., i]) - (over[..., 3 + i] + under[..., 3 + i]) / 2 for i in range(2)]
    sag: FloatArray = np.abs(top(under) - bottom(over))
    sag[(_shared_footprint(over, under, gaps) < SUPPORT_OVERLAP) | (under[..., 2] >= over[..., 2])] = np.inf
    return sag


def carrier(boxes: FloatArray, index: int) -> int | None:
    """The object that carries another one in an imagined scene (N, 6), whose heights may be off; None for the table."""
    if float(bottom(boxes[index])) <= CONTACT_M:
        return None
    sag = _sags(boxes[index], boxes)
    best = int(sag.argmin())
    return best if sag[best] < MAX_SAG_M else None


def carriers_along(boxes: FloatArray) -> npt.NDArray[np.intp]:
    """What carries each object in the scenes of traces (..., S, N, 6), one after the other: (..., S, N), -1 the table.

    An action changes that only for what it moves and for what that carries.
    """
    sag = _sags(boxes[..., :, None, :], boxes[..., None, :, :])
    best = sag.argmin(-1)
    near = np.take_along_axis(sag, best[..., None], -1)[..., 0] < MAX_SAG_M
    found = np.where(near & (bottom(boxes) > CONTACT_M), best, -1)
    changed = np.any(boxes[..., 1:, :, :] != boxes[..., :-1, :, :], axis=-1)
    for t in range(1, boxes.shape[-3]):
        before = found[..., t - 1, :]
        moved = changed[..., t - 1, :]
        along = moved | np.take_along_axis(moved, np.maximum(before, 0), -1) & (before >= 0)
        found[..., t, :] = np.where(along, found[..., t, :], before)
    return found


def masks(rows: BoolArray) -> list[int]:
    """Each row (S, S) as an integer with bit j set where the row is true."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]

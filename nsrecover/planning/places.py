"""Places of objects in a search, and blocking tables over them as bit masks.

A place is an object with a box: where it was observed, where a subgoal has it, or free space. A state of the search is
one place for each object. Which places exclude or carry each other is computed once, so that a precondition is tested
by a few operations on integers.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core.geometry import CONTACT_M, bottom, footprint_overlap, gaps, top
from nsrecover.core.scene import FloatArray
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.relations import SUPPORT_OVERLAP

SLACK_M = 0.004
"""Boxes that overlap less than this do not exclude each other (as `nsrecover.core.geometry.intersects`)."""

MAX_SAG_M = 0.05
"""An imagined object counts as carried by the one below if it hovers over it, or sinks in, by less than this."""

BoolArray = npt.NDArray[np.bool_]


class OwnedBox(NamedTuple):
    """An object with a box (6,) and an appearance (D,)."""

    owner: int
    box: FloatArray
    visual: FloatArray


def pairwise(boxes: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Overlap and support between all boxes (..., S, 6).

    Returns:
        Whether i and j run into each other (..., S, S), whether they do so deeper than boxes may be off (..., S, S),
        and whether i rests on j (..., S, S).
    """
    others = boxes[..., None, :, :]
    apart = gaps(boxes, others)
    touching = np.abs(bottom(boxes)[..., :, None] - top(boxes)[..., None, :]) < CONTACT_M
    rests = touching & (footprint_overlap(boxes, others) >= SUPPORT_OVERLAP)
    return np.all(apart < -SLACK_M, axis=-1), np.all(apart < -CONTACT_M, axis=-1), rests


def carriers(boxes: FloatArray) -> npt.NDArray[np.intp]:
    """The carriers (..., N), -1 for the table, in imagined scenes (..., N, 6), whose heights may be off."""
    under = boxes[..., None, :, :]
    sag = np.abs(top(under) - bottom(boxes)[..., None])  # how far they hover over others, or sink in
    sag[(footprint_overlap(boxes, under) < SUPPORT_OVERLAP) | (under[..., 2] >= boxes[..., None, 2])] = np.inf
    best = sag.argmin(-1)
    near = np.take_along_axis(sag, best[..., None], -1)[..., 0] < MAX_SAG_M
    return np.where(near & (bottom(boxes) > CONTACT_M), best, -1)


def carriers_along(boxes: FloatArray) -> npt.NDArray[np.intp]:
    """The carrier of each object in the scenes of traces (..., S, N, 6): (..., S, N), -1 for the table.

    An action changes it only for the object that it moves and for what that object carries.
    """
    found = carriers(boxes)
    changed = np.any(boxes[..., 1:, :, :] != boxes[..., :-1, :, :], axis=-1)
    for t in range(1, boxes.shape[-3]):
        before = found[..., t - 1, :]
        moved = changed[..., t - 1, :]
        along = moved | np.take_along_axis(moved, np.maximum(before, 0), -1) & (before >= 0)
        found[..., t, :] = np.where(along, found[..., t, :], before)
    return found


def carried(
    owner: npt.NDArray[np.intp], right: BoolArray, below: npt.NDArray[np.intp], ignored: Collection[int]
) -> BoolArray:
    """Whether place j is right for the object that carries the object of place i in some imagined scene: (P, P).

    Args:
        owner: (P,) the object of each place.
        right: (P, S) which places are right in which scenes.
        below: (S, N) the carrier of each object in each scene, -1 for the table.
        ignored: objects that carry nothing and are not carried.
    """
    found = np.zeros((len(owner), len(owner)), dtype=np.bool_)
    for t, known in enumerate(below.tolist()):
        for i, carrier in enumerate(known):
            if carrier >= 0 and i not in ignored and carrier not in ignored:
                found |= ((owner == i) & right[:, t])[:, None] & ((owner == carrier) & right[:, t])[None]
    return found


def contained(trace: Trace) -> BoolArray:
    """Which objects (N, N) an action of a trace puts into its other arguments, as a peg goes into its hole."""
    found = np.zeros((len(trace.graphs[0]),) * 2, dtype=np.bool_)
    for after, action in zip(trace.graphs[1:], trace.plan, strict=True):
        moved, *others = map(after.index, action.arguments)
        inside = [i for i in others if bool(np.all(gaps(after.boxes[moved], after.boxes[i]) < -CONTACT_M))]
        found[moved, inside] = found[inside, moved] = True
    return found


def masks(rows: BoolArray) -> list[int]:
    """Each row (S, S) as an integer with bit j set where the row is true."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]

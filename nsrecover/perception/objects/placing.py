"""Where an object stands that an action has put down, by what was seen of it before and after.

A rigid object moves both of its faces on an axis equally far. A face that something nearer covers, or the edge of the
image cuts, says nothing; completing what is not seen moves centres by more than a camera errs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import FloatArray, Observation
from nsrecover.core.geometry import bottom
from nsrecover.perception.lifting import to_world


@dataclass(frozen=True)
class PlacingRules:
    """When a face of an object shows how far it has moved; chosen on the learn set of mOSD.

    Attributes:
        trim: share of the points beyond a face, which may be wrong.
        face_m: points this close to a face belong to it.
        ring_px: width of the outline of a mask, and of what surrounds it.
        nearer_m: what is nearer by more covers a face.
        covered: share of the outline at a face that is covered if the face says nothing.
        agree_m: faces that moved as far as each other, within this, give their mean.
        farthest_m: what is farther away is told by its box.
        level_m: so is what is higher or lower by more.
    """

    trim: float = 0.02
    face_m: float = 0.012
    ring_px: int = 3
    nearer_m: float = 0.008
    covered: float = 0.3
    agree_m: float = 0.006
    farthest_m: float = 0.12
    level_m: float = 0.008


RULES = PlacingRules()


class Stand(NamedTuple):
    """An object as it was seen once.

    Attributes:
        points: (P, 3) on it, metres.
        box: (6,) its box.
        pixels: how many showed it.
        observation: that showed it.
        numbers: of its masks there.
    """

    points: FloatArray
    box: FloatArray
    pixels: float
    observation: Observation
    numbers: tuple[int, ...]

    def faces(self) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Its lower and upper ends along x and y (2, 2), and whether each is an end of the object itself (2, 2)."""
        ends = np.quantile(self.points[:, :2], [RULES.trim, 1 - RULES.trim], axis=0)
        parts = [_outline(self.observation, view, self.numbers) for view in range(len(self.observation.cameras))]
        points, covered = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        beyond = np.stack([points[:, :2] < ends[0] + RULES.face_m, points[:, :2] > ends[1] - RULES.face_m])
        shares = (beyond & covered[:, None]).sum(axis=1) / np.maximum(beyond.sum(axis=1), 1)
        return np.asarray(ends, np.float32), np.asarray((shares < RULES.covered) & beyond.any(axis=1))


def put_down(before: Stand, now: Stand, should: FloatArray) -> FloatArray | None:
    """Box (6,) of an object that an action has moved, as far from where it should be as its visible part has moved.

    Args:
        before: the object before the action.
        now: after it.
        should: (6,) its box as it should be.

    Returns:
        None if it is higher or lower than it should be, or so far away that its faces do not tell.
    """
    tops = [float(np.quantile(each.points[:, 2], 1 - RULES.trim)) for each in (before, now)]
    if abs(tops[1] - tops[0] - float(bottom(should) - bottom(before.box))) > RULES.level_m:
        return None
    (first, free), (second, free_now) = before.faces(), now.faces()
    off, known = second - first - (should - before.box)[:2], free & free_now
    shift = np.zeros(2)
    for axis, (low, high) in enumerate(off.T):
        if known[:, axis].sum() == 1:
            shift[axis] = off[known[:, axis], axis][0]
        elif abs(low - high) < RULES.agree_m:
            shift[axis] = (low + high) / 2
        elif low * high > 0:
            shift[axis] = min(low, high, key=abs)
    near = np.abs(shift).max() < RULES.farthest_m
    return np.concatenate([should[:2] + shift, should[2:]]).astype(np.float32) if near else None


def _outline(observation: Observation, view: int, numbers: tuple[int, ...]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Points (B, 3) on the outline of an object in one view, and whether something nearer borders on each (B,)."""
    mask = np.isin(observation.instances[view], numbers)
    rows, columns = (np.flatnonzero(mask.any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros((0, 3), np.float32), np.zeros(0, np.bool_)
    wide = 2 * RULES.ring_px
    here = np.s_[max(rows[0] - wide, 0) : rows[-1] + wide + 1, max(columns[0] - wide, 0) : columns[-1] + wide + 1]
    own, depth = mask[here], observation.depth_m[view][here]
    ring = own & ~ndimage.binary_erosion(own, iterations=RULES.ring_px) & (depth > 0)
    others = ndimage.minimum_filter(np.where(own | (depth == 0), np.inf, depth), 2 * wide + 1)
    at = np.nonzero(ring)
    rows, columns = at[0] + here[0].start, at[1] + here[1].start
    covered = others[at] < depth[at] - RULES.nearer_m
    ends = np.array(mask.shape) - 1 - RULES.ring_px
    covered |= (rows < RULES.ring_px) | (columns < RULES.ring_px) | (rows > ends[0]) | (columns > ends[1])
    return to_world(observation, view, rows, columns), covered

"""Masks that stay where depth has not changed: only what has changed is segmented again.

A change of depth counts if it exceeds the noise of this camera in this scene, which two images of it show. What is
farther away than before has left; what is nearer stands in front until it has stayed for some looks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.special import ndtri

from nsrecover.core import Camera, FloatArray, Observation

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Staying:
    """When a mask stays; chosen on the learn set of mOSD behind the noise of a D435.

    Attributes:
        most_m: largest noise that is assumed; with more, nothing is seen well enough to be watched.
        smooth_px: side of the squares over which differences of depth are averaged.
        sigmas: standard deviations of the noise of these means from which on depth has changed.
        least_m: added to that: depth drifts, and real noise has longer tails than Gaussian noise.
        gone_share: a mask is released if more of it is farther away than before.
        gone_px: fewest pixels for that.
        there_share: a mask is released if less of it is left beside what stands in front of it.
        fresh_share: share of a new mask that must have changed, or belong to a released mask.
        waits: looks for which something unknown must stay in front before it hides what is behind it for good.
        gain: weight of a new depth image in the reference.
        same_pose: largest change of an entry of the camera's pose (metres, or of the rotation).
        within: a given mask is a part of an object if more of it lies in the object's earlier mask.
    """

    most_m: float = 0.008
    smooth_px: int = 5
    sigmas: float = 5.0
    least_m: float = 0.002
    gone_share: float = 0.03
    gone_px: int = 30
    there_share: float = 0.3
    fresh_share: float = 0.5
    waits: int = 2
    gain: float = 0.2
    same_pose: float = 0.001
    within: float = 0.75


RULES = Staying()


@dataclass(frozen=True, eq=False)
class MaskChange:
    """What has changed between two depth images.

    Attributes:
        farther: (H, W) pixels that show something farther away.
        nearer: (H, W) pixels that show something nearer.
        known: (H, W) pixels with a reading in both.
        limit_m: (H, W) the least change that counts.
    """

    farther: Mask
    nearer: Mask
    known: Mask
    limit_m: FloatArray

    @classmethod
    def between(cls, before: FloatArray, now: FloatArray) -> MaskChange:
        """The change from one depth image (H, W) to another one of the same view."""
        known = (before > 0) & (now > 0)
        off = np.where(known, now - before, np.float32(0))
        off[known] -= np.median(off[known][::16]) if known.any() else 0.0  # the whole image drifts with temperature
        share = ndimage.uniform_filter(known.astype(np.float32), RULES.smooth_px)
        mean = ndimage.uniform_filter(off, RULES.smooth_px) / np.maximum(share, RULES.smooth_px**-2)
        limit = RULES.sigmas * _noise(mean, before, known) + RULES.least_m
        square = np.ones((3, 3))
        farther, nearer = (
            ndimage.binary_opening(known & (sign * mean > limit) & (sign * off > limit / 2), square) for sign in (1, -1)
        )
        return cls(farther, nearer, known, limit)

    @property
    def any(self) -> bool:
        """Whether enough has changed for an object to have come."""
        return bool((self.farther | self.nearer).sum() > RULES.gone_px)


def _noise(mean: FloatArray, depth: FloatArray, known: Mask) -> FloatArray:
    """Standard deviation (H, W) of mean differences: a + b z² through their lower quartiles in octiles of depth.

    Most of an octile may have changed, and some octiles as a whole (slopes of Theil and Sen).
    """
    off, z = mean[known][::5], depth[known][::5]
    ends = np.quantile(z, np.linspace(0, 1, 9)) if len(z) else np.zeros(9)
    parts = [(z >= low) & (z <= high) for low, high in pairwise(ends.tolist())]
    rows = [(np.median(z[part]) ** 2, np.quantile(np.abs(off[part]), 0.25)) for part in parts if part.sum() > 50]
    if not rows:
        return np.zeros_like(depth)
    squares, found = np.array(rows).T
    found = found / float(ndtri(0.625))  # the lower quartile of a normal distribution's absolute values
    one, other = np.triu_indices(len(rows), 1)
    steps = np.maximum(squares[other] - squares[one], 1e-6)
    slope = max(float(np.median((found[other] - found[one]) / steps)), 0.0) if len(rows) > 1 else 0.0
    fitted = np.median(found - slope * squares) + slope * depth**2
    return np.asarray(np.clip(fitted, found.min(), RULES.most_m), np.float32)


@dataclass(frozen=True, eq=False)
class Reference:
    """What a camera is known to see.

    Attributes:
        depth_m: (H, W) without what stands in front for the moment.
        masks: (H, W) numbers of objects there.
        camera: that sees it.
        front_m: (H, W) depth of what stands in front, 0 elsewhere.
        looks: (H, W) for how many looks it has stayed there.
        unsure: numbers of masks that have not stayed yet.
    """

    depth_m: FloatArray
    masks: Numbers
    camera: Camera
    front_m: FloatArray = field(default_factory=lambda: np.zeros((), np.float32))
    looks: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((), np.uint8))
    unsure: frozenset[int] = frozenset()

    def fits(self, camera: Camera, depth_m: FloatArray) -> bool:
        """Whether a depth image was taken by the same camera from the same place."""
        one, two = self.camera, camera
        return (
            self.depth_m.shape == depth_m.shape
            and np.array_equal(one.intrinsics, two.intrinsics)
            and np.allclose(one.world_from_camera, two.world_from_camera, atol=RULES.same_pose)
        )

    def kept(self, change: MaskChange) -> tuple[Numbers, Mask]:
        """Masks (H, W) of the objects that are still there, and the pixels (H, W) of those that are not."""
        count = int(self.masks.max()) + 1
        seen, gone, hidden = (
            np.bincount(self.masks[part], minlength=count) for part in (change.known, change.farther, change.nearer)
        )
        released = (gone > np.maximum(RULES.gone_px, RULES.gone_share * seen)) | (
            seen - hidden < RULES.there_share * seen
        )
        released[0] = False
        free = released[self.masks]
        return np.where(free | change.nearer, 0, self.masks).astype(np.int32), free

    def pieces(self, fresh: Numbers, kept: Numbers, free: Mask, change: MaskChange, fewest: int) -> Numbers:
        """Those masks (H, W) of a new segmentation, beside the kept ones, that show what has changed."""
        masks = np.where(kept == 0, fresh, 0)
        changed = ndimage.binary_dilation(change.farther | change.nearer, iterations=3) | free
        sizes, inside = (
            np.bincount(masks[part], minlength=int(masks.max()) + 1) for part in (masks > 0, (masks > 0) & changed)
        )
        few = (sizes < fewest) | (inside < RULES.fresh_share * sizes)
        return np.where(few[masks], 0, masks).astype(np.int32)

    def after(
        self, depth_m: FloatArray, change: MaskChange, masks: Numbers, free: Mask, new: frozenset[int]
    ) -> Reference:
        """The reference after a look with masks (H, W), some of which have new numbers."""
        unsure = self.unsure | new
        front = change.nearer & ~free & ((masks == 0) | np.isin(masks, list(unsure)))
        stays = front & (np.abs(depth_m - self.front_m) < change.limit_m)
        looks = np.where(front, np.where(stays, self.looks + 1, 1), 0).astype(np.uint8)
        waiting = front & (looks <= RULES.waits)
        same = change.known & ~(change.farther | change.nearer)
        blended = np.where(same, self.depth_m + RULES.gain * (depth_m - self.depth_m), depth_m)
        depth = np.where(waiting | (depth_m == 0), self.depth_m, blended).astype(np.float32)
        kept = np.where(waiting, self.masks, masks).astype(np.int32)
        unsure &= frozenset(np.unique(masks[waiting]).tolist())
        return Reference(depth, kept, self.camera, np.where(front, depth_m, 0), looks, unsure)


def rejoined(
    before: Observation, owned: Mapping[str, Sequence[int]], now: Observation
) -> tuple[Observation, dict[int, int]]:
    """An observation in which masks that a detector has split are whole again, and which number each part has now.

    A part lies within the earlier mask of its object, where depth has not changed. As many masks of a view are joined
    as there are more than before: what has come, or was put there, has left no mask elsewhere.

    Args:
        before: the last observation.
        owned: object -> numbers of its masks there.
        now: the next one.
    """
    joined, instances = dict[int, int](), now.instances
    for view, (camera, earlier) in enumerate(zip(now.cameras, before.cameras, strict=False)):
        old, image = before.instances[view], now.instances[view]
        spare = len(np.unique(image)) - len(np.unique(old))
        reference = Reference(before.depth_m[view], old, earlier)
        if spare <= 0 or not reference.fits(camera, now.depth_m[view]):
            continue
        change = MaskChange.between(before.depth_m[view], now.depth_m[view])
        sizes = np.bincount(image.ravel())
        for numbers in owned.values():
            there = np.isin(old, list(numbers)) & ~(change.farther | change.nearer)
            same = np.bincount(image[there], minlength=len(sizes))
            same[0] = 0
            within = [number for number in np.argsort(-same).tolist() if same[number] > RULES.within * sizes[number]]
            for part in within[1 : 1 + spare]:
                instances = instances.copy() if instances is now.instances else instances
                instances[view][image == part] = within[0]
                joined[part] = within[0]
                spare -= 1
    labels = {number: name for number, name in now.labels.items() if number not in joined}
    return (replace(now, instances=instances, labels=labels) if joined else now), joined

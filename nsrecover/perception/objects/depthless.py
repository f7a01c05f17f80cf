"""Objects that have masks and hardly any depth: transparent or reflecting ones, and what is flat on the table.

Most of such a mask has no reading, or shows what is behind. Its depth does not tell where the object is; its mask tells
that it is still there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.cameras.visibility import faces_in_view, visibly_empty
from nsrecover.perception.lifting import TRIM, ViewPixels

SOLID, LARGE_PX = 0.4, 1000
"""Share of a mask, its outline left aside, that shows one surface above the table in the view that shows most. Holes
are as large as small masks, so that of fewer pixels less has to: by the square root of their number."""

THERE = 0.1
"""Share of the surface of an object that such a mask shows if the object is there; its box is not known well."""

FEWEST_PIXELS = 40
"""Smaller masks show a rest of an object, or nothing."""


def depthless(observation: Observation, lifted: Sequence[ViewPixels]) -> frozenset[int]:
    """Numbers of the masks of which no view shows enough as one surface; of each view its solid pixels are given."""
    solid, large = set[int](), set[int]()
    for image, (rows, columns, _, _) in zip(observation.instances, lifted, strict=True):
        pixels = np.bincount(image[image > 0], minlength=1)
        found = np.bincount(image[rows, columns], minlength=len(pixels))
        large |= set(np.flatnonzero(pixels >= FEWEST_PIXELS).tolist())
        limit = SOLID * np.sqrt(np.minimum(pixels / LARGE_PX, 1.0))
        solid |= set(np.flatnonzero(found > limit * pixels).tolist())
        for number in large - solid:
            inner = ndimage.binary_erosion(image == number)
            if inner[rows, columns].sum() > limit[number : number + 1].sum() * inner.sum():
                solid.add(number)
    return frozenset(large - solid)


@dataclass(frozen=True, eq=False)
class Depthless:
    """Objects that an observation shows without depth.

    Attributes:
        observation: the views, without depth in these masks.
        numbers: of the masks.
    """

    observation: Observation
    numbers: frozenset[int] = frozenset()

    @classmethod
    def of(cls, observation: Observation, numbers: frozenset[int]) -> Depthless:
        """The objects that have masks of these numbers."""
        if not numbers:
            return cls(observation)
        hidden = np.isin(observation.instances, list(numbers))
        return cls(replace(observation, depth_m=np.where(hidden, np.float32(0), observation.depth_m)), numbers)

    def at(self, boxes: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether a view shows these masks in enough of the surface of each box (C, 6): (C,)."""
        found = np.zeros(len(boxes), np.bool_)
        for row, box in enumerate(boxes if self.numbers else ()):
            faces = faces_in_view(self.observation, box)
            found[row] = any(np.isin(each.instances, list(self.numbers)).mean() > THERE for each in faces)
        return found

    def empty(self, boxes: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether the cameras show that no object is in each of some places (C, 6), with a mask or without: (C,)."""
        return visibly_empty(self.observation, boxes) & ~self.at(boxes)

    def standing(self, numbers: Collection[int]) -> FloatArray:
        """Box (6,) of the object with some of these masks, if it stands on the table and is as deep as it is wide."""
        view, image = max(enumerate(self.observation.instances), key=lambda each: np.isin(each[1], list(numbers)).sum())
        rows, columns = np.nonzero(np.isin(image, list(numbers)))
        camera = self.observation.cameras[view]
        k, pose = camera.intrinsics, camera.world_from_camera.astype(np.float64)
        rays = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1], 0 * rows + 1.0], axis=1)
        rays @= pose[:3, :3].T
        away = rays[:, :2].mean(axis=0) / np.linalg.norm(rays[:, :2].mean(axis=0))
        ahead = np.maximum(rays[:, :2] @ away, 1e-6)
        aside, rise = rays[:, :2] @ np.array([-away[1], away[0]]) / ahead, rays[:, 2] / ahead
        left, right = np.quantile(aside, [TRIM, 1 - TRIM])
        low, high = np.quantile(rise, [TRIM, 1 - TRIM])
        front = pose[2, 3] / max(-low, 1e-3)
        width = (right - left) * front
        middle = pose[:2, 3] + (front + width / 2) * (away + (left + right) / 2 * np.array([-away[1], away[0]]))
        height = max(pose[2, 3] + high * (front + width / 2), width / 4)
        return np.array([*middle, height / 2, width, width, height], np.float32)

"""Objects that have masks and hardly any depth: transparent or reflecting ones, and what is flat on the table.

Most of such a mask has no reading, or shows what is behind. Its depth does not tell where the object is; its mask tells
that it is still there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.cameras.visibility import faces_in_view, visibly_empty
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import ViewPixels, rays


@dataclass(frozen=True)
class DepthlessRules:
    """When a mask has too little depth.

    Attributes:
        solid: share of a mask, its outline left aside, that shows one surface above the table in the view that shows
            most.
        large_px: holes are as large as small masks, so that of fewer pixels less has to: by the square root of their
            number.
        there: share of the surface of an object that such a mask shows if the object is there; its box is not known
            well.
        fewest_pixels: smaller masks show a rest of an object, or nothing.
        moved_px: an outline has moved if both of its ends on an axis have, by so many pixels,
        moved_share: and by this share of its size.
        alike: share of the pixels of an outline that another one of the same object has at least.
    """

    solid: float = 0.4
    large_px: int = 1000
    there: float = 0.1
    fewest_pixels: int = 40
    moved_px: int = 6
    moved_share: float = 0.1
    alike: float = 0.6


RULES = DepthlessRules()


def depthless(observation: Observation, lifted: Sequence[ViewPixels]) -> frozenset[int]:
    """Numbers of the masks of which no view shows enough as one surface; of each view its solid pixels are given."""
    solid, large = set[int](), set[int]()
    for image, (rows, columns, _, _) in zip(observation.instances, lifted, strict=True):
        pixels = np.bincount(image[image > 0], minlength=1)
        found = np.bincount(image[rows, columns], minlength=len(pixels))
        large |= set(np.flatnonzero(pixels >= RULES.fewest_pixels).tolist())
        limit = RULES.solid * np.sqrt(np.minimum(pixels / RULES.large_px, 1.0))
        solid |= set(np.flatnonzero(found > limit * pixels).tolist())
        for number in large - solid:
            inner = ndimage.binary_erosion(image == number)
            if inner[rows, columns].sum() > limit[number : number + 1].sum() * inner.sum():
                solid.add(number)
    return frozenset(large - solid)


@dataclass(frozen=True, eq=False)
class GlassOutline:
    """The mask of an object without depth in the view that shows most of it.

    Attributes:
        observation: the views.
        numbers: of its masks.
    """

    observation: Observation
    numbers: tuple[int, ...]

    @cached_property
    def view(self) -> int:
        """Number of the view."""
        return int(np.argmax([np.isin(image, self.numbers).sum() for image in self.observation.instances]))

    @cached_property
    def pixels(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows and columns of the mask."""
        rows, columns = np.nonzero(np.isin(self.observation.instances[self.view], self.numbers))
        return rows, columns

    @cached_property
    def ends(self) -> npt.NDArray[np.float64]:
        """First and last row and column of the mask, (2, 2), without the outermost few pixels."""
        return np.quantile(np.stack(self.pixels), [LIFTING.trim, 1 - LIFTING.trim], axis=1)

    def now(self, observation: Observation, numbers: Collection[int]) -> GlassOutline | None:
        """The nearest outline of its size among masks without depth of another observation; None if there is none."""
        if self.view >= len(observation.cameras) or not len(self.pixels[0]):
            return None
        found = [GlassOutline(observation, (number,)) for number in numbers]
        size = len(self.pixels[0])
        alike = [
            each
            for each in found
            if each.view == self.view and RULES.alike < len(each.pixels[0]) / size < 1 / RULES.alike
        ]
        return min(alike, key=lambda each: float(np.abs(each.ends - self.ends).max()), default=None)

    def moved(self, other: GlassOutline) -> bool:
        """Whether another outline of the object in the same view is elsewhere."""
        low, high = other.ends - self.ends
        both = np.where(low * high > 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
        return bool((both > np.maximum(RULES.moved_px, RULES.moved_share * (self.ends[1] - self.ends[0]))).any())


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
            found[row] = any(np.isin(each.instances, list(self.numbers)).mean() > RULES.there for each in faces)
        return found

    def empty(self, boxes: FloatArray) -> npt.NDArray[np.bool_]:
        """Whether the cameras show that no object is in each of some places (C, 6), with a mask or without: (C,)."""
        return visibly_empty(self.observation, boxes) & ~self.at(boxes)

    def standing(self, numbers: Collection[int]) -> FloatArray:
        """Box (6,) of the object with some of these masks, if it stands on the table and is as deep as it is wide."""
        view, image = max(enumerate(self.observation.instances), key=lambda each: np.isin(each[1], list(numbers)).sum())
        rows, columns = np.nonzero(np.isin(image, list(numbers)))
        camera = self.observation.cameras[view]
        pose = camera.world_from_camera.astype(np.float64)
        ways = rays(camera, rows, columns) @ pose[:3, :3].T
        away = ways[:, :2].mean(axis=0) / np.linalg.norm(ways[:, :2].mean(axis=0))
        ahead = np.maximum(ways[:, :2] @ away, 1e-6)
        aside, rise = ways[:, :2] @ np.array([-away[1], away[0]]) / ahead, ways[:, 2] / ahead
        left, right = np.quantile(aside, [LIFTING.trim, 1 - LIFTING.trim])
        low, high = np.quantile(rise, [LIFTING.trim, 1 - LIFTING.trim])
        front = pose[2, 3] / max(-low, 1e-3)
        width = (right - left) * front
        middle = pose[:2, 3] + (front + width / 2) * (away + (left + right) / 2 * np.array([-away[1], away[0]]))
        height = max(pose[2, 3] + high * (front + width / 2), width / 4)
        return np.array([*middle, height / 2, width, width, height], np.float32)

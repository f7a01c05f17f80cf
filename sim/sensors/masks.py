"""Errors of segmenters: inaccurate outlines, and masks that are missing, merged, split or made up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from sim.sensors.values import check_values

Instances = npt.NDArray[np.int32]

MARGIN_PX = 6
"""Pixels around a mask in which its outline may change."""


@dataclass(frozen=True)
class MaskErrors:
    """Errors of the instance masks of one view. Zero switches an error off.

    Attributes:
        grow_px: how far every outline lies outside of the object (negative: inside), pixels.
        ragged_px: standard deviation of the outline around that, pixels.
        ragged_length_px: length along the outline over which its error is alike; 0: every pixel for itself.
        shift_px: how far all masks of a view are shifted, in a random direction.
        missing: probability that a mask is missing.
        merged: probability that two touching masks are one.
        split: probability that a mask is two.
        phantoms: expected number of masks of something that is no object, in every view.
        ids_per_view: numbers are given by each view for itself, and new at every observation.
    """

    grow_px: float = 0.0
    ragged_px: float = 0.0
    ragged_length_px: float = 3.0
    shift_px: int = 0
    missing: float = 0.0
    merged: float = 0.0
    split: float = 0.0
    phantoms: float = 0.0
    ids_per_view: bool = False

    def __post_init__(self) -> None:
        check_values(self, ("missing", "merged", "split"), signed=("grow_px",))

    def apply(self, instances: Instances, rng: np.random.Generator) -> Instances:
        """Masks (H, W) with these errors; pieces and phantoms have numbers above those that were there."""
        result = instances.copy()
        if self.merged:
            result = self._merge(result, rng)
        if self.split:
            result = self._split(result, rng)
        if self.grow_px or self.ragged_px:
            result = self._outlines(result, rng)
        if self.shift_px:
            result = self._shifted(result, rng)
        if self.missing:
            gone = [number for number in _numbers(result) if rng.random() < self.missing]
            result[np.isin(result, gone)] = 0
        for _ in range(rng.poisson(self.phantoms)):
            self._add_phantom(result, rng)
        return result

    def _merge(self, instances: Instances, rng: np.random.Generator) -> Instances:
        for first, second in touching(instances):
            if rng.random() < self.merged:
                instances[instances == second] = first
        return instances

    def _split(self, instances: Instances, rng: np.random.Generator) -> Instances:
        for number in _numbers(instances):
            if rng.random() >= self.split:
                continue
            rows, columns = np.nonzero(instances == number)
            angle = rng.uniform(0, np.pi)
            along = (columns - columns.mean()) * np.cos(angle) + (rows - rows.mean()) * np.sin(angle)
            part = along > np.quantile(along, rng.uniform(0.25, 0.75))
            instances[rows[part], columns[part]] = instances.max() + 1
        return instances

    def _outlines(self, instances: Instances, rng: np.random.Generator) -> Instances:
        """Every mask is where its signed distance is less than the error of its outline, painted in random order."""
        result = np.zeros_like(instances)
        for number in rng.permutation(_numbers(instances)):
            rows, columns = ndimage.find_objects((instances == number).astype(np.uint8))[0]
            window = (
                slice(max(rows.start - MARGIN_PX, 0), rows.stop + MARGIN_PX),
                slice(max(columns.start - MARGIN_PX, 0), columns.stop + MARGIN_PX),
            )
            mask = instances[window] == number
            # distance of pixel centres to the outline, which runs between pixels
            distance = ndimage.distance_transform_edt(~mask) - ndimage.distance_transform_edt(mask)
            distance += np.where(mask, 0.5, -0.5)
            error = np.full(mask.shape, self.grow_px)
            if self.ragged_px:
                noise = rng.standard_normal(mask.shape)
                if self.ragged_length_px:
                    noise = ndimage.gaussian_filter(noise, self.ragged_length_px)
                    noise /= max(float(noise.std()), 1e-9)
                error += self.ragged_px * noise
            result[window][distance <= error] = number
        return result

    def _shifted(self, instances: Instances, rng: np.random.Generator) -> Instances:
        angle = rng.uniform(0, 2 * np.pi)
        offset = np.round(self.shift_px * np.array([np.sin(angle), np.cos(angle)])).astype(int)
        rows, columns = np.nonzero(instances)
        numbers = instances[rows, columns]
        rows, columns = rows + offset[0], columns + offset[1]
        inside = (rows >= 0) & (rows < instances.shape[0]) & (columns >= 0) & (columns < instances.shape[1])
        result = np.zeros_like(instances)
        result[rows[inside], columns[inside]] = numbers[inside]
        return result

    def _add_phantom(self, instances: Instances, rng: np.random.Generator) -> None:
        height, width = instances.shape
        row, column = rng.uniform(0.25, 0.9) * height, rng.uniform(0.1, 0.9) * width
        radii = rng.uniform(4, 12, 2)
        rows, columns = np.indices(instances.shape)
        blob = ((rows - row) / radii[0]) ** 2 + ((columns - column) / radii[1]) ** 2 < 1
        instances[blob & (instances == 0)] = instances.max() + 1


def with_merged_pair(instances: Instances, rng: np.random.Generator) -> Instances:
    """Masks (H, W) of which two that touch are one; as they are if none touch."""
    pairs = touching(instances)
    if not pairs:
        return instances
    first, second = pairs[rng.integers(len(pairs))]
    return np.where(instances == second, first, instances)


def touching(instances: Instances) -> list[tuple[int, int]]:
    """Pairs of masks that share a border, the smaller number first."""
    pairs = set()
    for first, second in ((instances[:, :-1], instances[:, 1:]), (instances[:-1], instances[1:])):
        border = (first > 0) & (second > 0) & (first != second)
        pairs |= {(min(a, b), max(a, b)) for a, b in zip(first[border].tolist(), second[border].tolist(), strict=True)}
    return sorted(pairs)


def _numbers(instances: Instances) -> list[int]:
    return [int(number) for number in np.unique(instances) if number > 0]

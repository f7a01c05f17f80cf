"""Visible objects of an observation: points, appearance, and masks of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.ndimage import find_objects

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import ViewPixels, box_around, lift_views, to_world, view_points
from nsrecover.perception.objects.association import LooksGate
from nsrecover.perception.objects.colours import GREY
from nsrecover.perception.objects.views import Sighting, join_views


@dataclass(frozen=True)
class DetectionRules:
    """How objects are cut out of images.

    Attributes:
        most_points: of an object that has several times as many points, so many are used.
        light_step: every so many rows and columns show the light.
        light_near: the table up to this share of the width of the image around an object shows the light on it,
        fewest_lit: if it has so many of these pixels.
        crop_margin: pixels left around an object in its crop.
    """

    most_points: int = 2000
    light_step: int = 4
    light_near: float = 0.06
    fewest_lit: int = 40
    crop_margin: int = 2


RULES = DetectionRules()


class Crop(NamedTuple):
    """What one view shows of an object.

    Attributes:
        number: of the object, from 0.
        window: rows and columns of its mask.
        middle: (2,) row and column of the middle of the mask.
        side: of the square around the mask, pixels.
        patch: (h, w, 3) image in the square, as far as it is in the image, black beside the mask.
        pixels: of the mask.
    """

    number: int
    window: tuple[slice, slice]
    middle: npt.NDArray[np.float64]
    side: int
    patch: npt.NDArray[np.uint8]
    pixels: int


def crops_of(rgb: npt.NDArray[np.uint8], indices: npt.NDArray[np.int32], count: int) -> Iterator[Crop]:
    """The visible ones of so many objects in a view (H, W, 3), whose pixels are numbered from 1 (see `index_map`)."""
    for index, window in enumerate(find_objects(indices, max_label=count)):
        if window is not None:
            rows, columns = window
            half = (max(rows.stop - rows.start, columns.stop - columns.start) - 1) / 2 + RULES.crop_margin
            middle = np.array([rows.start + rows.stop - 1, columns.start + columns.stop - 1]) / 2
            top, left = np.maximum(np.floor(middle - half).astype(int), 0)
            bottom, right = np.ceil(middle + half).astype(int) + 1
            mask = indices[top:bottom, left:right] == index + 1
            patch = rgb[top:bottom, left:right] * mask[..., None]
            yield Crop(index, window, middle, max(bottom - top, right - left), patch, int(np.count_nonzero(mask)))


def resized(patch: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint8]:
    """A crop as a square of (size, size, 3)."""
    return np.asarray(Image.fromarray(patch).resize((size, size), Image.Resampling.BILINEAR))


def table_lights(observation: Observation, view: int, windows: Sequence[tuple[slice, ...]]) -> FloatArray:
    """Colour (B, 3), 0 to 255, of the table near each of some windows of a view; of all of it if little is near."""
    shape = observation.instances.shape[1:]
    some, near = np.s_[:: RULES.light_step, :: RULES.light_step], int(RULES.light_near * shape[1])
    rgb = observation.rgb[view][some]
    rows, columns = np.mgrid[: shape[0] : RULES.light_step, : shape[1] : RULES.light_step].reshape(2, -1)
    heights = to_world(observation, view, rows, columns)[:, 2].reshape(rgb.shape[:2])
    free = (observation.instances[view][some] == 0) & (observation.depth_m[view][some] > 0)
    bare = free & (np.abs(heights) < LIFTING.level_m)
    whole = np.median(rgb[bare], axis=0) if bare.any() else np.full(3, GREY)
    lights = np.tile(whole, (len(windows), 1))
    for light, window in zip(lights, windows, strict=True):
        here = tuple(
            slice(max(s.start - near, 0) // RULES.light_step, (s.stop + near) // RULES.light_step + 1) for s in window
        )
        if bare[here].sum() >= RULES.fewest_lit:
            light[:] = np.median(rgb[here][bare[here]], axis=0)
    return lights.astype(np.float32)


def crop_objects(
    observation: Observation, numbers: Sequence[int], size: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp], npt.NDArray[np.float32], FloatArray]:
    """Cut every visible object out of every view.

    Args:
        observation: the views.
        numbers: N instances to look for.
        size: side of the square crops, pixels.

    Returns:
        Crops (B, size, size, 3) with everything but the object blacked out, the object index of each (B,), the number
        of its pixels (B,), and the colour of the table near it (B, 3).
    """
    found, lights = list[Crop](), [np.zeros((0, 3), np.float32)]
    for view, (rgb, image) in enumerate(zip(observation.rgb, observation.instances, strict=True)):
        own = list(crops_of(rgb, index_map(image, numbers), len(numbers)))
        lights.append(table_lights(observation, view, [crop.window for crop in own]))
        found += own
    stacked = np.asarray([resized(crop.patch, size) for crop in found], dtype=np.uint8).reshape(-1, size, size, 3)
    owners = np.asarray([crop.number for crop in found], dtype=np.intp)
    return stacked, owners, np.asarray([crop.pixels for crop in found], dtype=np.float32), np.concatenate(lights)


def index_map(instances: npt.NDArray[np.int32], numbers: Sequence[int]) -> npt.NDArray[np.int32]:
    """For every pixel (H, W) the position in `numbers` of what it shows, counted from 1; 0 for anything else."""
    found = np.zeros(instances.shape, dtype=np.int32)
    if not numbers:
        return found
    order = np.argsort(numbers)
    ascending = np.asarray(numbers)[order]
    pixels = np.flatnonzero(instances > 0)
    shown = instances.ravel()[pixels]
    rank = np.minimum(np.searchsorted(ascending, shown), len(ascending) - 1)
    known = ascending[rank] == shown
    found.ravel()[pixels[known]] = order[rank[known]] + 1
    return found


def lift_boxes(observation: Observation, numbers: Sequence[int]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Axis-aligned boxes from masked depth, all views together.

    Args:
        observation: the views.
        numbers: N instances to look for.

    Returns:
        Boxes (N, 6) and whether each object was seen (N,); an object that was not has a box of zeros.
    """
    lifted = [view_points(observation, view) for view in range(len(observation.cameras))]
    points = np.concatenate([part[0] for part in lifted])
    owners = np.concatenate([part[1] for part in lifted])
    boxes = np.zeros((len(numbers), 6), dtype=np.float32)
    seen = np.zeros(len(numbers), dtype=np.bool_)
    for index, number in enumerate(numbers):
        own = points[owners == number]
        if len(own) >= LIFTING.min_pixels:
            boxes[index], seen[index] = box_around(own), True
    return boxes, seen


def fuse_views(features: FloatArray, owners: npt.NDArray[np.intp], pixels: FloatArray, objects: int) -> FloatArray:
    """Features (objects, D) of objects from those of their crops (B, D): weighted by visible pixels, unit length."""
    visual = np.zeros((objects, features.shape[1]), dtype=np.float32)
    np.add.at(visual, owners, features * pixels[:, None])
    return np.asarray(visual / np.maximum(np.linalg.norm(visual, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def count_pixels(owners: npt.NDArray[np.intp], pixels: FloatArray, objects: int) -> FloatArray:
    """Visible pixels (objects,) of objects from those of their crops (B,)."""
    return np.bincount(owners, weights=pixels, minlength=objects).astype(np.float32)


class AppearanceModel(Protocol):
    """Turns object crops into appearance features; `nsrecover.models.bundle.Bundle` has learned it."""

    @property
    def crop_size(self) -> int:
        """Side of an object crop, pixels."""

    @property
    def feature_size(self) -> int:
        """D, length of an appearance feature."""

    @property
    def gate(self) -> LooksGate:
        """Which differences of its features two images of one object have."""

    def embed(self, crops: npt.NDArray[np.uint8], table_light: FloatArray) -> FloatArray:
        """Unit features (B, D) of crops (B, size, size, 3), with the colour of the table near each (B, 3)."""

    def learned(self, visual: FloatArray) -> FloatArray:
        """The part (..., E) of features (..., D) that tells objects of one colour apart, unit length."""


@dataclass(frozen=True, eq=False)
class Detections:
    """What is visible in an observation.

    Attributes:
        numbers: for M objects the instance numbers of their masks.
        labels: what the detector calls each, if it does.
        points: for each (P, 3) points on it.
        visual: (M, D) appearance, unit length.
        pixels: (M,) visible pixels in all views.
    """

    numbers: tuple[tuple[int, ...], ...]
    labels: tuple[str | None, ...]
    points: tuple[FloatArray, ...]
    visual: FloatArray
    pixels: FloatArray

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def boxes(self) -> FloatArray:
        """(M, 6) boxes of the visible parts."""
        return np.array([box_around(points) for points in self.points], dtype=np.float32).reshape(-1, 6)

    def chosen(self, rows: Sequence[int]) -> Detections:
        """Some of them."""
        kept = list(rows)
        return Detections(
            tuple(self.numbers[i] for i in kept),
            tuple(self.labels[i] for i in kept),
            tuple(self.points[i] for i in kept),
            self.visual[kept],
            self.pixels[kept],
        )

    def joined(self, groups: Sequence[Sequence[int]]) -> Detections:
        """One detection for each group of them."""
        return Detections(
            tuple(tuple(number for i in group for number in self.numbers[i]) for group in groups),
            tuple(next((self.labels[i] for i in group if self.labels[i] is not None), None) for group in groups),
            tuple(np.concatenate([self.points[i] for i in group]) for group in groups),
            _units(np.array([self.pixels[list(group)] @ self.visual[list(group)] for group in groups]), self.visual),
            np.array([self.pixels[list(group)].sum() for group in groups], dtype=np.float32),
        )

    def lifted_again(self, lifted: Sequence[ViewPixels]) -> Detections:
        """The same masks with other points: those of the pixels of each view that show objects."""
        points, shown = (np.concatenate([part[field] for part in lifted]) for field in (2, 3))
        return replace(self, points=tuple(points[np.isin(shown, numbers)] for numbers in self.numbers))


def detect(
    observation: Observation,
    appearance: AppearanceModel,
    costs: Callable[[Detections], FloatArray] | None = None,
    lifted: Sequence[ViewPixels] | None = None,
    without: frozenset[int] = frozenset(),
) -> Detections:
    """The objects that are visible in an observation; views that number their masks by themselves are joined.

    Args:
        observation: the views.
        appearance: encodes object crops.
        costs: how badly each of M detections of one view fits each of N known objects (N, M). It helps to join views;
            labels do not count then.
        lifted: pixels of each view that show objects, if they are known; their instances are those of the observation.
        without: numbers of masks that show no object by themselves.
    """
    single = detect_masks(observation, appearance, lifted)
    if not observation.shared_ids:
        single = _joined(observation, single, costs, appearance.gate)
    kept = [
        not without.issuperset(n) and len(p) >= LIFTING.min_pixels
        for n, p in zip(single.numbers, single.points, strict=True)
    ]
    return single.chosen(np.flatnonzero(kept).tolist())


def detect_masks(
    observation: Observation, appearance: AppearanceModel, lifted: Sequence[ViewPixels] | None = None
) -> Detections:
    """One detection for every number of a mask; arguments as for `detect`."""
    numbers = detected_numbers(observation)
    lifted = lift_views(observation) if lifted is None else lifted
    points = np.concatenate([part[2] for part in lifted])
    shown = np.concatenate([observation.instances[view][part[0], part[1]] for view, part in enumerate(lifted)])
    crops, owners, pixels, light = crop_objects(observation, numbers, appearance.crop_size)
    return Detections(
        tuple((number,) for number in numbers),
        tuple(observation.labels.get(number) for number in numbers),
        tuple(_some(points[shown == number]) for number in numbers),
        fuse_views(appearance.embed(crops, light), owners, pixels, len(numbers)),
        count_pixels(owners, pixels, len(numbers)),
    )


def _some(points: FloatArray) -> FloatArray:
    """Every second, third, ... of many points."""
    return points[:: max(len(points) // RULES.most_points, 1)]


def detected_numbers(observation: Observation) -> tuple[int, ...]:
    """Numbers of the detections: those with a label; all of them if every view numbers its own."""
    if observation.shared_ids:
        return tuple(sorted(observation.labels))
    return tuple(np.unique(observation.instances[observation.instances > 0]).tolist())


def _joined(
    observation: Observation,
    single: Detections,
    costs: Callable[[Detections], FloatArray] | None,
    gate: LooksGate,
) -> Detections:
    """Detections of different views that show the same object, as one."""
    single = single.chosen([i for i in range(len(single)) if len(single.points[i]) >= LIFTING.min_pixels // 2])
    view_of = {
        n: view for view, image in enumerate(observation.instances) for n in np.unique(image[image > 0]).tolist()
    }
    fits: Sequence[FloatArray | None] = [None] * len(single) if costs is None else list(costs(single).T)
    sightings = [
        Sighting(
            view_of[numbers[0]],
            box,
            visual,
            observation.cameras[view_of[numbers[0]]].world_from_camera[:3, 2],
            name if costs is None else None,
            fit,
        )
        for numbers, box, visual, name, fit in zip(
            single.numbers, single.boxes, single.visual, single.labels, fits, strict=True
        )
    ]
    return single.joined(join_views(sightings, gate.unit))


def _units(rows: npt.NDArray[np.float32], like: FloatArray) -> FloatArray:
    """Rows at length 1, in the shape of other features where there are none."""
    rows = rows.reshape(-1, like.shape[1])
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)

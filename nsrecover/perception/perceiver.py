"""From cameras to scene graph.

Object crops become appearance features and masked depth becomes 3-D boxes, fused over the views. Detections are matched
to known objects; occluded objects and parts are filled in from memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, count
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy.ndimage import find_objects

from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.errors import InvalidObservation
from nsrecover.perception.association import associate, association_costs
from nsrecover.perception.memory import Memory
from nsrecover.perception.visibility import seen_through

MIN_PIXELS = 12
"""An object with fewer depth pixels over all views counts as not seen."""

CROP_MARGIN = 2
"""Pixels left around an object in its crop."""


def object_names(observation: Observation) -> tuple[str, ...]:
    """Names of the labelled instances, in the order of their numbers."""
    return tuple(observation.labels[number] for number in sorted(observation.labels))


def crop_objects(
    observation: Observation, numbers: Sequence[int], size: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """Cut every visible object out of every view.

    Args:
        observation: the views.
        numbers: N instances to look for.
        size: side of the square crops, pixels.

    Returns:
        Crops (B, size, size, 3) with everything but the object blacked out, the object index of each (B,), and the
        number of its pixels (B,).
    """
    crops, owners, pixels = [], [], []
    for view in range(len(observation.cameras)):
        indices = index_map(observation.instances[view], numbers)
        for index, window in enumerate(find_objects(indices, max_label=len(numbers))):
            if window is None:
                continue
            rows, columns = window
            half = (max(rows.stop - rows.start, columns.stop - columns.start) - 1) / 2 + CROP_MARGIN
            middle = np.array([rows.start + rows.stop - 1, columns.start + columns.stop - 1]) / 2
            top, left = np.maximum(np.floor(middle - half).astype(int), 0)
            bottom, right = np.ceil(middle + half).astype(int) + 1
            mask = indices[top:bottom, left:right] == index + 1
            patch = observation.rgb[view, top:bottom, left:right] * mask[..., None]
            crops.append(np.asarray(Image.fromarray(patch).resize((size, size), Image.Resampling.BILINEAR)))
            owners.append(index)
            pixels.append(np.count_nonzero(mask))
    stacked = np.asarray(crops, dtype=np.uint8).reshape(-1, size, size, 3)
    return stacked, np.asarray(owners, dtype=np.intp), np.asarray(pixels, dtype=np.float32)


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


def lift_points(observation: Observation, view: int) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Points (M, 3) in the world for the pixels of one view that show an instance, and the instance of each (M,)."""
    camera = observation.cameras[view]
    depth, instances = observation.depth_m[view], observation.instances[view]
    rows, columns = np.nonzero((instances > 0) & (depth > 0))
    z = depth[rows, columns]
    k = camera.intrinsics
    rays = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1], np.ones_like(z)], axis=1)
    points = (rays * z[:, None]) @ camera.world_from_camera[:3, :3].T + camera.world_from_camera[:3, 3]
    return np.asarray(points, dtype=np.float32), instances[rows, columns]


def lift_boxes(observation: Observation, numbers: Sequence[int]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Axis-aligned boxes from masked depth, all views together.

    Args:
        observation: the views.
        numbers: N instances to look for.

    Returns:
        Boxes (N, 6) and whether each object was seen (N,); an object that was not has a box of zeros.
    """
    lifted = [lift_points(observation, view) for view in range(len(observation.cameras))]
    points = np.concatenate([part[0] for part in lifted])
    owners = np.concatenate([part[1] for part in lifted])
    boxes = np.zeros((len(numbers), 6), dtype=np.float32)
    seen = np.zeros(len(numbers), dtype=np.bool_)
    for index, number in enumerate(numbers):
        own = points[owners == number]
        if len(own) < MIN_PIXELS:
            continue
        low, high = own.min(axis=0), own.max(axis=0)
        low[2] = max(float(low[2]), 0.0)
        boxes[index] = [*(low + high) / 2, *(high - low)]
        seen[index] = True
    return boxes, seen


def fuse_views(features: FloatArray, owners: npt.NDArray[np.intp], pixels: FloatArray, objects: int) -> FloatArray:
    """Features (objects, D) of objects from those of their crops (B, D): weighted by visible pixels, unit length."""
    visual = np.zeros((objects, features.shape[1]), dtype=np.float32)
    np.add.at(visual, owners, features * pixels[:, None])
    return np.asarray(visual / np.maximum(np.linalg.norm(visual, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def count_pixels(owners: npt.NDArray[np.intp], pixels: FloatArray, objects: int) -> FloatArray:
    """Visible pixels (objects,) of objects from those of their crops (B,)."""
    return np.bincount(owners, weights=pixels, minlength=objects).astype(np.float32)


class Association(StrEnum):
    """How the objects of an observation are matched to those of the last one."""

    TRACKED = "tracked"
    """By appearance and place; the detector's labels count in the first observation only."""
    KNOWN = "known"
    """By the detector's labels."""


@dataclass(frozen=True, eq=False)
class Detections:
    """What is visible in an observation.

    Attributes:
        numbers: M instance numbers.
        boxes: (M, 6) of the visible parts.
        visual: (M, D) appearance.
        pixels: (M,) visible pixels in all views.
    """

    numbers: tuple[int, ...]
    boxes: FloatArray
    visual: FloatArray
    pixels: FloatArray


class AppearanceModel(Protocol):
    """Turns object crops into appearance features; `nsrecover.models.bundle.Bundle` has learned it."""

    @property
    def crop_size(self) -> int:
        """Side of an object crop, pixels."""

    @property
    def feature_size(self) -> int:
        """D, length of an appearance feature."""

    def encode(self, crops: npt.NDArray[np.uint8]) -> FloatArray:
        """Features (B, D) of crops (B, size, size, 3)."""


class ScenePerceiver:
    """Turns observations into scene graphs and remembers occluded objects (protocol `Perceiver`).

    One perceiver belongs to one episode. The first observation names the objects; from then on they are tracked by
    appearance, place and size (`nsrecover.perception.association`). Objects that appear later get names of their own.

    Args:
        appearance: the learned encoder of object crops, such as a bundle.
        association: how objects are matched from one observation to the next.
        remember: whether occluded objects and parts are filled in from memory; if not, objects that are not seen are
            missing, and boxes are those of the visible parts.
    """

    def __init__(
        self, appearance: AppearanceModel, association: Association = Association.TRACKED, remember: bool = True
    ) -> None:
        self._appearance = appearance
        self._association = association
        self._remember = remember
        self._memory: Memory | None = None
        self._instances: dict[str, int] = {}

    @property
    def instances(self) -> dict[str, int]:
        """Objects that are visible in the last observation, and the number of the detection that shows each."""
        return dict(self._instances)

    def fork(self) -> ScenePerceiver:
        """An independent copy of the perceiver with the same memory."""
        other = ScenePerceiver(self._appearance, self._association, self._remember)
        other._memory, other._instances = self._memory, dict(self._instances)
        return other

    def reset(self, observation: Observation) -> SceneGraph:
        """The first scene of an episode, which names the objects; errors as for `step`."""
        self._memory = None
        return self.step(observation)

    def step(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene as it is now.

        Args:
            observation: the views.
            expected: the scene as it should be, if that is known. It adds a place where an object may be found, and
                decides where an object is that is not visible; visible objects are where they are seen.

        Raises:
            InvalidObservation: the detector reports no object at all.
        """
        return self(observation, expected)

    def __call__(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        """Same as `step`."""
        detections = self._detect(observation)
        if self._memory is None:
            self._memory = self._begin(observation, detections)
            found = _by_label(self._memory.names, observation, detections)
        else:
            guesses = _expected_boxes(self._memory, expected)
            found = self._match(self._memory, observation, detections, guesses)
            through = partial(seen_through, observation) if self._remember else _opaque
            earlier = self._memory if self._remember else replace(self._memory, pixels=0 * self._memory.pixels)
            self._memory = earlier.look(detections.boxes, detections.visual, detections.pixels, found, through, guesses)
            self._memory, found = self._admit(self._memory, observation, detections, found)
        self._instances = {
            name: detections.numbers[index] for name, index in zip(self._memory.names, found, strict=True) if index >= 0
        }
        return self._memory.graph()

    def _detect(self, observation: Observation) -> Detections:
        labelled = tuple(sorted(observation.labels))
        boxes, seen = lift_boxes(observation, labelled)
        numbers = tuple(number for number, visible in zip(labelled, seen, strict=True) if visible)
        crops, owners, pixels = crop_objects(observation, numbers, self._appearance.crop_size)
        visual = fuse_views(self._appearance.encode(crops), owners, pixels, len(numbers))
        return Detections(numbers, boxes[seen], visual, count_pixels(owners, pixels, len(numbers)))

    def _begin(self, observation: Observation, detections: Detections) -> Memory:
        names = object_names(observation)
        if not names:
            raise InvalidObservation("expected at least one labelled instance, found none; check the detector")
        visual = np.zeros((len(names), self._appearance.feature_size), dtype=np.float32)
        boxes, seen = np.zeros((len(names), 6), dtype=np.float32), np.zeros(len(names), dtype=np.bool_)
        rows = [names.index(observation.labels[number]) for number in detections.numbers]
        visual[rows], boxes[rows], seen[rows] = detections.visual, detections.boxes, True
        pixels = np.zeros(len(names), dtype=np.float32)
        pixels[rows] = detections.pixels
        return replace(Memory.empty(visual.shape[1]).add(names, boxes, visual, pixels), seen=seen)

    def _match(
        self, memory: Memory, observation: Observation, detections: Detections, expected: FloatArray
    ) -> npt.NDArray[np.intp]:
        if self._association is Association.KNOWN:
            return _by_label(memory.names, observation, detections)
        places = np.stack([memory.boxes[:, :3], expected[:, :3]], axis=1)
        # what an object was at first tells it apart from one of its colour that fell, too, and was taken for it
        visual = np.stack([memory.visual, memory.first_visual], axis=1)
        sizes = np.stack([memory.sizes, memory.first_sizes], axis=1)
        return associate(association_costs(visual, sizes, places, detections.visual, detections.boxes))

    def _admit(
        self, memory: Memory, observation: Observation, detections: Detections, found: npt.NDArray[np.intp]
    ) -> tuple[Memory, npt.NDArray[np.intp]]:
        """Give names to new objects."""
        new = np.setdiff1d(np.arange(len(detections.numbers)), found)
        names = list(memory.names)
        spare = chain(["new object"], (f"new object {number}" for number in count(2)))
        for index in new:
            label = observation.labels[detections.numbers[index]]
            named = self._association is Association.KNOWN and label not in names
            names.append(label if named else next(name for name in spare if name not in names))
        appeared = tuple(names[len(memory.names) :])
        known = memory.add(appeared, detections.boxes[new], detections.visual[new], detections.pixels[new])
        return known, np.concatenate([found, new])


def _by_label(names: tuple[str, ...], observation: Observation, detections: Detections) -> npt.NDArray[np.intp]:
    labels = [observation.labels[number] for number in detections.numbers]
    return np.array([labels.index(name) if name in labels else -1 for name in names], dtype=np.intp)


def _expected_boxes(memory: Memory, expected: SceneGraph | None) -> FloatArray:
    """Where each remembered object should be (N, 6): where it was, unless something else is expected."""
    boxes = memory.boxes.copy()
    if expected is not None:
        for row, name in enumerate(memory.names):
            if name in expected.names:
                boxes[row] = expected.boxes[expected.index(name)]
    return boxes


def _opaque(boxes: FloatArray) -> FloatArray:
    """`seen_through` of a perceiver without memory: nothing is occluded."""
    return np.ones(len(boxes), dtype=np.float32)

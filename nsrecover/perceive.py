"""From cameras to scene graph: object crops to appearance features, masked depth to 3-D boxes, fused over the views."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.errors import InvalidObservation
from nsrecover.observation import Observation
from nsrecover.scene.memory import remember
from nsrecover.structs import FloatArray, SceneGraph

if TYPE_CHECKING:
    from nsrecover.models.bundle import Bundle  # loads torch, which lifting boxes does without

MIN_PIXELS = 12
"""An object with fewer depth pixels over all views counts as not seen."""

CROP_MARGIN = 2
"""Pixels left around an object in its crop."""


def object_names(observation: Observation) -> tuple[str, ...]:
    """Names of the labelled instances, in the order of their numbers."""
    return tuple(observation.labels[number] for number in sorted(observation.labels))


def crop_objects(
    observation: Observation, names: tuple[str, ...], size: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """Cut every visible object out of every view.

    Args:
        observation: the views.
        names: N objects to look for.
        size: side of the square crops, pixels.

    Returns:
        Crops (B, size, size, 3) with everything but the object blacked out, the object index of each (B,), and the
        number of its pixels (B,).
    """
    numbers = {name: number for number, name in observation.labels.items()}
    crops, owners, pixels = [], [], []
    for view in range(len(observation.cameras)):
        instances = observation.instances[view]
        for index, name in enumerate(names):
            if name not in numbers:
                continue
            mask = instances == numbers[name]
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            if len(rows) == 0:
                continue
            half = max(rows[-1] - rows[0], columns[-1] - columns[0]) / 2 + CROP_MARGIN
            middle = np.array([rows[0] + rows[-1], columns[0] + columns[-1]]) / 2
            top, left = np.maximum(np.floor(middle - half).astype(int), 0)
            bottom, right = np.ceil(middle + half).astype(int) + 1
            patch = observation.rgb[view, top:bottom, left:right] * mask[top:bottom, left:right, None]
            crops.append(np.asarray(Image.fromarray(patch).resize((size, size), Image.Resampling.BILINEAR)))
            owners.append(index)
            pixels.append(np.count_nonzero(mask))
    shape = (0, size, size, 3)
    stacked = np.stack(crops) if crops else np.zeros(shape, dtype=np.uint8)
    return stacked, np.asarray(owners, dtype=np.intp), np.asarray(pixels, dtype=np.float32)


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


def lift_boxes(observation: Observation, names: tuple[str, ...]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Axis-aligned boxes from masked depth, all views together.

    Args:
        observation: the views.
        names: N objects to look for.

    Returns:
        Boxes (N, 6) and whether each object was seen (N,); an object that was not has a box of zeros.
    """
    lifted = [lift_points(observation, view) for view in range(len(observation.cameras))]
    points = np.concatenate([part[0] for part in lifted])
    owners = np.concatenate([part[1] for part in lifted])
    numbers = {name: number for number, name in observation.labels.items()}
    boxes = np.zeros((len(names), 6), dtype=np.float32)
    seen = np.zeros(len(names), dtype=np.bool_)
    for index, name in enumerate(names):
        own = points[owners == numbers.get(name, -1)]
        if len(own) < MIN_PIXELS:
            continue
        low, high = own.min(axis=0), own.max(axis=0)
        low[2] = max(float(low[2]), 0.0)
        boxes[index] = [*(low + high) / 2, *(high - low)]
        seen[index] = True
    return boxes, seen


class ScenePerceiver:
    """Turns observations into scene graphs and remembers what is out of sight (protocol `Perceiver`).

    One perceiver belongs to one episode: the objects are those of its first observation.

    Args:
        bundle: the learned parts; its encoder is used.
    """

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._last: SceneGraph | None = None

    def __call__(self, observation: Observation) -> SceneGraph:
        """The scene as it is now.

        Raises:
            InvalidObservation: the detector reports no object at all.
        """
        names = object_names(observation) if self._last is None else self._last.names
        if not names:
            raise InvalidObservation("expected at least one labelled instance, found none; check the detector")
        boxes, seen = lift_boxes(observation, names)
        graph = SceneGraph(names=names, visual=self._appearance(observation, names), boxes=boxes, seen=seen)
        if self._last is not None:
            graph = remember(self._last, graph)
        self._last = graph
        return graph

    def _appearance(self, observation: Observation, names: tuple[str, ...]) -> FloatArray:
        """Features (N, D): mean over the views, weighted by visible pixels, unit length."""
        crops, owners, pixels = crop_objects(observation, names, self._bundle.config.crop_size)
        visual = np.zeros((len(names), self._bundle.config.feature_size), dtype=np.float32)
        np.add.at(visual, owners, self._bundle.encode(crops) * pixels[:, None])
        return np.asarray(visual / np.maximum(np.linalg.norm(visual, axis=1, keepdims=True), 1e-9), dtype=np.float32)

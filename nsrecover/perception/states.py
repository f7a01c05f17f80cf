"""What the states of objects look like: crops with their geometry, and probabilities for the nodes of a scene graph."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nsrecover.core import Camera, FloatArray, ObjectStates, Observation
from nsrecover.domains.household.names import operated_by
from nsrecover.perception.objects.detections import crops_of, index_map, resized

GEOMETRY = 6
"""Length of the geometry of a crop: sine of the elevation, size, and whether the mask touches each border."""


@dataclass(frozen=True, eq=False)
class StateCrops:
    """Every named object in every view of an observation.

    Attributes:
        names: N objects.
        images: (B, size, size, 3) uint8, everything but the object blacked out.
        owners: (B,) which of the objects.
        elevation_rad: (B,) how steeply the camera looks down at it.
        pixels: (B,) visible pixels.
        geometry: (B, GEOMETRY).
    """

    names: tuple[str, ...]
    images: npt.NDArray[np.uint8]
    owners: npt.NDArray[np.intp]
    elevation_rad: FloatArray
    pixels: FloatArray
    geometry: FloatArray


@dataclass(frozen=True)
class Alike:
    """How alike the errors of two readings of one unchanged state are; by default, as those of most variables.

    Attributes:
        here: correlation if the cameras are in one place.
        elsewhere: correlation if they are far apart: some objects are misread from everywhere.
        apart_m: distance on whose scale it falls from the one to the other.
    """

    here: float = 0.6
    elsewhere: float = 0.2
    apart_m: float = 0.6


def worth(places: Sequence[FloatArray], alike: Alike) -> float:
    """How many independent readings count as much as readings of one unchanged state.

    A reading counts as 1 / (its summed correlation with all of them, itself included). At equal correlations r, n
    readings count as n / (1 + (n - 1) r) (the design effect of Kish, 1965): many looks from one place are hardly
    more than one look.

    Args:
        places: where the camera was at each of them, (3,) metres.
        alike: how alike their errors are.
    """
    if not places:
        return 0.0
    each = np.asarray(places, np.float64)
    apart = np.linalg.norm(each[:, None] - each, axis=2)
    correlation = alike.elsewhere + (alike.here - alike.elsewhere) * np.exp(-apart / alike.apart_m)
    np.fill_diagonal(correlation, 1.0)
    return float((1.0 / correlation.sum(axis=1)).sum())


class StateReader(Protocol):
    """Reads states from crops; `nsrecover.models.states.StateModel` has learned it."""

    @property
    def crop_size(self) -> int:
        """Side of a crop, pixels."""

    def read(self, crops: StateCrops) -> dict[str, ObjectStates]:
        """Name -> state variable -> probability of each value; no values where it cannot be seen for certain."""

    def weighed(self, crops: StateCrops) -> dict[str, ObjectStates]:
        """The same, certain or not: to be weighed against what is expected; no values where it is hidden."""


def state_masks(observation: Observation, names: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Object -> number of the mask that shows its states, for the visible ones among some objects.

    What is switched by a knob shows by its knob whether it runs: pots hide burners.
    """
    found: dict[str, tuple[int, ...]] = {}
    for number, name in observation.labels.items():
        switched = operated_by(name)
        if switched is not None and switched in names:
            found[switched] = (number,)
        elif name in names:
            found.setdefault(name, (number,))
    return found


def read_states(
    reader: StateReader, observation: Observation, masks: Mapping[str, Sequence[int]], certain: bool = True
) -> dict[str, ObjectStates]:
    """The states of the objects that are visible in an observation.

    Args:
        reader: the learned part.
        observation: the views.
        masks: object name -> numbers of the masks that show it. The noun of a name decides which variables it has.
        certain: whether only readings count that can be relied on alone.
    """
    crops = state_crops(observation, masks, reader.crop_size)
    return reader.read(crops) if certain else reader.weighed(crops)


def state_crops(observation: Observation, masks: Mapping[str, Sequence[int]], size: int) -> StateCrops:
    """Cut the objects with these masks out of every view."""
    numbers = [number for group in masks.values() for number in group]
    owner_of = np.array([0, *(1 + row for row, group in enumerate(masks.values()) for _ in group)], np.int32)
    images, owners, elevations, pixels, geometry = [], [], [], [], []
    for view, camera in enumerate(observation.cameras):
        indices = owner_of[index_map(observation.instances[view], numbers)]
        height, width = indices.shape
        for crop in crops_of(observation.rgb[view], indices, len(masks)):
            # squares at the border of an image are filled up, so that shapes keep their proportions
            square = np.zeros((crop.side, crop.side, 3), np.uint8)
            square[: crop.patch.shape[0], : crop.patch.shape[1]] = crop.patch
            images.append(resized(square, size))
            owners.append(crop.number)
            pixels.append(crop.pixels)
            elevations.append(elevation(camera, *map(float, crop.middle)))
            (top, bottom), (left, right) = ((part.start, part.stop) for part in crop.window)
            touches = (top == 0, bottom == height, left == 0, right == width)
            geometry.append([np.sin(elevations[-1]), np.log10(pixels[-1]) - 2.5, *map(float, touches)])
    count = len(images)
    return StateCrops(
        tuple(masks),
        np.asarray(images, np.uint8).reshape(count, size, size, 3),
        np.asarray(owners, np.intp),
        np.asarray(elevations, np.float32),
        np.asarray(pixels, np.float32),
        np.asarray(geometry, np.float32).reshape(count, GEOMETRY),
    )


def elevation(camera: Camera, row: float, column: float) -> float:
    """How steeply the ray through a pixel looks down, radians; negative if it looks up."""
    ray = np.linalg.solve(np.asarray(camera.intrinsics, np.float64), np.array([column, row, 1.0]))
    ray = np.asarray(camera.world_from_camera, np.float64)[:3, :3] @ (ray / np.linalg.norm(ray))
    return float(-np.arcsin(np.clip(ray[2], -1.0, 1.0)))

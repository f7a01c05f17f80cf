"""What happens to cameras while they run: they are bumped, freeze, drop out, lag, or are swapped; hands pass by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from nsrecover.core.observation import Camera, Observation
from nsrecover.errors import InvalidConfiguration

HAND_RGB = (205, 160, 130)
"""Colour of what passes through the picture."""


class EventKind(StrEnum):
    """What can happen to a camera."""

    BUMPED = "bumped"
    """It is pushed: from then on its true pose differs from its calibration."""
    FROZEN = "frozen"
    """It repeats its last images."""
    DROPPED = "dropped"
    """It delivers no image: all zeros."""
    LATE = "late"
    """It delivers the images of one observation before."""
    SWAPPED = "swapped"
    """Its images arrive as those of the next camera, and the other way round."""
    RESCALED = "rescaled"
    """Its depth changes scale."""
    MERGED = "merged"
    """Two of its masks that touch, others at every observation, are one."""
    PASSING = "passing"
    """Something nearer than the objects is seen, with a mask of its own (a hand)."""


@dataclass(frozen=True)
class CameraEvent:
    """Something that happens to one camera.

    Attributes:
        kind: what happens.
        start: number of the first observation that it affects; 0 is the first of the episode.
        end: number of the first observation that it affects no longer; None: it stays.
        view: the camera's number; `PASSING` is seen by all cameras.
        size: of a bump in metres (with one degree for every centimetre), of a new scale as a factor, of what passes as
            its radius in metres.
    """

    kind: EventKind
    start: int = 1
    end: int | None = None
    view: int = 0
    size: float = 0.0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "kind", EventKind(self.kind))
        except ValueError:
            raise InvalidConfiguration(
                f"expected what happens to a camera as one of {', '.join(EventKind)}, found {self.kind!r}"
            ) from None
        if self.start < 0 or self.view < 0 or (self.end is not None and self.end < self.start):
            raise InvalidConfiguration(
                f"expected start and view of at least 0 and an end after the start, found start={self.start}, "
                f"end={self.end}, view={self.view}"
            )

    def active(self, number: int) -> bool:
        """Whether it affects an observation."""
        return number >= self.start and (self.end is None or number < self.end)


def with_passing_object(observation: Observation, radius_m: float, rng: np.random.Generator) -> Observation:
    """An observation with a ball above the table that every camera sees, with one more instance number."""
    centre = np.array([rng.uniform(0.4, 0.65), rng.uniform(-0.2, 0.2), rng.uniform(0.15, 0.3)])
    rgb, depth, instances = observation.rgb.copy(), observation.depth_m.copy(), observation.instances.copy()
    number = int(instances.max()) + 1
    for view, camera in enumerate(observation.cameras):
        z = ball_depth(camera, depth[view].shape, centre, radius_m)
        before = (z > 0) & ((depth[view] == 0) | (z < depth[view]))
        depth[view][before], rgb[view][before], instances[view][before] = z[before], HAND_RGB, number
    labels = {**observation.labels, number: "unlabelled"} if observation.labels else observation.labels
    return replace(observation, rgb=rgb, depth_m=depth, instances=instances, labels=labels)


def ball_depth(camera: Camera, shape: tuple[int, ...], centre: np.ndarray, radius_m: float) -> np.ndarray:
    """(H, W) depth of a ball along the optical axis; 0 beside it."""
    rows, columns = np.indices(shape)
    k = camera.intrinsics
    rays = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1], np.ones(shape)], axis=-1)
    pose = camera.world_from_camera
    middle = (centre - pose[:3, 3]) @ pose[:3, :3]
    a, b = (rays**2).sum(-1), rays @ middle
    under = b**2 - a * (middle @ middle - radius_m**2)
    z = (b - np.sqrt(np.maximum(under, 0.0))) / a
    return np.where((under > 0) & (z > 0), z, 0.0).astype(np.float32)

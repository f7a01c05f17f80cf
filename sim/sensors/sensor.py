"""A sensor: depth, colour and mask errors, calibration errors, and what happens to its cameras."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.sensors.colour import ColourErrors
from sim.sensors.depth import DepthErrors
from sim.sensors.events import CameraEvent, EventKind, with_passing_object
from sim.sensors.masks import MaskErrors, with_merged_pair
from sim.sensors.values import check_values

ID_RANGE = 1000
"""Numbers of the masks of one view lie in a range of this size where every view gives its own."""

Pose = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """How far the true pose of every camera is from the one that its user believes.

    Attributes:
        position_m: distance between the positions, metres.
        rotation_deg: angle between the orientations, degrees.
    """

    position_m: float = 0.0
    rotation_deg: float = 0.0

    def __post_init__(self) -> None:
        check_values(self)

    def offset(self, rng: np.random.Generator) -> Pose:
        """(4, 4) motion of this size from the believed to the true pose, in the camera's frame."""
        return motion(self.position_m, self.rotation_deg, rng)


@dataclass(frozen=True)
class Sensor:
    """What a depth camera and a segmenter make of a scene.

    Attributes:
        name: of the preset.
        depth: errors of the depth images.
        colour: errors of the colour images.
        masks: errors of the instance masks.
        calibration: errors of the cameras' poses.
        events: what happens to single cameras during an episode; mappings with the arguments of `CameraEvent` are
            accepted.
    """

    name: str = "clean"
    depth: DepthErrors = field(default_factory=DepthErrors)
    colour: ColourErrors = field(default_factory=ColourErrors)
    masks: MaskErrors = field(default_factory=MaskErrors)
    calibration: Calibration = field(default_factory=Calibration)
    events: tuple[CameraEvent, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", tuple(_event(each) for each in self.events))

    @property
    def exact(self) -> bool:
        """Whether it has no errors at all."""
        return replace(self, name=EXACT.name) == EXACT

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: everything that decides what it delivers."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def notes(self) -> dict[str, Any]:
        """What a recording says of it; nothing if it is exact."""
        return {} if self.exact else {"sensor": self.to_dict()}

    def stream(self, views: int, seed: int) -> SensorStream:
        """The sensor during one episode.

        Args:
            views: number of cameras.
            seed: of all errors.

        Raises:
            InvalidConfiguration: something happens to a camera that does not exist.
        """
        for event in self.events:
            if event.view >= views:
                raise InvalidConfiguration(
                    f"expected events of the views 0 to {views - 1}, found {event.kind} of view {event.view}"
                )
        return SensorStream(self, views, seed)


EXACT = Sensor()
"""A sensor without errors."""


class SensorStream:
    """A sensor during one episode; every observation goes through it once, in order.

    All randomness follows from the seed and the number of the observation.

    Attributes:
        count: observations so far.
    """

    def __init__(self, sensor: Sensor, views: int, seed: int) -> None:
        self.sensor, self.seed, self.count = sensor, seed, 0
        rng = np.random.default_rng([seed, 0])
        self._calibration = [sensor.calibration.offset(rng) for _ in range(views)]
        self._phases = rng.uniform(0, 2 * math.pi, views)
        self._bumps = {event: motion(event.size, 100 * event.size, rng) for event in sensor.events}
        self._last: Observation | None = None
        self._in_time: Observation | None = None

    def offsets(self) -> list[Pose]:
        """For every camera the motion (4, 4) from its believed to its true pose at the next observation."""
        offsets = list(self._calibration)
        for event in self._active(EventKind.BUMPED):
            offsets[event.view] = offsets[event.view] @ self._bumps[event]
        return offsets

    def observe(self, render: Callable[[list[Pose]], Observation], quick: bool = False) -> Observation:
        """The next observation.

        Args:
            render: what an exact sensor sees if its cameras are moved by `offsets`; cameras as they are believed to be.
            quick: colours have no errors, and holes in the depth come from a stock; twice as fast, for frames of which
                nobody looks at the colours.
        """
        exact = render(self.offsets())
        if self.sensor.exact:
            self.count += 1
            return exact
        rng = np.random.default_rng([self.seed, self.count + 1])
        for event in self._active(EventKind.PASSING):
            exact = with_passing_object(exact, event.size, rng)
        seen = self._with_events(self._with_errors(exact, rng, quick))
        self.count, self._last = self.count + 1, seen
        return seen

    def _with_errors(self, exact: Observation, rng: np.random.Generator, quick: bool) -> Observation:
        sensor = self.sensor
        depth, rgb, masks = [], [], []
        for view, camera in enumerate(exact.cameras):
            errors = sensor.depth
            for event in self._active(EventKind.RESCALED):
                errors = replace(errors, scale=event.size) if event.view == view else errors
            focal, phase = float(camera.intrinsics[0, 0]), float(self._phases[view])
            depth.append(errors.apply(exact.depth_m[view], exact.rgb[view], focal, exact.time_s, phase, rng, quick))
            shown = exact.instances[view]
            if any(event.view == view for event in self._active(EventKind.MERGED)):
                shown = with_merged_pair(shown, rng)
            masks.append(sensor.masks.apply(shown, rng))
            rgb.append(exact.rgb[view] if quick else sensor.colour.apply(exact.rgb[view], rng))
        seen = replace(exact, rgb=np.stack(rgb), depth_m=np.stack(depth))
        return self._numbered(seen, masks, rng)

    def _numbered(self, seen: Observation, masks: list[npt.NDArray[np.int32]], rng: np.random.Generator) -> Observation:
        """With masks, and the labels that a detector gives them."""
        if not self.sensor.masks.ids_per_view:
            numbers = sorted({int(n) for mask in masks for n in np.unique(mask) if n > 0})
            labels = {n: seen.labels.get(n, f"unlabelled {n}") for n in numbers}
            return replace(seen, instances=np.stack(masks), labels=labels)
        labels, renumbered = dict[int, str](), []
        for view, mask in enumerate(masks):
            old = [int(n) for n in np.unique(mask) if n > 0]
            new = 1 + view * ID_RANGE + rng.permutation(len(old))
            table = np.zeros(max(old, default=0) + 1, dtype=np.int32)
            table[old] = new
            renumbered.append(table[mask])
            known = set(labels.values())  # an object is named in the first camera that shows it
            labels |= {
                int(n): seen.labels[o]
                for o, n in zip(old, new, strict=True)
                if o in seen.labels and seen.labels[o] not in known
            }
        return replace(seen, instances=np.stack(renumbered), labels=labels, shared_ids=False)

    def _with_events(self, seen: Observation) -> Observation:
        delivered, in_time = self._last or seen, self._in_time or seen
        self._in_time = seen
        images: dict[str, npt.NDArray[Any]] = {
            "rgb": seen.rgb.copy(),
            "depth_m": seen.depth_m.copy(),
            "instances": seen.instances.copy(),
        }
        for event in self._active(EventKind.FROZEN, EventKind.LATE, EventKind.DROPPED, EventKind.SWAPPED):
            view = event.view
            for name, stack in images.items():
                if event.kind is EventKind.DROPPED:
                    stack[view] = 0
                elif event.kind is EventKind.SWAPPED:
                    other = (view + 1) % len(stack)
                    stack[[view, other]] = stack[[other, view]]
                else:
                    earlier = delivered if event.kind is EventKind.FROZEN else in_time
                    stack[view] = getattr(earlier, name)[view]
        return replace(seen, rgb=images["rgb"], depth_m=images["depth_m"], instances=images["instances"])

    def _active(self, *kinds: EventKind) -> list[CameraEvent]:
        return [event for event in self.sensor.events if event.kind in kinds and event.active(self.count)]


def recorded(observation: Observation) -> Callable[[list[Pose]], Observation]:
    """Renderer for `SensorStream.observe` from a recording: the believed poses move instead of the cameras."""

    def render(offsets: list[Pose]) -> Observation:
        cameras = tuple(
            replace(camera, world_from_camera=(camera.world_from_camera @ np.linalg.inv(offset)).astype(np.float32))
            for camera, offset in zip(observation.cameras, offsets, strict=True)
        )
        return replace(observation, cameras=cameras)

    return render


def _event(given: CameraEvent | Mapping[str, Any]) -> CameraEvent:
    if isinstance(given, CameraEvent):
        return given
    known = list(CameraEvent.__dataclass_fields__)
    wrong = [key for key in given if key not in known]
    if wrong or "kind" not in given:
        raise InvalidConfiguration(
            f"expected an event with a kind and, if needed, {', '.join(known[1:])}, found {dict(given)}."
            f"{did_you_mean(wrong[0], known) if wrong else ''}"
        )
    return CameraEvent(**given)


def motion(distance_m: float, angle_deg: float, rng: np.random.Generator) -> Pose:
    """(4, 4) rigid motion of a size, in random directions."""
    pose = np.eye(4)
    axis, direction = (vector / np.linalg.norm(vector) for vector in rng.standard_normal((2, 3)))
    pose[:3, :3] = Rotation.from_rotvec(math.radians(angle_deg) * axis).as_matrix()
    pose[:3, 3] = distance_m * direction
    return pose

"""Faulty first observations: mistakes of their users, and cameras that fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core.observation import Camera, Observation
from nsrecover.core.scene import FloatArray
from nsrecover.core.sensing import SensorProblem
from sim.sensors.events import CameraEvent, EventKind

FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
"""From OpenCV's convention of camera axes to OpenGL's, and back."""

BUMP_M = 0.05
"""Size of a bump; with it comes a turn by one degree for every centimetre."""

Change = Callable[[Observation], Observation]


@dataclass(frozen=True)
class Mistake:
    """One faulty case.

    Attributes:
        name: for the table.
        sensor: name of the preset.
        views: names of the cameras.
        expected: what it should be called.
        change: makes the mistake; None if it is an event.
        event: what happens to a camera from the first observation on.
        stale: whether one camera shows another scene.
    """

    name: str
    sensor: str
    views: tuple[str, ...]
    expected: tuple[SensorProblem, ...]
    change: Change | None = None
    event: CameraEvent | None = None
    stale: bool = False


def _scaled(factor: float) -> Change:
    return lambda seen: replace(seen, depth_m=(factor * seen.depth_m).astype(np.float32))


def _posed(change: Callable[[FloatArray], FloatArray]) -> Change:
    def posed(camera: Camera) -> Camera:
        return replace(camera, world_from_camera=np.asarray(change(camera.world_from_camera), dtype=np.float32))

    return lambda seen: replace(seen, cameras=tuple(posed(camera) for camera in seen.cameras))


def _exchanged(seen: Observation) -> Observation:
    return replace(seen, cameras=seen.cameras[::-1])


def _without_depth(view: int) -> Change:
    def change(seen: Observation) -> Observation:
        depth = seen.depth_m.copy()
        depth[view] = 0.0
        return replace(seen, depth_m=depth)

    return change


def _without_masks(seen: Observation) -> Observation:
    return replace(seen, instances=np.zeros_like(seen.instances))


def _opengl(pose: FloatArray) -> FloatArray:
    return np.asarray(pose @ FLIP)


def _inverted(pose: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(pose))


ONE, TWO = ("left",), ("left", "right")
_UNIT = (SensorProblem.DEPTH_UNIT,)
_CONVENTION = (SensorProblem.CAMERA_CONVENTION,)
_INVERTED = (SensorProblem.INVERTED_POSE,)
_BUMPED = (SensorProblem.TABLE_PLANE, SensorProblem.VIEWS_DISAGREE)
_STALE = (SensorProblem.VIEWS_DISAGREE, SensorProblem.FROZEN)
_BUMP = CameraEvent(EventKind.BUMPED, start=0, view=0, size=BUMP_M)

MISTAKES: tuple[Mistake, ...] = (
    Mistake("depth in millimetres", "clean", TWO, _UNIT, _scaled(1000.0)),
    Mistake("depth in millimetres", "d435", ONE, _UNIT, _scaled(1000.0)),
    Mistake("depth in centimetres", "clean", ONE, _UNIT, _scaled(100.0)),
    Mistake("depth in centimetres", "d435", TWO, _UNIT, _scaled(100.0)),
    Mistake("poses in OpenGL's convention", "clean", TWO, _CONVENTION, _posed(_opengl)),
    Mistake("poses in OpenGL's convention", "d435", ONE, _CONVENTION, _posed(_opengl)),
    Mistake("inverted poses", "clean", ONE, _INVERTED, _posed(_inverted)),
    Mistake("inverted poses", "d435", TWO, _INVERTED, _posed(_inverted)),
    Mistake("exchanged cameras", "clean", TWO, (SensorProblem.EXCHANGED_CAMERAS,), _exchanged),
    Mistake("exchanged cameras", "d435", TWO, (SensorProblem.EXCHANGED_CAMERAS,), _exchanged),
    Mistake("a frozen camera", "clean", TWO, _STALE, stale=True),
    Mistake("a frozen camera", "d435", TWO, _STALE, stale=True),
    Mistake("a frozen camera", "d435", ONE, _STALE, event=CameraEvent(EventKind.FROZEN, start=1, view=0)),
    Mistake("a bumped camera", "clean", TWO, _BUMPED, event=_BUMP),
    Mistake("a bumped camera", "d435", TWO, _BUMPED, event=_BUMP),
    Mistake("a bumped camera", "d435", ONE, _BUMPED, event=_BUMP),
    Mistake("no depth", "clean", ONE, (SensorProblem.NO_DEPTH,), _without_depth(0)),
    Mistake("no depth in one view", "d435", TWO, (SensorProblem.NO_DEPTH,), _without_depth(1)),
    Mistake("no masks", "clean", TWO, (SensorProblem.NO_MASKS,), _without_masks),
    Mistake("no masks", "d435", ONE, (SensorProblem.NO_MASKS,), _without_masks),
)
"""The twenty cases."""

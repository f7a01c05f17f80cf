"""What the robot sees and hears: calibrated RGB-D views with instance masks and a recording, checked when made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidObservation
from nsrecover.util.english import amount

AUDIO_RATES_HZ = (4_000, 384_000)
"""Lowest and highest sampling rate of a microphone."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A calibrated pinhole camera, OpenCV convention (x right, y down, z forward).

    Attributes:
        intrinsics: K, (3, 3), pixels.
        world_from_camera: (4, 4) rigid transform.
        name: what to call it in reports.
    """

    intrinsics: FloatArray
    world_from_camera: FloatArray
    name: str = "camera"

    def __post_init__(self) -> None:
        for label, array, shape in (
            ("intrinsics", self.intrinsics, (3, 3)),
            ("world_from_camera", self.world_from_camera, (4, 4)),
        ):
            if np.shape(array) != shape or not np.all(np.isfinite(array)):
                raise InvalidObservation(
                    f"camera {self.name!r}: expected a finite {label} of shape {shape}, found shape {np.shape(array)}; "
                    "pass the calibration of the camera"
                )
        check_rigid(f"camera {self.name!r}: expected a rigid world_from_camera", self.world_from_camera)


ROUNDED = 0.01
"""Largest error of a rotation matrix that rounding explains."""


def check_rigid(expected: str, given: npt.ArrayLike) -> None:
    """Check that a pose (4, 4) is a rotation and a shift.

    Args:
        expected: begin of the error: what is expected of what.
        given: the pose.

    Raises:
        InvalidObservation: it is not.
    """
    pose = np.asarray(given, np.float64)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise InvalidObservation(f"{expected}, found {np.round(pose, 3).tolist()}")
    turn, last = pose[:3, :3], np.array([0.0, 0.0, 0.0, 1.0])
    found = ""
    if np.abs(pose[3] - last).max() > ROUNDED:
        transposed = np.abs(pose[:, 3] - last).max() < ROUNDED
        found = "the shift in the last row; transpose it" if transposed else f"the last row {pose[3].round(3).tolist()}"
    elif np.abs(turn @ turn.T - np.eye(3)).max() > ROUNDED:
        sizes = np.linalg.norm(turn, axis=0).round(3).tolist()
        found = f"axes of length {sizes}, or not at right angles; make the rotation from a unit quaternion"
    elif np.linalg.det(turn) < 0:
        found = "a mirrored one; exchange no axes, and negate two or none"
    if found:
        raise InvalidObservation(f"{expected}, found {found}")


@dataclass(frozen=True, eq=False)
class Observation:
    """What the robot sees at one moment, and what it heard until then; nothing comes from a simulator's state.

    Attributes:
        rgb: (V, H, W, 3) uint8.
        depth_m: (V, H, W) float32, distance along the optical axis in metres; 0 where there is no reading.
        instances: (V, H, W) int32, a detector's instance masks; 0 is background.
        cameras: V cameras.
        labels: instance number -> object name, as the detector reports them.
        gripper_opening_m: distance between the fingers.
        holding: whether the gripper feels an object.
        time_s: when it was taken, by a clock that is never set back, seconds; 0: not known. A session takes no frame
            that is not later than the last one.
        shared_ids: whether an instance number means the same object in every view. If not (one detector for each
            camera), every number belongs to one view, and perception joins the views; numbers need no labels then, and
            labels with the same name in different views are one object, in one view an error.
        audio: (S,) float32 from -1 to 1, mono, of one microphone since the last observation; None without a microphone.
        audio_rate_hz: samples a second; 0 without a microphone.
    """

    rgb: npt.NDArray[np.uint8]
    depth_m: FloatArray
    instances: npt.NDArray[np.int32]
    cameras: tuple[Camera, ...]
    labels: Mapping[int, str]
    gripper_opening_m: float = 0.0
    holding: bool = False
    time_s: float = 0.0
    shared_ids: bool = True
    audio: FloatArray | None = None
    audio_rate_hz: int = 0

    def __post_init__(self) -> None:
        rgb = np.asarray(self.rgb)
        if rgb.ndim != 4 or rgb.shape[3] != 3 or rgb.dtype != np.uint8:
            raise InvalidObservation(
                f"expected rgb as (views, height, width, 3) uint8, found {rgb.shape} {rgb.dtype}; "
                "stack the views on the first axis"
            )
        for label, array in (("depth_m", self.depth_m), ("instances", self.instances)):
            if array is None:
                raise InvalidObservation(
                    f"expected {label} of shape {rgb.shape[:3]}, found none; "
                    "nsrecover needs depth and one instance mask a view (any detector's will do)"
                )
            if np.shape(array) != rgb.shape[:3]:
                raise InvalidObservation(
                    f"expected {label} of shape {rgb.shape[:3]} to match rgb, found {np.shape(array)}; "
                    "render or resize all images of a view to one size"
                )
        if not np.issubdtype(np.asarray(self.depth_m).dtype, np.floating):
            raise InvalidObservation(
                f"expected depth_m in metres as decimals, found {np.asarray(self.depth_m).dtype}; "
                "divide millimetres by 1000"
            )
        if not np.issubdtype(np.asarray(self.instances).dtype, np.integer):
            raise InvalidObservation(
                f"expected instances of an integer type, found {np.asarray(self.instances).dtype}; "
                "pass instance numbers, 0 for background"
            )
        bad = int(np.count_nonzero(~np.isfinite(self.depth_m)))
        if bad:
            raise InvalidObservation(
                f"expected finite depth_m, found {bad} NaN or infinite pixels; put 0 where the camera has no reading"
            )
        if np.any(np.asarray(self.depth_m) < 0):
            raise InvalidObservation("expected depth_m of at least 0, found less; put 0 where there is no reading")
        if not isinstance(self.cameras, Sequence) or len(self.cameras) != rgb.shape[0]:
            many = isinstance(self.cameras, Sequence)
            found = amount(len(self.cameras), "camera") if many else f"a {type(self.cameras).__name__} and no tuple"
            raise InvalidObservation(f"expected one camera for each of the {rgb.shape[0]} views, found {found}")
        if not all(isinstance(number, Integral) and isinstance(name, str) for number, name in self.labels.items()):
            raise InvalidObservation(
                f"expected labels as instance number -> name, found {dict(self.labels)!r:.80}; "
                "exchange names and numbers"
            )
        if self.shared_ids and len(set(self.labels.values())) != len(self.labels):
            raise InvalidObservation(
                f"expected a different name for every instance, found {sorted(self.labels.values())}"
            )
        if not isinstance(self.time_s, Real) or not math.isfinite(self.time_s):
            raise InvalidObservation(f"expected a finite time_s, found {self.time_s!r}; give the seconds of one clock")
        _check_audio(self.audio, self.audio_rate_hz)


def _check_audio(audio: FloatArray | None, rate_hz: int) -> None:
    """Check a recording and its rate.

    Raises:
        InvalidObservation: they cannot be used.
    """
    if audio is None:
        if rate_hz:
            raise InvalidObservation(
                f"expected audio_rate_hz of 0 without audio, found {rate_hz}; pass the samples, or no rate"
            )
        return
    samples = np.asarray(audio)
    if samples.ndim != 1 or not np.issubdtype(samples.dtype, np.floating):
        raise InvalidObservation(
            f"expected audio as (samples,) float32, found {samples.shape} {samples.dtype}; mix the channels into one, "
            "and divide integers of 16 bits by 32768"
        )
    low, high = AUDIO_RATES_HZ
    if not low <= rate_hz <= high or int(rate_hz) != rate_hz:
        raise InvalidObservation(
            f"expected audio_rate_hz as a whole number from {low} to {high}, found {rate_hz}; pass the sampling rate "
            "of the microphone in hertz"
        )
    loudest = float(np.abs(samples).max(initial=0.0))
    if not loudest <= 1.0:  # false for NaN, too
        raise InvalidObservation(
            f"expected audio from -1 to 1, found {loudest:g}; divide the samples by the full scale of the microphone"
        )

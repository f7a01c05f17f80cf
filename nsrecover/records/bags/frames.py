"""Poses of cameras from the transforms of a bag."""

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidRecording, did_you_mean
from nsrecover.records.bags.images import Message

Pose = npt.NDArray[np.float64]

BODY_TO_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""Turn from the frame of a camera's body (x forward, z up) to its optical frame (REP 103)."""

UPWARDS = 0.5
"""A camera that looks up by more than this (sine of the angle) sees no table."""


class Frames:
    """The tree of frames.

    Args:
        base: the frame of the robot's base.
        keep: largest number of transforms to keep of each moving frame, the latest ones; all if None.
    """

    def __init__(self, base: str, keep: int | None = None) -> None:
        self._base, self._keep = base, keep
        self._fixed: dict[str, tuple[str, Pose]] = {}
        self._moving: dict[str, list[tuple[float, str, Pose]]] = {}

    def add(self, message: Message, stamp_s: float, fixed: bool) -> None:
        """Take in a TransformStamped.

        Raises:
            InvalidRecording: its quaternion is not one.
        """
        moved, turned = message.transform.translation, message.transform.rotation
        quaternion = np.array([turned.x, turned.y, turned.z, turned.w])
        child, parent = message.child_frame_id.lstrip("/"), message.header.frame_id.lstrip("/")
        if not 0.9 < np.linalg.norm(quaternion) < 1.1:
            raise InvalidRecording(
                f"expected a unit quaternion from {parent} to {child}, found {quaternion.round(3).tolist()}"
            )
        pose: Pose = np.eye(4)
        pose[:3, :3] = Rotation.from_quat(quaternion).as_matrix()
        pose[:3, 3] = moved.x, moved.y, moved.z
        if fixed:
            self._fixed[child] = parent, pose
        else:
            known = self._moving.setdefault(child, [])
            known.append((stamp_s, parent, pose))
            if self._keep is not None:
                del known[: -self._keep]

    def pose(self, frame: str, moment: float) -> FloatArray:
        """Pose (4, 4) of a frame in the base frame; of moving ones the transform nearest in time.

        Raises:
            InvalidRecording: no transforms lead from the base to the frame.
        """
        return self.pose_and_age(frame, moment)[0]

    def optical_pose(self, frame: str, moment: float, slop_s: float) -> FloatArray:
        """Pose (4, 4) of a camera's optical frame (x right, y down, z forward) in the base frame.

        Raises:
            InvalidRecording: no transforms lead to it, they are not of this moment, or z does not point forward.
        """
        pose, age = self.pose_and_age(frame, moment)
        if age > slop_s:
            raise InvalidRecording(
                f"expected transforms to {frame} within {slop_s:g} s of the moment {moment:.3f} s, found the nearest "
                f"transform {age:.3g} s away; record /tf for the whole run, or publish what does not move on /tf_static"
            )
        turned = {child: step[:3, :3] for child, (parent, step) in self._fixed.items() if parent == frame.lstrip("/")}
        optical = next((child for child, turn in turned.items() if np.abs(turn - BODY_TO_OPTICAL).max() < 0.05), None)
        if optical is not None or pose[2, 2] > UPWARDS:
            name = optical or "its optical frame (x right, y down, z forward)"
            raise InvalidRecording(
                f"expected an optical frame in the header of the CameraInfo, found {frame}, which is not the optical "
                f"frame: its z axis points up or sideways; publish {name} as frame_id"
            )
        return pose

    def pose_and_age(self, frame: str, moment: float) -> tuple[FloatArray, float]:
        """As `pose`, and how far in time the transforms of moving frames are from the moment, seconds."""
        here, pose, passed, age = frame.lstrip("/"), np.eye(4), set[str](), 0.0
        while here != self._base:
            if here in passed or not (here in self._fixed or here in self._moving):
                raise InvalidRecording(
                    f"expected transforms from {self._base} to {frame}, found none to {here}."
                    f"{did_you_mean(self._base, self._names())} Record /tf and /tf_static, or give the robot's base "
                    "as --base-frame"
                )
            passed.add(here)
            if here in self._moving:
                stamp_s, parent, step = min(self._moving[here], key=lambda each: abs(each[0] - moment))
                age = max(age, abs(stamp_s - moment))
            else:
                parent, step = self._fixed[here]
            pose, here = step @ pose, parent
        return pose.astype(np.float32), age

    def _names(self) -> set[str]:
        parents = {parent for parent, _ in self._fixed.values()}
        return {*self._fixed, *self._moving, *parents, *(each[-1][1] for each in self._moving.values())}

    def forget(self) -> None:
        """Forget the transforms of moving frames, for a clock that goes back."""
        self._moving.clear()

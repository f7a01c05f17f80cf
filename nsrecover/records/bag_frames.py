"""Poses of cameras from the transforms of a bag."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidRecording, did_you_mean

Pose = npt.NDArray[np.float64]


class Frames:
    """The tree of frames.

    Args:
        base: the frame of the robot's base.
    """

    def __init__(self, base: str) -> None:
        self._base = base
        self._fixed: dict[str, tuple[str, Pose]] = {}
        self._moving: dict[str, list[tuple[float, str, Pose]]] = {}

    def add(self, message: Any, stamp_s: float, fixed: bool) -> None:
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
            self._moving.setdefault(child, []).append((stamp_s, parent, pose))

    def pose(self, frame: str, moment: float) -> FloatArray:
        """Pose (4, 4) of a frame in the base frame; of moving ones the transform nearest in time.

        Raises:
            InvalidRecording: no transforms lead from the base to the frame.
        """
        here, pose, passed = frame.lstrip("/"), np.eye(4), set[str]()
        while here != self._base:
            if here in passed or not (here in self._fixed or here in self._moving):
                known = {*self._fixed, *self._moving, *(parent for parent, _ in self._fixed.values())}
                raise InvalidRecording(
                    f"expected transforms from {self._base} to {frame}, found none to {here}."
                    f"{did_you_mean(self._base, known)} Record /tf and /tf_static, or give --base-frame"
                )
            passed.add(here)
            if here in self._moving:
                _, parent, step = min(self._moving[here], key=lambda each: abs(each[0] - moment))
            else:
                parent, step = self._fixed[here]
            pose, here = step @ pose, parent
        return pose.astype(np.float32)

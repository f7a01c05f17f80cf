"""Poses of cameras from the transforms of a bag."""

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidRecording, did_you_mean
from nsrecover.records.bags.images import Message

Pose = npt.NDArray[np.float64]


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

    def pose_and_age(self, frame: str, moment: float) -> tuple[FloatArray, float]:
        """As `pose`, and how far in time the transforms of moving frames are from the moment, seconds."""
        here, pose, passed, age = frame.lstrip("/"), np.eye(4), set[str](), 0.0
        while here != self._base:
            if here in passed or not (here in self._fixed or here in self._moving):
                known = {*self._fixed, *self._moving, *(parent for parent, _ in self._fixed.values())}
                raise InvalidRecording(
                    f"expected transforms from {self._base} to {frame}, found none to {here}."
                    f"{did_you_mean(self._base, known)} Record /tf and /tf_static, or give --base-frame"
                )
            passed.add(here)
            if here in self._moving:
                stamp_s, parent, step = min(self._moving[here], key=lambda each: abs(each[0] - moment))
                age = max(age, abs(stamp_s - moment))
            else:
                parent, step = self._fixed[here]
            pose, here = step @ pose, parent
        return pose.astype(np.float32), age

    def forget(self) -> None:
        """Forget the transforms of moving frames, for a clock that goes back."""
        self._moving.clear()

"""Poses of cameras from the transforms of a bag."""

import bisect

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation, Slerp

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidRecording, did_you_mean
from nsrecover.records.bags.images import Message

Pose = npt.NDArray[np.float64]

BODY_TO_OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
"""Turn from the frame of a camera's body (x forward, z up) to its optical frame (REP 103)."""

STILL_M = 0.005
"""A frame that moves by more from its last known pose to a moment, at its last speed, is not known then: metres, or
metres at a distance of 1 m if it turns."""

UPWARDS = 0.2
"""A camera that looks up by more than this (sine of the angle) sees no table: its frame is that of the body."""


class TransformTree:
    """The tree of frames.

    Args:
        base: the frame of the robot's base.
        keep_s: how long transforms of moving frames are kept, seconds; all if None.
    """

    def __init__(self, base: str, keep_s: float | None = None) -> None:
        self._base, self._keep_s = base, keep_s
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
            bisect.insort(known, (stamp_s, parent, pose), key=lambda each: each[0])
            if self._keep_s is not None:
                del known[: bisect.bisect(known, known[-1][0] - self._keep_s, key=lambda each: each[0])]

    def pose(self, frame: str, moment: float) -> FloatArray:
        """Pose (4, 4) of a frame in the base frame; of moving ones interpolated between two transforms.

        Raises:
            InvalidRecording: no transforms lead from the base to the frame.
        """
        return self.pose_and_age(frame, moment)[0]

    def optical_pose(self, frame: str, moment: float, slop_s: float) -> FloatArray:
        """Pose (4, 4) of a camera's optical frame (x right, y down, z forward) in the base frame.

        A frame whose z axis points up is that of the camera's body, as some drivers name it.

        Raises:
            InvalidRecording: no transforms lead to it, or they are not of this moment.
        """
        pose, age = self.pose_and_age(frame, moment)
        if age > slop_s:
            far = f"the nearest transform {age:.3g} s away"
            found = far if np.isfinite(age) else "them only before or only after it, although the frame moves"
            raise InvalidRecording(
                f"expected transforms to {frame} within {slop_s:g} s of the moment {moment:.3f} s, found {found}; "
                "record /tf for the whole run, or publish what does not move on /tf_static"
            )
        steps = [step for parent, step in self._fixed.values() if parent == frame.lstrip("/")]
        optical = [step for step in steps if np.abs(step[:3, :3] - BODY_TO_OPTICAL).max() < 0.05]
        if optical or pose[2, 2] > UPWARDS:
            turn = np.eye(4)
            turn[:3, :3] = BODY_TO_OPTICAL
            pose = (pose @ (optical[0] if optical else turn)).astype(np.float32)
        return pose

    def elsewhere(self, frame: str, pose: FloatArray, moment: float, slop_s: float) -> FloatArray | None:
        """The optical pose of a frame if it is not at a pose; an unknown frame is there."""
        if frame.lstrip("/") not in (*self._fixed, *self._moving):
            return None
        other = self.optical_pose(frame, moment, slop_s)
        return other if float(np.abs(other - pose).max()) > STILL_M else None

    def pose_and_age(self, frame: str, moment: float) -> tuple[FloatArray, float]:
        """As `pose`, and how far in time the transforms of moving frames are from the moment, seconds."""
        here, pose, passed, age = frame.lstrip("/"), np.eye(4), set[str](), 0.0
        while here not in self._bases():
            if here in passed or not (here in self._fixed or here in self._moving):
                raise InvalidRecording(
                    f"expected transforms from {self._base} to {frame}, found none to {here}."
                    f"{did_you_mean(self._base, self._names())} Record /tf and /tf_static, or give the robot's base "
                    "as --base-frame"
                )
            passed.add(here)
            if here in self._moving:
                parent, step, apart = _between(self._moving[here], moment)
                age = max(age, apart)
            else:
                parent, step = self._fixed[here]
            pose, here = step @ pose, parent
        return pose.astype(np.float32), age

    def _bases(self) -> set[str]:
        """The base, or the only frame of its name in a namespace."""
        names = self._names()
        spaced = {name for name in names if name.endswith(f"/{self._base}")}
        return spaced if self._base not in names and len(spaced) == 1 else {self._base}

    def _names(self) -> set[str]:
        parents = {parent for parent, _ in self._fixed.values()}
        return {*self._fixed, *self._moving, *parents, *(each[-1][1] for each in self._moving.values())}

    def forget(self) -> None:
        """Forget the transforms of moving frames, for a clock that goes back."""
        self._moving.clear()


def _between(known: list[tuple[float, str, Pose]], moment: float) -> tuple[str, Pose, float]:
    """Parent and pose of a moving frame at a moment, and how far in time the nearest transform is, seconds.

    Outside of what is known the nearest pose counts, and the time is infinite if the frame moves there.
    """
    place = bisect.bisect(known, moment, key=lambda each: each[0])
    if not 0 < place < len(known):
        stamp_s, parent, pose = known[max(place - 1, 0)]
        apart, near = abs(moment - stamp_s), known[:2] if place == 0 else known[-2:]
        span_s, moved = near[-1][0] - near[0][0], float(np.abs(near[-1][2] - near[0][2]).max())
        return parent, pose, float("inf") if moved * apart > STILL_M * span_s else apart
    (before_s, parent, before), (after_s, other, after) = known[place - 1 : place + 1]
    if parent != other:
        earlier = moment - before_s < after_s - moment
        return (parent, before, moment - before_s) if earlier else (other, after, after_s - moment)
    share = (moment - before_s) / (after_s - before_s)
    pose = (1 - share) * before + share * after
    pose[:3, :3] = Slerp([0, 1], Rotation.from_matrix([before[:3, :3], after[:3, :3]]))(share).as_matrix()
    return parent, pose, min(moment - before_s, after_s - moment)

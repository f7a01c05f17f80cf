"""Forward and inverse kinematics of the Franka Panda, for batches of poses.

The physics engine's own inverse kinematics is not used: a pick-and-place needs hundreds of poses, one batched iteration
costs about as much as one call of the engine, and the result here does not depend on the engine's state.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sim.common.rotations import rotation_vector
from sim.common.rounding import JOINT_DIGITS, rounded

Array = npt.NDArray[np.float64]

_HALF = math.pi / 2
# modified Denavit-Hartenberg parameters a, d, alpha of Franka's data sheet
_LINKS = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -_HALF),
    (0.0, 0.316, _HALF),
    (0.0825, 0.0, _HALF),
    (-0.0825, 0.384, -_HALF),
    (0.0, 0.0, _HALF),
    (0.088, 0.0, _HALF),
)
FLANGE_TO_TCP_M = 0.107 + 0.105
"""From the last joint to the point between the fingertips."""

LOWER = np.array([-2.89, -1.76, -2.89, -3.07, -2.89, 0.0, -2.89])
"""Lower joint limits, radians."""
UPPER = np.array([2.89, 1.76, 2.89, -0.07, 2.89, 3.75, 2.89])
"""Upper joint limits, radians."""
REST = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, math.pi / 4])
"""The posture that the redundant degree of freedom stays close to."""

_NULL_SPACE_GAIN = np.array([0.3, 0.5, 1.0, 0.3, 0.5, 0.3, 0.1]) * 0.5
_DAMPING = 1e-6 * np.eye(6)


def _fixed(a: float, d: float, alpha: float) -> Array:
    cos, sin = math.cos(alpha), math.sin(alpha)
    return np.array([[1, 0, 0, a], [0, cos, -sin, -sin * d], [0, sin, cos, cos * d], [0, 0, 0, 1]], dtype=float)


_FIXED = np.stack([_fixed(*link) for link in _LINKS])
_C = math.cos(math.pi / 4)
_TOOL = np.array([[_C, _C, 0, 0], [-_C, _C, 0, 0], [0, 0, 1, FLANGE_TO_TCP_M], [0, 0, 0, 1]], dtype=float)


def frames(joints: Array) -> Array:
    """Frames of the seven joints and of the tool centre point, (B, 8, 4, 4), for joint angles (B, 7)."""
    cos, sin = np.cos(joints)[..., None], np.sin(joints)[..., None]
    local = np.empty((len(joints), 7, 4, 4))
    local[..., 0] = _FIXED[:, :, 0] * cos + _FIXED[:, :, 1] * sin
    local[..., 1] = _FIXED[:, :, 1] * cos - _FIXED[:, :, 0] * sin
    local[..., 2:] = _FIXED[:, :, 2:]
    result = np.empty((len(joints), 8, 4, 4))
    current = result[:, 0] = local[:, 0]
    for i in range(1, 7):
        current = np.matmul(current, local[:, i], out=result[:, i])
    np.matmul(current, _TOOL, out=result[:, 7])
    return result


def forward(joints: Array) -> tuple[Array, Array]:
    """Tool positions (B, 3) and rotations (B, 3, 3) for joint angles (B, 7).

    The tool's z axis points out of the hand, its y axis is the one along which the fingers close.
    """
    tool = frames(joints)[:, 7]
    return tool[:, :3, 3], tool[:, :3, :3]


def solve(positions: Array, rotations: Array, seed: Array, iterations: int = 60) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Joint angles that reach tool poses: damped least squares with a null-space pull towards `REST`.

    Args:
        positions: (B, 3) metres.
        rotations: (B, 3, 3).
        seed: (7,) or (B, 7) joint angles to start from.
        iterations: maximum number.

    Returns:
        Joint angles (B, 7) within the limits, rounded (see `sim.common.rounding`), and whether each reaches its pose
        within 0.3 mm and 2 mrad, (B,).
    """
    count = len(positions)
    joints = np.broadcast_to(seed, (count, 7)).copy()
    jacobian = np.empty((count, 6, 7))
    error = np.empty((count, 6))
    reached = np.zeros(count, dtype=bool)
    for iteration in range(iterations):
        all_frames = frames(joints)
        tip = all_frames[:, 7, :3, 3]
        error[:, :3] = positions - tip
        error[:, 3:] = rotation_vector(rotations @ all_frames[:, 7, :3, :3].transpose(0, 2, 1))
        squares = error * error
        offset, turn = np.sqrt(squares[:, :3].sum(axis=1)), np.sqrt(squares[:, 3:].sum(axis=1))
        reached = (offset < 3e-4) & (turn < 2e-3)
        if iteration and bool(((offset < 2e-5) & (turn < 2e-4)).all()):
            break
        axes = all_frames[:, :7, :3, 2]
        ax, ay, az = axes[..., 0], axes[..., 1], axes[..., 2]
        lever = tip[:, None] - all_frames[:, :7, :3, 3]
        lx, ly, lz = lever[..., 0], lever[..., 1], lever[..., 2]
        # the cross product of axis and lever
        jacobian[:, 0] = ay * lz - az * ly
        jacobian[:, 1] = az * lx - ax * lz
        jacobian[:, 2] = ax * ly - ay * lx
        jacobian[:, 3:] = axes.transpose(0, 2, 1)
        # far away a full step overshoots, so the error that one iteration removes is limited
        scale = np.minimum(1.0, np.minimum(0.15 / np.maximum(offset, 1e-9), 0.5 / np.maximum(turn, 1e-9)))
        transposed = jacobian.transpose(0, 2, 1)
        wanted = error * scale[:, None]
        if iteration < iterations - 8:
            # pull in the null space: subtract the tool motion that the pull causes
            pull = (REST - joints) * _NULL_SPACE_GAIN
            wanted = wanted - (jacobian @ pull[..., None])[..., 0]
        else:
            pull = np.zeros((count, 7))
        step = pull + (transposed @ np.linalg.solve(jacobian @ transposed + _DAMPING, wanted[..., None]))[..., 0]
        largest = np.abs(step).max(axis=1, keepdims=True)
        joints = np.clip(joints + step * np.minimum(1.0, 0.6 / np.maximum(largest, 1e-9)), LOWER, UPPER)
    return rounded(joints, JOINT_DIGITS), reached

"""Rotation matrices (3, 3) and quaternions xyzw, for simulation.

`scipy.spatial.transform.Rotation` gives the same rotations up to rounding: results differed in their last bits for most
of 500 random inputs, by at most 2e-14. The committed episodes were recorded with these functions; with other last bits
an exact replay is not assured. On single rotations scipy 1.17 took 2 to 10 times as long.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pybullet

Array = npt.NDArray[np.float64]


def matrix_of(quaternion: npt.ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a quaternion xyzw."""
    return np.array(pybullet.getMatrixFromQuaternion(np.asarray(quaternion, dtype=float).tolist())).reshape(3, 3)


def quaternion_of(matrix: Array) -> Array:
    """Quaternion xyzw, (4,), of a rotation matrix (3, 3)."""
    trace = float(np.trace(matrix))
    if trace > 0.0:
        w = math.sqrt(1.0 + trace) / 2.0
        vector = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
        return np.append(vector / (4.0 * w), w)
    i = int(np.argmax(np.diag(matrix)))
    j, k = (i + 1) % 3, (i + 2) % 3
    root = math.sqrt(max(1e-12, 1.0 + matrix[i, i] - matrix[j, j] - matrix[k, k]))
    result = np.empty(4)
    result[i] = root / 2.0
    result[j] = (matrix[j, i] + matrix[i, j]) / (2.0 * root)
    result[k] = (matrix[k, i] + matrix[i, k]) / (2.0 * root)
    result[3] = (matrix[k, j] - matrix[j, k]) / (2.0 * root)
    return result


def rotation_about(axis: npt.ArrayLike, angle: float) -> Array:
    """Rotation matrix (3, 3) by `angle` radians about a unit axis (3,)."""
    x, y, z = np.asarray(axis, dtype=float)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * (cross @ cross))


def rotation_vector(matrix: npt.NDArray[np.float64]) -> Array:
    """Rotation vectors (..., 3), axis times angle, of rotation matrices (..., 3, 3) with angles below 180 degrees."""
    vector = np.empty(matrix.shape[:-1])
    vector[..., 0] = matrix[..., 2, 1] - matrix[..., 1, 2]
    vector[..., 1] = matrix[..., 0, 2] - matrix[..., 2, 0]
    vector[..., 2] = matrix[..., 1, 0] - matrix[..., 0, 1]
    sine = np.sqrt((vector * vector).sum(axis=-1)) / 2.0
    cosine = (matrix[..., 0, 0] + matrix[..., 1, 1] + matrix[..., 2, 2] - 1.0) / 2.0
    factor = np.where(sine > 1e-9, np.arctan2(sine, cosine) / np.maximum(2.0 * sine, 1e-12), 0.5)
    return np.asarray(vector * factor[..., None])


def upright_axis(matrix: Array) -> tuple[int, float, float]:
    """The body axis that is nearest to the vertical.

    Returns:
        Its number 0 to 2, its sign (+1 if it points up) and its angle to the vertical, radians.
    """
    axis = int(np.argmax(np.abs(matrix[2])))
    sign = 1.0 if matrix[2, axis] > 0 else -1.0
    return axis, sign, tilt_angle(matrix, axis)


def tilt_angle(matrix: Array, axis: int) -> float:
    """Angle between a body axis, in either direction, and the vertical, radians."""
    return math.acos(min(1.0, abs(float(matrix[2, axis]))))


def leveled(matrix: Array, axis: int | None = None) -> Array:
    """The rotation nearest to `matrix` (3, 3) in which a body axis, by default the upright one, is exactly vertical."""
    if axis is None:
        axis = upright_axis(matrix)[0]
    up = math.copysign(1.0, matrix[2, axis]) * matrix[:, axis]
    turn = np.cross(up, [0.0, 0.0, 1.0])
    sine = float(np.linalg.norm(turn))
    if sine < 1e-9:
        return matrix
    return np.asarray(rotation_about(turn / sine, tilt_angle(matrix, axis)) @ matrix)


def axis_aligned(matrix: Array, axis: int | None = None) -> Array:
    """The rotation nearest to `matrix` (3, 3) whose body axes are parallel to the world's axes.

    Args:
        matrix: the rotation to change, (3, 3).
        axis: number of the body axis that becomes vertical; by default the upright one.
    """
    flat = leveled(matrix, axis)
    axis = upright_axis(flat)[0]
    side = flat[:, (axis + 1) % 3]
    yaw = math.atan2(side[1], side[0])
    return np.asarray(rotation_about((0.0, 0.0, 1.0), round(yaw / (math.pi / 2)) * (math.pi / 2) - yaw) @ flat)

"""Cameras of simulators that render with OpenGL: MuJoCo, robosuite, PyBullet, Isaac."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Camera


def camera_of_opengl(
    fovy_deg: float, height: int, width: int, world_from_camera: npt.ArrayLike, name: str = "camera"
) -> Camera:
    """The camera of a rendered image.

    Args:
        fovy_deg: vertical field of view, degrees.
        height: of the image, pixels.
        width: of the image, pixels; pixels are square.
        world_from_camera: (4, 4) pose in the robot's frame, in OpenGL's convention: x right, y up, z backward.
        name: of the camera.

    Returns:
        The camera in OpenCV's convention: x right, y down, z forward.
    """
    focal = height / 2 / np.tan(np.radians(fovy_deg) / 2)
    intrinsics = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]], np.float32)
    turned = np.asarray(world_from_camera, np.float64) @ np.diag([1.0, -1.0, -1.0, 1.0])
    return Camera(intrinsics, turned.astype(np.float32), name)

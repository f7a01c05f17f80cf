"""Observations with one thing changed, and the camera of drawn ones."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from nsrecover.core import Camera, Observation

SHAPE = (480, 640)
K = np.array([[525, 0, 320], [0, 525, 240], [0, 0, 1]], np.float32)


def one_view(seen: Observation, view: int = 0) -> Observation:
    rows = slice(view, view + 1)
    return replace(
        seen, rgb=seen.rgb[rows], depth_m=seen.depth_m[rows], instances=seen.instances[rows], cameras=seen.cameras[rows]
    )


def posed(
    seen: Observation, change: Callable[[np.ndarray], np.ndarray], views: tuple[int, ...] = (0, 1)
) -> Observation:
    """With other camera poses."""
    cameras = [
        replace(camera, world_from_camera=change(camera.world_from_camera).astype(np.float32)) if v in views else camera
        for v, camera in enumerate(seen.cameras)
    ]
    return replace(seen, cameras=tuple(cameras))


def shifted(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    moved = np.eye(4)
    moved[:3, 3] = x, y, z
    return moved


def front_camera(name: str = "front", side: float = 0.0) -> Camera:
    """A camera 0.8 m behind the robot's workspace that looks down at 45 degrees, turned about the vertical."""
    down = Rotation.from_euler("x", -135, degrees=True)
    turn = (Rotation.from_euler("z", -90 + side, degrees=True) * down).as_matrix()
    pose = shifted(*(np.array([0.5, 0.0, 0.0]) - 0.9 * turn[:, 2]))
    pose[:3, :3] = turn
    return Camera(K, pose.astype(np.float32), name)

"""Camera poses put right by the table, on a depth image that is computed from a tilted camera."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsrecover.core.observation import Camera, Observation
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import to_world

SHAPE, HEIGHT, FOCAL = (120, 160), 0.7, 110.0


def pose(turn_deg: tuple[float, float, float] = (0.0, 0.0, 0.0), raised_m: float = 0.0) -> np.ndarray:
    """A camera that looks down at 45 degrees, and is turned about its own place."""
    matrix = np.eye(4)
    down = Rotation.from_euler("x", 135, degrees=True)
    matrix[:3, :3] = (Rotation.from_euler("xyz", turn_deg, degrees=True) * down).as_matrix()
    matrix[:3, 3] = 0.5, -0.4, HEIGHT + raised_m
    return matrix


def seen(true: np.ndarray, believed: np.ndarray, scale: float = 1.0) -> Observation:
    """A bare table at z = 0 from a true pose, with the pose that it is believed to be."""
    k = np.array([[FOCAL, 0, 80], [0, FOCAL, 60], [0, 0, 1]], dtype=np.float32)
    rows, columns = np.indices(SHAPE)
    rays = np.stack([(columns + 0.5 - 80) / FOCAL, (rows + 0.5 - 60) / FOCAL, np.ones(SHAPE)], axis=-1)
    down = rays @ true[:3, :3].T[:, 2]
    depth = np.where(down < -1e-6, -true[2, 3] / np.minimum(down, -1e-6), 0.0) * scale
    return Observation(
        np.zeros((1, *SHAPE, 3), np.uint8),
        depth[None].astype(np.float32),
        np.zeros((1, *SHAPE), np.int32),
        (Camera(k, believed.astype(np.float32)),),
        {1: "cube"},
    )


def off_mm(observation: Observation, true: Observation) -> float:
    """Largest error of points near the middle of the image."""
    rows, columns = (part.ravel() for part in np.mgrid[40:80:8, 50:110:10])
    away = to_world(observation, 0, rows, columns) - to_world(true, 0, rows, columns)
    return 1000 * float(np.linalg.norm(away, axis=1).max())


@pytest.mark.parametrize("turn", [(1.0, 0.0, 0.0), (-0.8, 0.6, 0.0)])
def test_a_tilted_camera_is_turned_back(turn: tuple[float, float, float]) -> None:
    exact, wrong = seen(pose(), pose()), seen(pose(), pose(turn))
    assert off_mm(wrong, exact) > 10
    assert off_mm(levelled(wrong), exact) < 0.5


def test_a_camera_that_is_a_little_higher_is_lowered() -> None:
    exact, wrong = seen(pose(), pose()), seen(pose(), pose(raised_m=0.006))
    assert off_mm(levelled(wrong), exact) < 0.1


def test_a_table_that_is_much_too_low_is_a_wrong_scale() -> None:
    exact, wrong = seen(pose(), pose()), seen(pose(), pose(), scale=1.02)
    assert off_mm(wrong, exact) > 15
    assert off_mm(levelled(wrong), exact) < 0.5

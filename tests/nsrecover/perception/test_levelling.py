"""Camera poses put right by the table, on a depth image that is computed from a tilted camera."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsrecover.core.observation import Camera, Observation
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import to_world
from tests.nsrecover.perception.test_table_masks import seen as rendered
from tests.observations import K


def pose(turn_deg: tuple[float, float, float] = (0.0, 0.0, 0.0), raised_m: float = 0.0) -> np.ndarray:
    """A camera that looks down at 45 degrees, and is turned about its own place."""
    matrix = np.eye(4)
    down = Rotation.from_euler("x", 135, degrees=True)
    matrix[:3, :3] = (Rotation.from_euler("xyz", turn_deg, degrees=True) * down).as_matrix()
    matrix[:3, 3] = 0.5, -0.4, 0.7 + raised_m
    return matrix


def seen(true: np.ndarray, believed: np.ndarray, scale: float = 1.0) -> Observation:
    """A bare table at z = 0 from a true pose, with the pose that it is believed to be."""
    rgb, depth, masks = rendered({}, Camera(K, true.astype(np.float32)), half_m=5.0)
    cameras = (Camera(K, believed.astype(np.float32)),)
    return Observation(rgb[None], depth[None] * np.float32(scale), masks[None], cameras, {1: "cube"})


def off_mm(observation: Observation, true: Observation) -> float:
    """Largest error of points near the middle of the image."""
    rows, columns = (part.ravel() for part in np.mgrid[160:320:32, 200:440:40])
    away = to_world(observation, 0, rows, columns) - to_world(true, 0, rows, columns)
    return 1000 * float(np.linalg.norm(away, axis=1).max())


@pytest.mark.parametrize(
    ("believed", "scale", "before_mm"),
    [
        (pose((1.0, 0.0, 0.0)), 1.0, 10),
        (pose((-0.8, 0.6, 0.0)), 1.0, 10),
        (pose(raised_m=0.006), 1.0, 5),
        (pose(), 1.02, 15),  # a table that is much too low is a wrong scale
    ],
)
def test_a_camera_that_is_tilted_too_high_or_of_another_scale_is_put_right(
    believed: np.ndarray, scale: float, before_mm: float
) -> None:
    exact, wrong = seen(pose(), pose()), seen(pose(), believed, scale)
    assert off_mm(wrong, exact) > before_mm
    assert off_mm(levelled(wrong), exact) < 0.5

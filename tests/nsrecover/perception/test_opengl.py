"""Cameras of OpenGL show a point where a renderer draws it."""

import numpy as np
import pytest

from nsrecover.perception.cameras.opengl import camera_of_opengl
from tests.observations import shifted


@pytest.mark.parametrize(
    ("point", "pixel"),
    [((0.5, 0.0, 0.0), (160, 120)), ((0.7, 0.0, 0.0), (220, 120)), ((0.5, 0.1, 0.0), (160, 90))],
)
def test_x_is_right_and_y_is_up_in_the_image(point: tuple[float, ...], pixel: tuple[float, float]) -> None:
    pose = shifted(0.5, 0.0, 0.4)  # looks down at the table, 0.4 m below, with x to the right
    camera = camera_of_opengl(90.0, 240, 320, pose, "above")
    x, y, z = np.linalg.inv(camera.world_from_camera)[:3] @ [*point, 1.0]
    k = camera.intrinsics
    assert z == pytest.approx(0.4)
    assert (k[0, 0] * x / z + k[0, 2], k[1, 1] * y / z + k[1, 2]) == pytest.approx(pixel)

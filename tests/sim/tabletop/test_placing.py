"""Where an action puts its object, and which face it sets it down on."""

import math

import numpy as np
import pytest

from nsrecover.core.actions import Action
from sim.common.rotations import leveled, matrix_of, quaternion_of, rotation_about, upright_axis
from sim.tabletop.placing import MAX_TILT_RAD, extents, needs_toppling, place_for, toppling_tilt
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.scenes import TABLE

SIZE = (0.060, 0.040, 0.036)
LYING, ON_END = (0.5, 0.1, 0.018, *SIZE), (0.5, 0.1, 0.030, 0.036, 0.040, 0.060)


def leaning(degrees: float) -> PoseEstimates:
    """A brick that is tilted out of lying towards standing on its end."""
    turn = quaternion_of(rotation_about((0.0, 1.0, 0.0), math.radians(degrees)))
    place = np.array([[0.4, 0.0, 0.03]])
    return PoseEstimates(("brick",), place, turn[None], np.array([SIZE]), TABLE)


@pytest.mark.parametrize("target", [LYING, ON_END])
@pytest.mark.parametrize("degrees", [35, 44, 46, 55])
def test_what_leans_is_set_down_as_it_is_wanted(degrees: float, target: tuple[float, ...]) -> None:
    centre, rotation = place_for(Action("restore", ("brick",), target), leaning(degrees))
    np.testing.assert_allclose(centre, target[:3], atol=1e-6)
    np.testing.assert_allclose(extents(rotation, np.array(SIZE)), target[3:], atol=1e-6)


@pytest.mark.parametrize("degrees", [0, 90 - math.degrees(MAX_TILT_RAD) - 1])
def test_what_lies_is_not_stood_up(degrees: float) -> None:
    centre, rotation = place_for(Action("restore", ("brick",), ON_END), leaning(degrees))
    assert extents(rotation, np.array(SIZE))[2] == pytest.approx(0.036)
    assert centre[2] == pytest.approx(0.018)


def test_what_stands_on_its_end_is_to_be_laid_down_if_it_is_wanted_lower() -> None:
    standing = leaning(90)
    matrix = matrix_of(standing.orientations[0])
    _, as_it_is = place_for(Action("restore", ("brick",), ON_END), standing)
    assert not needs_toppling(matrix, as_it_is)
    centre, lying = place_for(Action("restore", ("brick",), LYING), standing)
    assert needs_toppling(matrix, lying)
    np.testing.assert_allclose(centre, LYING[:3], atol=1e-6)
    np.testing.assert_allclose(extents(lying, np.array(SIZE)), SIZE, atol=1e-6)


@pytest.mark.parametrize("size", [(0.06, 0.036, 0.04), (0.068, 0.03, 0.03), (0.05, 0.04, 0.036)])
def test_what_is_tipped_falls_onto_the_wanted_face(size: tuple[float, float, float]) -> None:
    standing = matrix_of(leaning(90).orientations[0])
    for axis in (1, 2):
        wanted = leveled(rotation_about((0.7, 0.3, 0.0) / np.hypot(0.7, 0.3), 1.2) @ standing, axis)
        tilted, about_axis = toppling_tilt(standing, np.array(size), wanted)
        # its centre is beyond its lowest edge, on the side of the wanted face
        down = -math.copysign(1.0, tilted[2, axis]) * tilted[:, axis]
        edge = -tilted[:, 0] * math.copysign(size[0], tilted[2, 0]) / 2 + down * size[axis] / 2
        across = np.cross(about_axis, (0.0, 0.0, 1.0))
        assert edge[2] == pytest.approx(-extents(tilted, np.array(size))[2] / 2)
        assert (edge @ across) * (down @ across) < 0.0
        assert upright_axis(rotation_about(about_axis, -math.pi / 2) @ standing)[0] == axis

"""Where an action puts its object, and which face it sets it down on."""

import math

import numpy as np
import pytest

from nsrecover.structs import Action
from sim.placing import MAX_TILT_RAD, extents, place_for
from sim.poses import PoseEstimates
from sim.rotations import about, quaternion_of
from sim.scenes import TABLE

SIZE = (0.060, 0.040, 0.036)
LYING, ON_END = (0.5, 0.1, 0.018, *SIZE), (0.5, 0.1, 0.030, 0.036, 0.040, 0.060)


def leaning(degrees: float) -> PoseEstimates:
    """A brick that is tilted out of lying towards standing on its end."""
    turn = quaternion_of(about((0.0, 1.0, 0.0), math.radians(degrees)))
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


def test_without_a_target_it_is_laid_on_the_nearest_face() -> None:
    for degrees, height in ((44, 0.036), (46, 0.060)):
        _, rotation = place_for(Action("free", ("brick",)), leaning(degrees))
        assert extents(rotation, np.array(SIZE))[2] == pytest.approx(height)

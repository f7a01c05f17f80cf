"""A brick on another side, or one that leans, is not as the plan has it, even where it should stand."""

import numpy as np
import pytest

from nsrecover.core.geometry import turned_over
from nsrecover.models.geometric import GeometricModels
from nsrecover.models.same_place import same_place

BRICK = (0.06, 0.04, 0.025)
NOWHERE = np.zeros((1, 0), np.float32)


@pytest.mark.parametrize(
    ("sides", "turned"),
    [
        ((0.06, 0.04, 0.025), False),
        ((0.04, 0.06, 0.025), False),  # turned, with the same side down
        ((0.06, 0.025, 0.04), True),
        ((0.025, 0.04, 0.06), True),
        ((0.028, 0.043, 0.057), True),  # as well as a camera sees it
        ((0.06, 0.04, 0.015), False),  # partly hidden
        ((0.075, 0.05, 0.06), True),  # askew
        ((0.0649, 0.044, 0.04), True),  # on another side, and turned by 20 degrees
        ((0.0601, 0.0601, 0.04), True),  # by 45
        ((0.0701, 0.0581, 0.025), False),  # turned by 20 degrees, with the same side down
    ],
)
def test_a_box_is_turned_over_if_its_sides_are_the_same_and_another_one_is_upright(
    sides: tuple[float, float, float], turned: bool
) -> None:
    there, here = np.array([[0.5, 0, 0.02, *BRICK]], np.float32), np.array([[0.5, 0, 0.02, *sides]], np.float32)
    assert turned_over(there, here).tolist() == [turned]
    probability = same_place(GeometricModels(), NOWHERE, there, NOWHERE, here)
    assert (probability < 0.2).tolist() == [turned]


def _leaning(degrees: float, width: float, depth: float, height: float, hidden: float = 0.0) -> np.ndarray:
    """The box of an object that leans on an edge that is parallel to y, with part of its underside hidden."""
    sin, cos = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    seen = height * cos + width * sin
    sides = height * sin + width * cos, depth, seen - hidden
    return np.array([[0.5, 0.0, (seen + hidden) / 2, *sides]], np.float32)


@pytest.mark.parametrize("degrees", [20, 25, 40, 50, 63, 75, 80])
@pytest.mark.parametrize("sides", [(0.04, 0.04, 0.07), (0.062, 0.037, 0.037), (0.05, 0.05, 0.05)])
def test_a_leaning_object_is_not_as_expected(degrees: float, sides: tuple[float, float, float]) -> None:
    upright, seen = _leaning(0, *sides), _leaning(degrees, *sides)
    if sides[0] == sides[2]:  # it is as large again as one that stands
        degrees = 45 + (degrees - 45) / 2
        seen = _leaning(degrees, *sides)
    assert same_place(GeometricModels(), NOWHERE, upright, NOWHERE, seen) < 0.5


@pytest.mark.parametrize("hidden", [0.005, 0.01, 0.02])
@pytest.mark.parametrize("raised", [-0.005, 0.0, 0.005])
def test_a_hidden_underside_and_an_error_of_depth_do_not_make_an_object_lean(hidden: float, raised: float) -> None:
    upright, seen = _leaning(0, 0.04, 0.04, 0.07), _leaning(0, 0.04, 0.04, 0.07, hidden)
    seen[:, 2] += raised
    assert same_place(GeometricModels(), NOWHERE, upright, NOWHERE, seen) > 0.5


def test_a_bit_of_occlusion_is_not_taken_for_a_turn() -> None:
    """A cube of 44 mm whose top is hidden by 8: two of its sides are nearly as long as its height was."""
    assert not turned_over((0.5, 0, 0.02, 0.043, 0.045, 0.036), (0.5, 0, 0.02, 0.043, 0.045, 0.0445))


@pytest.mark.parametrize(
    ("shift", "sides", "same"),
    [
        ((0.022, 0.0), BRICK, False),
        ((0.017, 0.0), BRICK, True),
        ((0.018, 0.013), (0.067, 0.051, 0.025), False),  # pushed and turned
        ((0.022, 0.0), (0.016, 0.04, 0.025), True),  # most of it is hidden
    ],
)
def test_what_is_seen_whole_is_in_its_place_within_the_tolerance(
    shift: tuple[float, float], sides: tuple[float, float, float], same: bool
) -> None:
    class Lenient(GeometricModels):
        def same(self, *nodes: object) -> np.ndarray:
            return np.ones(1, np.float32)

    there = np.array([[0.5, 0, 0.0125, *BRICK]], np.float32)
    here = np.array([[0.5 + shift[0], shift[1], 0.0125, *sides]], np.float32)
    probability = same_place(Lenient(), NOWHERE, there, NOWHERE, here)
    assert (probability >= 0.5).tolist() == [same]

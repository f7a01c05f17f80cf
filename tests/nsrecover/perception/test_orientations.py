"""Boxes with orientations: turned, leaning and lying objects, and round ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nsrecover
from nsrecover import Plan
from nsrecover.errors import InvalidObservation

BRICK, CAN = (0.1, 0.04, 0.05), (0.06, 0.06, 0.1)
START = {
    "red": (0.45, 0.15, 0.025, *BRICK, 0.0),
    "blue": (0.45, -0.15, 0.025, *BRICK, 0.3),
    "can": (0.6, 0.0, 0.05, *CAN, 0.0),
}
PLAN = Plan.parse("top(red, blue)")
ON_BLUE = (0.45, -0.15, 0.075)


def quaternion(yaw: float = 0.0, pitch: float = 0.0, roll: float = 0.0) -> tuple[float, ...]:
    return tuple(Rotation.from_euler("zyx", (yaw, pitch, roll), degrees=True).as_quat())


def causes(boxes: dict, placed: bool = False) -> dict[str, str]:
    monitor = nsrecover.geometric().monitor(PLAN, START)
    found = monitor.step(PLAN[0], boxes) if placed else monitor.check(boxes)
    return {each.name: each.cause.value for each in found.deviations}


@pytest.mark.parametrize("turn_deg", range(20, 161, 35))
def test_a_turned_brick_is_noticed_and_a_turned_can_is_not(turn_deg: int) -> None:
    turned = np.radians(turn_deg)
    assert causes({**START, "red": (*START["red"][:6], turned), "can": (*START["can"][:6], turned)}) == {
        "red": "turned"
    }


@pytest.mark.parametrize("orientation", [quaternion(5), quaternion(180), quaternion(roll=180), quaternion(pitch=4)])
def test_what_looks_the_same_is_as_expected(orientation: tuple[float, ...]) -> None:
    assert causes({**START, "red": (*START["red"][:6], *orientation)}) == {}


@pytest.mark.parametrize("pitch_deg", [10, 15, 25, 40])
def test_a_leaning_brick_is_noticed_before_and_after_an_action(pitch_deg: int) -> None:
    assert causes({**START, "blue": (*START["blue"][:6], *quaternion(17, pitch_deg))}) == {"blue": "leaning"}
    assert causes({**START, "red": (*ON_BLUE, *BRICK, *quaternion(0, pitch_deg))}, placed=True) == {"red": "leaning"}


def test_a_brick_on_another_side_lies() -> None:
    assert causes({**START, "red": (0.45, 0.15, 0.02, *BRICK, *quaternion(roll=90))}) == {"red": "lying"}


def test_an_action_may_turn_what_it_places_and_nothing_else() -> None:
    placed = {**START, "red": (*ON_BLUE, *BRICK, 0.8)}
    assert causes(placed, placed=True) == {}
    assert causes({**placed, "blue": (*START["blue"][:6], 0.9)}, placed=True) == {"blue": "turned"}


def test_the_same_box_has_the_same_scene_in_all_forms() -> None:
    plain = nsrecover.scene_of_boxes({"red": (0.4, 0.0, 0.05, 0.04, 0.1, 0.1)})
    for orientation in ((np.pi / 2,), quaternion(90)):
        turned = nsrecover.scene_of_boxes({"red": (0.4, 0.0, 0.05, 0.1, 0.04, 0.1, *orientation)})
        np.testing.assert_allclose(turned.boxes, plain.boxes, atol=1e-5)


@pytest.mark.parametrize("more", [(0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (float("nan"),)])
def test_other_numbers_are_refused(more: tuple[float, ...]) -> None:
    with pytest.raises(InvalidObservation, match="quaternion"):
        nsrecover.scene_of_boxes({"red": (*START["red"][:6], *more)})


def test_a_turn_is_reported_once_and_the_plan_goes_on() -> None:
    seen = {**START, "blue": (*START["blue"][:6], 1.3)}
    monitor = nsrecover.geometric().monitor(PLAN, START)
    assert [each.name for each in monitor.check(seen).deviations] == ["blue"]
    assert not monitor.check(seen).deviates

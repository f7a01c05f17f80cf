"""Objects as cameras see them: a brick that fell over on the spot is toppled, whichever way it points."""

import numpy as np
import pytest

import nsrecover
from nsrecover.core import Cause, Plan, Verdict

PLACE = (0.5, 0.1)


def lying(yaw_deg: float, error_m: float = 0.0) -> tuple[float, ...]:
    """The box around a brick of 70 x 40 x 40 mm that lies on its side, with too long sides."""
    c, s = abs(np.cos(np.radians(yaw_deg))), abs(np.sin(np.radians(yaw_deg)))
    return (*PLACE, 0.02, 0.07 * c + 0.04 * s + error_m, 0.07 * s + 0.04 * c + error_m, 0.04)


def standing(yaw_deg: float) -> tuple[float, ...]:
    side = 0.04 * (abs(np.cos(np.radians(yaw_deg))) + abs(np.sin(np.radians(yaw_deg))))
    return (*PLACE, 0.035, side, side, 0.07)


def judged(brick: tuple[float, ...]) -> tuple[Verdict, list[tuple[str, Cause]]]:
    start = {"brick": standing(0), "r": (0.5, -0.15, 0.02, 0.04, 0.04, 0.04), "g": (0.4, 0.0, 0.02, 0.04, 0.04, 0.04)}
    session = nsrecover.geometric().session(Plan.parse("top(g, r)"))
    after = {**start, "g": (0.5, -0.15, 0.06, 0.04, 0.04, 0.04), "brick": brick}
    session.observed(start)
    for _ in range(3):
        if session.records:
            break
        session.observed(after)
    found = session.records[-1].discrepancy
    return found.verdict, [(each.name, each.cause) for each in found.deviations]


LYING = [*map(lying, (0, 5, 10, 20, 30, 45, 60, 80, 90)), lying(20, -0.002), lying(20, 0.002)]
"""Bricks at any angle, by a camera that may be off by two millimetres."""


@pytest.mark.parametrize("brick", [*LYING, (0.5, 0.1, 0.02, 0.0795, 0.0615, 0.04)])
def test_a_brick_that_lies_is_toppled(brick: tuple[float, ...]) -> None:
    assert judged(brick) == (Verdict.DEVIATING, [("brick", Cause.TOPPLED)])


@pytest.mark.parametrize("yaw_deg", [0, 10, 30, 45])
def test_a_brick_that_turned_on_the_spot_is_not(yaw_deg: float) -> None:
    assert judged(standing(yaw_deg)) == (Verdict.AS_EXPECTED, [])

"""Monitoring by geometry alone: probabilities of distances, calibration on successes, boxes made into one course."""

import numpy as np
import pytest

import nsrecover
from nsrecover import BoxesPerceiver, Plan, SceneGraph
from nsrecover.errors import InvalidObservation

SIDE = 0.04
PLAN = Plan.parse("top(red, blue)")


def cube(x: float, y: float, z: float = SIDE / 2) -> tuple[float, ...]:
    return (x, y, z, SIDE, SIDE, SIDE)


BEFORE = {"red": cube(0.4, 0.0), "blue": cube(0.6, 0.1), "grey": cube(0.5, -0.2)}
AFTER = {**BEFORE, "red": cube(0.6, 0.1, 1.5 * SIDE)}


@pytest.mark.parametrize(("off_m", "noticed"), [(0.015, False), (0.019, False), (0.021, True), (0.2, True)])
def test_what_is_off_by_more_than_the_tolerance_is_noticed(off_m: float, noticed: bool) -> None:
    for axis in range(2):
        offset = np.zeros(6)
        offset[axis] = off_m
        found = nsrecover.geometric().monitor(PLAN, BEFORE).step(
            PLAN[0], {**AFTER, "grey": tuple(np.array(BEFORE["grey"]) + offset)}
        )  # fmt: skip
        assert found.deviating == (("grey",) if noticed else ())


def good_episode(rng: np.random.Generator, noise_m: float) -> tuple[Plan, list[dict[str, np.ndarray]]]:
    noise = np.array([noise_m] * 3 + [0.0] * 3)
    return PLAN, [{n: np.array(b) + rng.normal(size=6) * noise for n, b in scene.items()} for scene in (BEFORE, AFTER)]


def test_the_calibrated_threshold_keeps_its_promise_and_fits_the_noise() -> None:
    rng, alpha = np.random.default_rng(0), 0.05
    systems = {}
    for noise_m in (0.001, 0.006):
        system = nsrecover.geometric().calibrated([good_episode(rng, noise_m) for _ in range(400)], alpha)
        alarms = 0
        for _ in range(600):
            plan, (before, after) = good_episode(rng, noise_m)
            alarms += system.monitor(plan, before).step(plan[0], after).deviates
        # 5 % of 600 are 30; four standard deviations above that are 51
        assert 8 <= alarms <= 51
        systems[noise_m] = system
    assert systems[0.001].model.models.threshold > 0.9 > systems[0.006].model.models.threshold
    shifted = {**AFTER, "grey": cube(0.5, -0.19)}
    assert systems[0.001].monitor(PLAN, BEFORE).step(PLAN[0], shifted).deviates
    assert not nsrecover.geometric().monitor(PLAN, BEFORE).step(PLAN[0], shifted).deviates, "the original is left alone"


def test_order_does_not_matter_and_what_appears_comes_last() -> None:
    perceive = BoxesPerceiver()
    perceive(BEFORE)
    later = perceive(dict(reversed({**AFTER, "new": cube(0.7, 0.0)}.items())))
    assert later.names == ("red", "blue", "grey", "new")
    np.testing.assert_allclose(later.boxes[0], AFTER["red"])
    assert later.seen.all()


def test_features_of_another_length_than_before_are_refused() -> None:
    perceive = BoxesPerceiver()
    perceive(BEFORE)
    boxes = np.array(list(BEFORE.values()), np.float32)
    with pytest.raises(InvalidObservation, match="length 0, as at first, found 4"):
        perceive(SceneGraph(tuple(BEFORE), np.zeros((3, 4), np.float32), boxes, np.ones(3, np.bool_)))

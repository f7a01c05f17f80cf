"""Oriented boxes turn with the objects, and their covariance is as large as their errors."""

import numpy as np
import pytest

from nsrecover.models.bundle import Bundle
from nsrecover.perception.perceiver import ScenePerceiver
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

YAWS = (0.0, 0.35, 0.7, -0.5)
PLACES = ((0.40, -0.1), (0.49, 0.1), (0.58, -0.1), (0.67, 0.1))
COLOURS = ("red", "green", "blue", "yellow")
BRICKS = SceneSpec(
    tuple(
        ObjectSpec(f"{colour} lego", ObjectKind.LEGO, colour, (0.07, 0.035, 0.035), place, yaw)
        for colour, place, yaw in zip(COLOURS, PLACES, YAWS, strict=True)
    )
)


@pytest.mark.parametrize("name", ["clean", "d435"])
def test_yaw_and_centre(name: str) -> None:
    with TabletopWorld(BRICKS) as world:
        exact, truth = world.observe(), world.truth()
    errors, turns, sizes = [], [], []
    for seed in range(4):
        perceiver = ScenePerceiver(Bundle.load())
        perceiver.reset(sensor(name).stream(2, seed).observe(recorded(exact)))
        for number, each in enumerate(BRICKS.objects):
            if (box := perceiver.oriented.get(each.name)) is None:
                continue  # its masks are missing
            offset = box.centre - truth.position(each.name)
            errors.append(offset @ np.linalg.solve(box.covariance, offset) / 3)
            turns.append(abs(box.yaw - YAWS[number]))
            sizes.append(np.abs(np.sort(box.size) - (0.035, 0.035, 0.07)).max())
    assert len(errors) >= 14
    assert np.degrees(np.median(turns)) < 4
    assert np.median(sizes) < 0.008
    assert np.mean(errors) < 2  # 1 if the covariance is exact


def test_nothing_is_oriented_before_the_first_observation() -> None:
    assert ScenePerceiver(Bundle.load()).oriented == {}

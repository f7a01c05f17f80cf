"""A world behind a sensor: deterministic, exact if the sensor is, and rendered from where its cameras truly are."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Observation, World
from nsrecover.perception.objects.detections import lift_boxes
from sim.sensors.presets import presets, sensor
from sim.sensors.sensor import Sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.world import TabletopWorld
from tests.sim.tabletop.blocks import ROW, SCENE, STACK


@pytest.fixture
def world() -> Iterator[TabletopWorld]:
    with TabletopWorld(SCENE, fidelity=Fidelity.KINEMATIC) as world:
        yield world


def same(first: Observation, second: Observation) -> bool:
    """Whether two observations agree to the last bit."""
    cameras = zip(first.cameras, second.cameras, strict=True)
    return (
        np.array_equal(first.rgb, second.rgb)
        and np.array_equal(first.depth_m, second.depth_m)
        and np.array_equal(first.instances, second.instances)
        and all(np.array_equal(a.world_from_camera, b.world_from_camera) for a, b in cameras)
        and first.labels == second.labels
        and (first.shared_ids, first.time_s) == (second.shared_ids, second.time_s)
    )


def run(seed: int, preset: Sensor) -> list[Observation]:
    """The observations of two actions."""
    with TabletopWorld(SCENE, fidelity=Fidelity.KINEMATIC) as world:
        sensed = SensedWorld(world, preset.stream(2, seed))
        seen = [sensed.observe()]
        for action in (STACK, ROW):
            sensed.execute(action)
            seen.append(sensed.observe())
    return seen


@pytest.mark.parametrize("name", presets())
def test_the_same_seed_gives_the_same_images(name: str) -> None:
    first, again, other = (run(seed, sensor(name)) for seed in (1, 1, 2))
    assert all(map(same, first, again))
    assert all(map(same, first, other)) == (name == "clean")


def test_a_sensor_without_errors_shows_the_bytes_of_the_world(world: TabletopWorld) -> None:
    sensed = SensedWorld(world, sensor("clean").stream(2, seed=5))
    assert isinstance(sensed, World)
    seen = sensed.observe()
    assert same(seen, replace(world.observe(), time_s=seen.time_s))
    sensed.execute(STACK)
    seen = sensed.observe()
    assert same(seen, replace(world.observe(), time_s=seen.time_s))
    assert sensed.stream.count == 2


def test_cameras_are_believed_where_they_are_not(world: TabletopWorld) -> None:
    exact = world.observe()
    moved = sensor("clean", calibration={"position_m": 0.02, "rotation_deg": 1.0})
    sensed = SensedWorld(world, moved.stream(2, seed=5))
    seen = sensed.observe()
    offsets = sensed.stream.offsets()
    numbers = sorted(exact.labels)
    truth = np.array([world.truth().position(exact.labels[number]) for number in numbers])
    for view in range(2):
        believed = seen.cameras[view].world_from_camera
        assert np.array_equal(believed, exact.cameras[view].world_from_camera)
        where = {
            "believed": seen.cameras[view],
            "true": replace(seen.cameras[view], world_from_camera=(believed @ offsets[view]).astype(np.float32)),
        }
        errors = {}
        for name, camera in where.items():
            rows = {key: getattr(seen, key)[view : view + 1] for key in ("rgb", "depth_m", "instances")}
            boxes, shown = lift_boxes(replace(seen, **rows, cameras=(camera,)), numbers)
            assert shown.all()
            errors[name] = np.linalg.norm(boxes[:, :2] - truth[:, :2], axis=1).max()
        assert errors["true"] < 0.012
        assert errors["believed"] > errors["true"] + 0.005

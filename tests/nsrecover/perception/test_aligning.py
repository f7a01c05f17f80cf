"""Views whose cameras are off by millimetres lie on each other after the tops of the objects are compared."""

from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover.core.observation import Observation
from nsrecover.perception.cameras.aligning import aligned, offsets
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.lifting import lift_views
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld


@pytest.fixture(scope="module")
def exact() -> Observation:
    with TabletopWorld(sample_scene(np.random.default_rng(5), 6, seed=5), fidelity=Fidelity.KINEMATIC) as world:
        return world.observe()


def seen(exact: Observation, seed: int, name: str = "clean", **changes: object) -> Observation:
    errors = changes.get("calibration", {"position_m": 0.005, "rotation_deg": 0.5})
    return sensor(name, calibration=errors, masks={"ids_per_view": False}).stream(2, seed).observe(recorded(exact))


def between_views_mm(exact: Observation, believed: Observation) -> float:
    """How far the views are from each other about places on the table: the mean of three."""
    places = np.array([[0.45, -0.15, 0.03, 1.0], [0.45, 0.15, 0.03, 1.0], [0.65, 0.0, 0.03, 1.0]])
    views = [
        places @ (camera.world_from_camera @ np.linalg.inv(true.world_from_camera)).T
        for camera, true in zip(believed.cameras, exact.cameras, strict=True)
    ]
    return 1000 * float(np.linalg.norm((views[0] - views[1])[:, :2], axis=1).mean())


def corrected(observation: Observation) -> Observation:
    found = levelled(observation)
    return aligned(found, offsets(found, lift_views(found), [[number] for number in observation.labels]))


@pytest.mark.parametrize("name", ["clean", "d435", "harsh"])
def test_views_lie_on_each_other(exact: Observation, name: str) -> None:
    before, after = zip(
        *(
            (between_views_mm(exact, levelled(found)), between_views_mm(exact, corrected(found)))
            for found in (seen(exact, seed, name) for seed in range(6))
        ),
        strict=True,
    )
    assert np.mean(before) > 4
    assert np.mean(after) < 0.5 * np.mean(before)


def test_exact_cameras_stay(exact: Observation) -> None:
    still = replace(exact, cameras=corrected(seen(exact, 0, calibration={})).cameras)
    assert between_views_mm(exact, still) < 1.5


def test_sides_are_measured_alike_whatever_the_calibration(exact: Observation) -> None:
    system = nsrecover.load()
    sides = []
    for seed in range(6):
        graph = system.perceiver().reset(seen(exact, seed))
        sides.append(graph.boxes[[graph.index(name) for name in exact.labels.values()], 3:5])
    assert 1000 * np.ptp(sides, axis=0).mean() < 2.5

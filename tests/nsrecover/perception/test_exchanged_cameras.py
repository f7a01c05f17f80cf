"""Among many cameras, the ones whose images were exchanged are found, in time that does not grow with the orders."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Camera, Observation, SensorProblem
from nsrecover.perception.cameras.checks import check_observation
from nsrecover.perception.cameras.exchange import likely_orders
from nsrecover.perception.cameras.watch import CameraWatch
from sim.common.cameras import CameraRig, View
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld
from tests.nsrecover.perception.test_table_masks import RED
from tests.nsrecover.perception.test_table_masks import seen as rendered
from tests.observations import K

MANY = 16


@pytest.fixture(scope="module")
def seen() -> Observation:
    """Sixteen cameras around a table."""
    rng = np.random.default_rng(0)
    angles = 0.4 + 2 * np.pi * np.arange(MANY) / MANY
    eyes = [(0.525 + 0.9 * np.cos(a), 0.9 * np.sin(a), rng.uniform(0.7, 1.0)) for a in angles]
    views = tuple(View(f"c{number}", eye, (0.525, 0.0, 0.06)) for number, eye in enumerate(eyes))
    with TabletopWorld(sample_scene(rng, 5, seed=0), rig=CameraRig(views, 160, 120)) as world:
        return world.observe()


def of_cameras(seen: Observation, order: np.ndarray) -> Observation:
    return replace(seen, cameras=tuple(seen.cameras[number] for number in order))


def test_many_cameras_in_their_order_are_plausible(seen: Observation) -> None:
    assert check_observation(seen) == ()


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("exchanged", [2, 5, MANY])
def test_the_order_of_many_cameras_is_found(seen: Observation, exchanged: int, shared: bool) -> None:
    order = np.arange(MANY)
    order[:exchanged] = np.roll(order[:exchanged], 1)
    mistaken = replace(of_cameras(seen, order), shared_ids=shared)
    assert next(likely_orders(mistaken)) == tuple(np.argsort(order))
    assert [each.problem for each in check_observation(mistaken)] == [SensorProblem.EXCHANGED_CAMERAS]


def test_exchanged_images_of_many_cameras_are_put_back(seen: Observation) -> None:
    order = np.roll(np.arange(MANY), 5)
    images = {name: getattr(seen, name)[order] for name in ("rgb", "depth_m", "instances")}
    _, usable, findings = CameraWatch.begin(seen).look(replace(seen, **images))
    assert [each.problem for each in findings] == [SensorProblem.EXCHANGED_CAMERAS]
    assert usable is not None
    assert np.array_equal(usable.depth_m, seen.depth_m)


def test_cameras_that_fit_are_in_order_although_no_robot_is_in_view() -> None:
    """With the cameras exchanged, part of the table would lie where a robot stands; the rest would not fit."""
    eyes = {"left": (0.52, 0.76, 0.70), "right": (0.60, -0.85, 0.72)}
    views = [View(name, eye, (0.48, 0.0, 0.0)).camera(640, 480) for name, eye in eyes.items()]
    cameras = tuple(Camera(K, view.world_from_camera, view.name) for view in views)
    boxes = {(x, y, 0.01, 0.04, 0.04, 0.02): RED for x, y in ((0.4, 0.1), (0.5, 0.0), (0.45, -0.1))}
    _, depth, masks = map(np.stack, zip(*(rendered(boxes, camera) for camera in cameras), strict=True))
    colour = np.random.default_rng(0).integers(60, 180, (*depth.shape, 3), np.uint8)
    assert check_observation(Observation(colour, depth, masks, cameras, {1: "a", 2: "b", 3: "c"})) == ()

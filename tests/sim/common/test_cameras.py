"""Cameras: calibration, masks, depth, and an arm that is out of the way."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.common.cameras import LEFT, CameraRig
from sim.common.rotations import matrix_of
from sim.tabletop.scenes import BOX_KINDS, COLOURS, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

PLACES = [(0.32, -0.33), (0.32, 0.33), (0.525, 0.0), (0.68, -0.33), (0.68, 0.33), (0.74, 0.0)]
SCENE = SceneSpec(
    tuple(
        ObjectSpec(
            f"{colour} {kind}", kind, colour, (0.056, 0.036, 0.036) if kind == "lego" else (0.04,) * 3, place, yaw
        )
        for colour, kind, place, yaw in zip(
            COLOURS, [*BOX_KINDS] * 2, PLACES, [0.0, 0.4, 0.8, 0.2, 1.2, 0.6], strict=False
        )
    )
)


@pytest.fixture(scope="module")
def world():
    with TabletopWorld(SCENE) as world:
        yield world


def _points(observation, view, number):
    """Pixels of an instance lifted into the world; pixel centres are at one half."""
    camera = observation.cameras[view]
    rows, columns = np.nonzero(observation.instances[view] == number)
    depth = observation.depth_m[view][rows, columns]
    pixels = np.stack([columns + 0.5, rows + 0.5, np.ones(len(rows))])
    points = np.linalg.inv(camera.intrinsics) @ pixels * depth
    return (camera.world_from_camera[:3, :3] @ points).T + camera.world_from_camera[:3, 3]


def test_lifted_pixels_lie_on_the_true_boxes(world):
    observation, truth = world.observe(), world.truth()
    assert sorted(observation.labels.values()) == sorted(SCENE.names)
    for number, name in observation.labels.items():
        i = truth.index(name)
        points = np.concatenate([_points(observation, view, number) for view in range(2)])
        local = (points - truth.positions[i]) @ matrix_of(truth.orientations[i])
        half = np.array(SCENE[name].size) / 2
        outside = np.linalg.norm(np.maximum(np.abs(local) - half, 0.0), axis=1)
        inside = np.minimum((np.abs(local) - half).max(axis=1), 0.0)
        assert np.abs(outside + inside).max() < 0.0015, name
        # two opposed views see the whole extent of every object
        assert np.all(half - local.max(axis=0) < 0.004), name
        assert np.all(local.min(axis=0)[:2] + half[:2] < 0.004), name


def test_bad_rig_raises():
    with pytest.raises(InvalidConfiguration, match="different camera names"):
        CameraRig(views=(LEFT, LEFT))
    with pytest.raises(InvalidConfiguration, match="at least one view"):
        CameraRig(views=())

"""Crops for reading states, their geometry, and the states in a scene graph."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Camera, ObjectStates, Observation
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.perception.states import StateCrops, read_states, state_crops


def camera(pitch_deg: float) -> Camera:
    """At 2 m height, looking down by an angle along x."""
    pitch = np.radians(pitch_deg)
    pose = np.eye(4)
    forward = np.array([np.cos(pitch), 0.0, -np.sin(pitch)])
    right = np.array([0.0, -1.0, 0.0])
    pose[:3, :3] = np.stack([right, np.cross(forward, right), forward], axis=1)
    pose[:3, 3] = (0.0, 0.0, 2.0)
    intrinsics = np.array([[100.0, 0.0, 40.0], [0.0, 100.0, 30.0], [0.0, 0.0, 1.0]])
    return Camera(intrinsics.astype(np.float32), pose.astype(np.float32))


def observation() -> Observation:
    """Two views of a red mug and a green pot; the pot is cut off by the border of the second view."""
    rgb = np.full((2, 60, 80, 3), 99, np.uint8)
    masks = np.zeros((2, 60, 80), np.int32)
    for view, (mug, pot) in enumerate((((20, 20), (20, 50)), ((20, 20), (50, 60)))):
        for number, (row, column), colour in ((1, mug, (255, 0, 0)), (2, pot, (0, 255, 0))):
            masks[view, row : row + 20, column : column + 12] = number
            rgb[view][masks[view] == number] = colour
    depth = np.where(masks > 0, 1.5, 0.0).astype(np.float32)
    return Observation(rgb, depth, masks, (camera(30.0), camera(70.0)), {1: "mug", 2: "pot"})


class Reader:
    """Reads the colour of an object, from steep views only."""

    crop_size = 16

    def read(self, crops: StateCrops) -> dict[str, ObjectStates]:
        found: dict[str, ObjectStates] = {}
        for row, name in enumerate(crops.names):
            own = np.flatnonzero(crops.owners == row)
            steep = own[crops.elevation_rad[own] > np.radians(45)]
            red = float(crops.images[steep, 8, 8, 0].mean() / 255) if len(steep) else 0.0
            found[name] = {"colour": {"green": 1 - red, "red": red} if len(steep) else {}}
        return found


def test_every_object_is_cut_out_of_every_view() -> None:
    crops = state_crops(observation(), {"mug": (1,), "pot": (2,)}, 16)
    assert crops.names == ("mug", "pot")
    assert crops.owners.tolist() == [0, 1, 0, 1]
    assert crops.pixels.tolist() == [240, 240, 240, 120]
    assert crops.images.shape == (4, 16, 16, 3)
    # everything but the object is black, and shapes keep their proportions
    assert crops.images[0, 8, 8].tolist() == [255, 0, 0]
    assert not crops.images[0, :, 0].any()
    assert not crops.images[0, ..., 1:].any()
    # the last one touches the lower border
    assert crops.geometry[:, 2:].tolist() == [[0, 0, 0, 0]] * 3 + [[0, 1, 0, 0]]


def test_states_are_read_from_what_can_be_seen() -> None:
    found = read_states(Reader(), observation(), {"mug": (1,), "pot": (2,)})
    assert found["mug"]["colour"]["red"] == pytest.approx(1.0, abs=0.05)
    shallow = replace(observation(), cameras=(camera(10.0), camera(20.0)))
    assert read_states(Reader(), shallow, {"mug": (1,)})["mug"]["colour"] == {}


def test_the_perceiver_fills_the_states_of_its_graphs() -> None:
    bundle = Bundle(BundleConfig(feature_size=8, crop_size=16, encoder_blocks=(1,)))
    perceiver = ScenePerceiver(bundle, watch_cameras=False, states=Reader())
    graph = perceiver.reset(observation())
    assert graph.value("mug", "colour") == "red"
    assert graph.unusual("mug") == ("red",)
    assert graph.unusual("pot") == ()
    assert perceiver.fork().step(observation()).value("pot", "colour") == "green"
    assert ScenePerceiver(bundle, watch_cameras=False).reset(observation()).states == {}

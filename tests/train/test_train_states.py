"""Labels of states from demonstrations, and a state model that learns a few of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core import Camera, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.models.states import StateModel
from nsrecover.perception.states import read_states
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from train.state_labels import states_of
from train.states import train

POSE = np.eye(4, dtype=np.float32)
POSE[:3, :3] = [[0, -1, 0], [-1, 0, 0], [0, 0, -1]]  # looks straight down
CAMERA = Camera(np.array([[50.0, 0, 20], [0, 50.0, 20], [0, 0, 1]], np.float32), POSE)
ON, OFF, WATER, WALL = (255, 90, 20), (40, 40, 46), (115, 173, 230), (200, 200, 200)


def view(rng: np.random.Generator, burner_on: bool, filled: bool) -> Observation:
    """A burner that glows or not, and a mug whose inside is blue or not, at random places from above."""
    rgb = np.full((1, 40, 40, 3), 120, np.uint8)
    masks = np.zeros((1, 40, 40), np.int32)
    row, column = (int(rng.integers(2, 14)) for _ in range(2))
    masks[0, row : row + 10, column : column + 10] = 1
    rgb[0, row : row + 10, column : column + 10] = ON if burner_on else OFF
    masks[0, 26:38, column : column + 12] = 2
    rgb[0, 26:38, column : column + 12] = WALL
    if filled:
        rgb[0, 29:35, column + 3 : column + 9] = WATER
    noisy = np.clip(rgb + rng.normal(0, 6, rgb.shape), 0, 255).astype(np.uint8)
    depth = np.ones(masks.shape, np.float32)
    return Observation(noisy, depth, masks, (CAMERA,), {1: "stove burner", 2: "mug"})


def demonstration(number: int) -> Recording:
    """The burner is switched on and off; the mug is poured out in between."""
    rng = np.random.default_rng(number)
    plan = Plan.parse("toggle_on(stove burner); pick_up(mug); pour(mug, sink); toggle_off(stove burner)")
    truth = [(False, True), (True, True), (True, True), (True, False), (False, False)]
    start = [["filled", "mug", "water"], ["at", "mug", "countertop"]]
    notes = {"domain": "household", "start": start, "layout": number % 5}
    return Recording(plan, tuple(view(rng, *each) for each in truth), notes)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demos") / "demonstrations.h5"
    write_archive(path, [demonstration(number) for number in range(15)])
    return path


def test_a_recording_without_the_facts_at_its_start_is_one_error() -> None:
    with pytest.raises(InvalidRecording, match=r"python -m sim\.collect domain=household"):
        states_of(replace(demonstration(0), notes={}))


def test_it_learns_states_and_what_it_can_read(file: Path, tmp_path: Path) -> None:
    train([file], tmp_path / "model", steps=60, batch=32, rate=4e-3)
    model = StateModel.load(tmp_path / "model")
    assert model.config.read == {"running": ("stove burner",), "filled": ("mug",)}
    assert model.config.values == {"running": ("off", "running"), "filled": ("empty", "water")}
    rng = np.random.default_rng(99)
    right = 0
    for number in range(10):
        on, filled = bool(number % 2), bool(number % 3)
        states = read_states(model, view(rng, on, filled), {"stove burner": (1,), "mug": (2,)})
        right += max(states["stove burner"]["running"].items(), key=lambda item: item[1])[0] == ("off", "running")[on]
        right += max(states["mug"]["filled"].items(), key=lambda item: item[1])[0] == ("empty", "water")[filled]
        assert states["mug"]["filled"].get("wine", 0.0) == 0.0  # never demonstrated
    assert right >= 18

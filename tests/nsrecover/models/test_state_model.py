"""The state model: what it reads, what is unknown, files on disk, and the shipped checkpoint."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.states import FEWEST_PIXELS, SHIPPED, StateConfig, StateModel
from nsrecover.perception.states import StateCrops

FILLED = HOUSEHOLD.variables["filled"].values
CONFIG = StateConfig(
    "household",
    {"running": ("off", "running"), "filled": FILLED},
    ("mug", "stove burner"),
    {"running": ("stove burner",), "filled": ("mug",)},
    {"running": ("off", "running"), "filled": ("empty", "water")},
    ("filled",),
)


def crops(elevation_deg: float = 70.0, pixels: float = 300.0) -> StateCrops:
    rng = np.random.default_rng(0)
    names = ("second mug", "stove burner", "robot")
    return StateCrops(
        names,
        rng.integers(0, 255, (4, 48, 48, 3)).astype(np.uint8),
        np.array([0, 0, 1, 2]),
        np.full(4, np.radians(elevation_deg), np.float32),
        np.full(4, pixels, np.float32),
        np.zeros((4, 6), np.float32),
    )


def test_every_object_has_the_variables_of_its_kind_as_far_as_they_show() -> None:
    model = StateModel(CONFIG)
    found = model.read(crops())
    assert {name: set(states) for name, states in found.items()} == {
        "second mug": {"filled"},
        "stove burner": {"running"},
    }
    assert tuple(found["second mug"]["filled"]) == FILLED
    assert sum(found["second mug"]["filled"].values()) == pytest.approx(1.0, abs=1e-3)
    assert found["second mug"]["filled"]["wine"] == 0.0  # never demonstrated
    shallow = model.read(crops(elevation_deg=40.0))
    assert shallow["second mug"]["filled"] == {}
    assert shallow["stove burner"]["running"]
    assert model.read(crops(pixels=FEWEST_PIXELS - 1))["stove burner"]["running"] == {}


def test_what_is_weighed_is_relied_on_as_far_as_objects_of_its_size_were_read_right() -> None:
    plain = StateModel(CONFIG)
    trusted = replace(CONFIG, sizes=(200.0,), reliance={"running": ((0.0, 0.0), (2.0, 0.0))})
    model = StateModel(trusted)
    model.load_state_dict(plain.state_dict())
    even, raw = model.weighed(crops(pixels=100.0)), plain.weighed(crops())["stove burner"]["running"]
    assert even["stove burner"]["running"] == {"off": 0.5, "running": 0.5}
    steep = model.weighed(crops())["stove burner"]["running"]
    assert steep["off"] / steep["running"] == pytest.approx((raw["off"] / raw["running"]) ** 2, rel=1e-2)
    assert model.read(crops()) == plain.read(crops())


def test_an_uncertain_reading_can_be_weighed_and_none_is_more_certain_than_its_mistakes_allow() -> None:
    strict = StateModel(replace(CONFIG, certain_from={"running": 0.99}, mistakes={"running": 0.2}))
    assert strict.read(crops())["stove burner"]["running"] == {}
    weighed = strict.weighed(crops())["stove burner"]["running"]
    assert sum(weighed.values()) == pytest.approx(1.0, abs=1e-3)
    assert min(weighed.values()) >= 0.1
    strict.config = replace(strict.config, certain_from={"running": 0.5})
    assert strict.read(crops())["stove burner"]["running"] == weighed
    assert strict.weighed(crops(pixels=FEWEST_PIXELS - 1))["stove burner"]["running"] == {}


def test_what_shows_nothing_says_nothing() -> None:
    blind = StateModel(replace(CONFIG, temperatures={"running": 1e6, "filled": 1e6}))  # it has learned the shares only
    shares = {"running": (0.5, 0.5), "filled": tuple(np.where(np.isin(FILLED, ("empty", "water")), 0.5, 0.0))}
    one_sided = replace(blind.config, shares=shares | {"running stove burner": (0.9, 0.1)})
    blind.config = one_sided
    found = blind.weighed(crops())
    assert found["second mug"]["filled"]["water"] == pytest.approx(0.5, abs=0.01)
    assert found["second mug"]["filled"]["wine"] == 0.0
    assert found["stove burner"]["running"]["running"] == pytest.approx(0.9, abs=0.01)  # 0.5 where 0.1 is usual
    assert blind.read(crops())["stove burner"]["running"]["running"] == pytest.approx(0.5, abs=0.01)


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    model = StateModel(CONFIG)
    again = StateModel.load(model.save(tmp_path / "model"))
    assert again.config == CONFIG
    assert again.read(crops()) == model.read(crops())


def test_a_missing_damaged_or_foreign_checkpoint_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpoint, match=r"python -m train\.states"):
        StateModel.load(tmp_path)
    folder = StateModel(CONFIG).save(tmp_path / "model")
    with pytest.raises(InvalidCheckpoint, match="expected a state model for the domain 'garage'"):
        StateModel.load(folder, replace(HOUSEHOLD, name="garage"))
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(document | {"kinds": ["mug"]}))
    with pytest.raises(InvalidCheckpoint, match="of shape"):
        StateModel.load(folder)


def test_the_shipped_model_is_small_and_reads_the_household() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 5_000_000
    assert {"open", "running", "filled", "dirty", "broken", "toppled"} <= set(StateModel.load().config.read)

"""The evaluation of states: accuracies of given readings, unknown contents, and wrong settings."""

import json
from pathlib import Path

import joblib
import numpy as np
import pytest

from eval.metrics import summary
from eval.states import MEASUREMENT, METRICS, Frame, Reading, StatesConfig
from nsrecover.models.states import StateConfig, StateModel
from nsrecover.perception.states import StateCrops


def reading(true: str, read: str | None, best: str | None = "same") -> Reading:
    return Reading("mug", "filled", true, read, read if best == "same" else best, 0.9)


def test_accuracy_counts_given_readings_and_unknown_ones_apart() -> None:
    found = summary(
        [
            reading("water", "water"),
            reading("empty", "empty"),
            reading("water", "empty"),
            reading("water", None, "water"),  # visible, but not certain
            reading("water", None, None),  # not visible
        ],
        METRICS,
    )
    assert (found["accuracy"]["value"], found["accuracy"]["of"]) == (pytest.approx(2 / 3, abs=1e-4), 3)
    assert found["given"]["value"] == 0.6
    assert found["visible_by_geometry"]["value"] == 0.8
    assert found["accuracy_visible_by_geometry"]["value"] == 0.75
    assert found["not_visible_called_unknown"] == found["not_visible_called_unknown"] | {"value": 1.0, "of": 1}
    assert found["by_true_value"]["empty"]["value"] == 1.0
    assert found["wrong"] == {"mug: water read as empty": 1}


def test_it_reads_episodes_that_are_on_disk(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = {"mug": {"filled": "water"}, "stove burner": {"filled": "empty"}}
    for episode in range(8):
        crops = StateCrops(
            ("mug", "stove burner"),
            rng.integers(0, 255, (3, 48, 48, 3)).astype(np.uint8),
            np.array([0, 1, 0]),
            np.array([0.5, 1.2, 1.2 if episode % 2 else 0.4], np.float32),
            np.full(3, 200.0, np.float32),
            np.zeros((3, 6), np.float32),
        )
        joblib.dump([Frame(episode, crops, truth)], tmp_path / f"3_0_{episode:05d}.joblib")
    config = StateConfig(
        "household", {"filled": ("empty", "water", "coffee", "wine", "milk", "tea", "juice", "soup")}, ("mug",),
        {"filled": ("mug",)}, {"filled": ("empty", "water")}, ("filled",),
    )  # fmt: skip
    model = StateModel(config).save(tmp_path / "model")
    settings = StatesConfig(
        seed=3, frames=8, varied=0.0, checkpoint=str(model), footage=str(tmp_path), workers=1, out=str(tmp_path / "out")
    )
    found = MEASUREMENT.run(settings)["variables"]["filled"]
    assert found["objects"] == 8
    assert found["visible_by_geometry"]["value"] == 0.5
    assert found["not_visible_called_unknown"]["value"] == 1.0
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["frames"] == 8
    assert "| filled" in (tmp_path / "out" / "table.md").read_text()

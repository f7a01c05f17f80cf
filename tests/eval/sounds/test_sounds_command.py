"""The evaluation of sounds: scores, strange sounds, and wrong settings."""

import json
from pathlib import Path

import numpy as np
import pytest

from eval.sounds import __main__ as command
from eval.sounds.__main__ import MEASUREMENT, SoundsConfig, macro_f1
from eval.sounds.strangers import STRANGERS


def test_it_measures_known_and_unknown_sounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ROUNDS", 1)
    config = SoundsConfig(clips=2, snr_db=[20.0], baseline=False, out=str(tmp_path / "out"))
    found = MEASUREMENT.run(config)["snr_db"]["20"]
    assert found["macro_f1"]["value"] > 0.7
    assert found["macro_f1_groups"]["value"] >= found["macro_f1"]["value"]
    assert found["strange"]["all"]["of"] == 2 * len(STRANGERS)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["clips"] == 2
    assert "macro-F1" in (tmp_path / "out" / "table.md").read_text()


def test_the_score_is_the_mean_of_the_classes() -> None:
    actual = np.array(["a"] * 8 + ["b"] * 2)
    guessed = np.array(["a"] * 8 + ["b", "a"])
    score = macro_f1(actual, guessed, 0)
    assert score["value"] == pytest.approx((16 / 17 + 2 / 3) / 2, abs=1e-4)
    assert score["low"] <= score["value"] <= score["high"]

"""The evaluation of sounds: scores, strange sounds, classes that were left out, and wrong settings."""

import json
from pathlib import Path

import numpy as np
import pytest

from eval.sounds.__main__ import MEASUREMENT, SoundsConfig, macro_f1
from eval.sounds.strangers import STRANGERS, stranger
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.sound import SoundConfig, SoundModel


def test_it_measures_known_and_unknown_sounds(tmp_path: Path) -> None:
    partial = SoundModel(SoundConfig(("boiling", "tv"))).save(tmp_path / "partial")
    config = SoundsConfig(clips=2, snr_db=[20.0], left_out=[str(partial)], baseline=False, out=str(tmp_path / "out"))
    metrics = MEASUREMENT.run(config)
    found = metrics["snr_db"]["20"]
    assert found["macro_f1"]["value"] > 0.7
    assert found["macro_f1_groups"]["value"] >= found["macro_f1"]["value"]
    assert found["strange"]["all"]["of"] == 2 * len(STRANGERS)
    (left,) = found["left_out"].values()
    assert "boiling" not in left["kinds"]
    assert left["all"]["of"] == 2 * (len(metrics["classes"]) - 2)
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["clips"] == 2
    assert "macro-F1" in (tmp_path / "out" / "table.md").read_text()


def test_the_score_is_the_mean_of_the_classes() -> None:
    actual = np.array(["a"] * 8 + ["b"] * 2)
    guessed = np.array(["a"] * 8 + ["b", "a"])
    score = macro_f1(actual, guessed, 0)
    assert score["value"] == pytest.approx((16 / 17 + 2 / 3) / 2, abs=1e-4)
    assert score["low"] <= score["value"] <= score["high"]


def test_strange_sounds_differ_and_repeat() -> None:
    clips = {name: stranger(name, np.random.default_rng(0), 20.0) for name in STRANGERS}
    assert all(len(clip) == 32_000 and np.isfinite(clip).all() for clip in clips.values())
    again = stranger("siren", np.random.default_rng(0), 20.0)
    assert np.array_equal(again, clips["siren"])


def test_too_few_clips_are_one_error() -> None:
    with pytest.raises(InvalidConfiguration, match="at least 2 clips"):
        MEASUREMENT.run(SoundsConfig(clips=1))

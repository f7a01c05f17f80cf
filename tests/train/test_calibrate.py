"""Calibration on held-out demonstrations keeps its promise and goes into the checkpoint."""

from pathlib import Path

import pytest

from nsrecover.models.bundle import Bundle
from nsrecover.training.calibrate import NEUTRAL_THRESHOLD, calibrate, calibration_warning
from nsrecover.training.demonstrations import load_demonstrations, recordings


def test_the_checkpoint_knows_what_it_was_calibrated_on(demonstrations: Path, tmp_path: Path) -> None:
    bundle = Bundle.load()
    held_out = load_demonstrations(recordings(demonstrations / "train"), bundle.config.crop_size, tmp_path)
    metrics = calibrate(held_out, [demo.appearance(bundle) for demo in held_out], bundle, alpha=0.05)
    steps = sum(len(demo.plan) for demo in held_out)
    assert metrics["calibration_steps"] + metrics["test_steps"] == steps
    assert bundle.config.calibration_steps == metrics["calibration_steps"] > metrics["test_steps"] > 0
    assert list(bundle.config.calibration) == sorted(bundle.config.calibration)
    assert bundle.threshold == min(NEUTRAL_THRESHOLD, bundle.threshold_for(0.05)) == metrics["threshold"]
    assert set(metrics["false_alarms"]) == {"0.001", "0.01", "0.05"}


@pytest.mark.parametrize(("alpha", "needed"), [(0.01, 99), (0.05, 19)])
def test_a_threshold_of_zero_is_warned_about(alpha: float, needed: int) -> None:
    warning = calibration_warning({"threshold": 0.0, "calibration_steps": 13}, alpha)
    assert f"at least {needed} held-out steps" in warning
    assert "found 13" in warning
    assert not calibration_warning({"threshold": 0.4, "calibration_steps": needed}, alpha)

"""For how long frames of a household may look wrong, from what was watched to the checkpoint."""

import json
import shutil
from pathlib import Path

import pytest

from nsrecover.errors import InvalidRecording
from nsrecover.models.checkpoint import CHECKPOINTS
from nsrecover.models.household import SHIPPED, HouseholdModels
from nsrecover.monitoring.fact_frames import CARRIED, ELSE
from train.patience import PatienceConfig, learn


def test_what_is_watched_ends_in_the_checkpoint(tmp_path: Path) -> None:
    demos, checkpoint = tmp_path / "demos", tmp_path / "checkpoint"
    shutil.copytree(CHECKPOINTS / SHIPPED, checkpoint)
    demos.mkdir()
    config = PatienceConfig(str(demos), str(checkpoint), alpha=0.2)
    with pytest.raises(InvalidRecording, match=r"sim\.household_glances"):
        learn(config)
    frames = [(0.0, []), (0.2, [(CARRIED, "pan", 1.0)]), (0.4, [(CARRIED, "pan", 1.0)]), (0.6, [])]
    (demos / "one.json").write_text(json.dumps([frames] * 10))
    before = HouseholdModels.load(checkpoint).config
    learned = learn(config)
    assert (learned[CARRIED], learned[ELSE]) == pytest.approx((0.3, 0.1))
    after = HouseholdModels.load(checkpoint).config
    assert after.patience_s == pytest.approx(learned)
    assert after.durations == before.durations
    (demos / "two.json").write_text("[[[0.1]]]")
    with pytest.raises(InvalidRecording, match=r"two\.json"):
        learn(config)

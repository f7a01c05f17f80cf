"""The sound model: enrolled sounds, files on disk, errors, and the shipped checkpoint."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration, InvalidObservation
from nsrecover.models.sound import SoundConfig, SoundModel
from nsrecover.perception.spectrogram import BANDS, FRAMES, RATE_HZ

Wave = npt.NDArray[np.float32]
NOISE = np.random.default_rng(0).normal(size=(2, FRAMES, BANDS)).astype(np.float32) * 10 - 60


@pytest.fixture(scope="module")
def shipped() -> SoundModel:
    return SoundModel.load()


def bell(pitch: float, seed: int = 0) -> Wave:
    time = np.arange(2 * RATE_HZ) / RATE_HZ
    ring = sum(np.sin(2 * np.pi * pitch * k * time) * np.exp(-k * time) for k in (1.0, 2.7, 5.4))
    noise = np.random.default_rng(seed).normal(size=len(time))
    return np.asarray(0.1 * np.asarray(ring) + 0.002 * noise, np.float32)


def test_a_sound_is_enrolled_and_forgotten(shipped: SoundModel) -> None:
    mine = shipped.enrol("my bell", [bell(700.0, seed) for seed in range(3)], RATE_HZ)
    assert next(iter(mine.classify(bell(700.0, 9), RATE_HZ))) == "my bell"
    hiss = np.random.default_rng(1).normal(size=2 * RATE_HZ).astype(np.float32) * 0.05
    assert "my bell" not in mine.classify(hiss, RATE_HZ)
    assert "my bell" in mine.names
    assert "my bell" not in shipped.names
    assert mine.without("my bell").names == shipped.names
    with pytest.raises(InvalidConfiguration, match="Did you mean 'my bell'"):
        mine.without("my bel")


def test_enrolled_sounds_are_saved_with_the_model(shipped: SoundModel, tmp_path: Path) -> None:
    mine = shipped.enrol("my bell", [bell(700.0)], RATE_HZ)
    again = SoundModel.load(mine.save(tmp_path / "mine"))
    assert again.enrolled.classes == ("my bell",)
    assert again.classify(bell(700.0, 5), RATE_HZ) == mine.classify(bell(700.0, 5), RATE_HZ)
    assert again.config == mine.config
    assert [np.array_equal(a, b) for a, b in zip(again.look(NOISE), mine.look(NOISE), strict=True)] == [True, True]


def test_another_rate_several_channels_and_nothing_are_one_clear_error(shipped: SoundModel) -> None:
    with pytest.raises(InvalidObservation, match="expected audio at 16000 samples a second, found 44100; resample"):
        shipped.classify(bell(700.0), 44_100)
    with pytest.raises(InvalidObservation, match="one channel"):
        shipped.classify(np.zeros((2, 100), np.float32), RATE_HZ)
    with pytest.raises(InvalidConfiguration, match="at least one recording"):
        shipped.enrol("my bell", [], RATE_HZ)


def test_thresholds_decide_what_is_heard() -> None:
    model = SoundModel(SoundConfig(("a", "b")))
    none = np.zeros((0, 64), np.float32)
    assert [len(each) for each in model.calibrated((1e-6, 1e-6), -99.0, none).heard(NOISE)] == [2, 2]
    assert [len(each) for each in model.calibrated((1.0, 1.0), -99.0, none).heard(NOISE)] == [1, 1]
    assert model.calibrated((0.5, 0.5), 99.0, none).heard(NOISE) == [{}, {}]


def test_what_is_far_from_all_references_is_less_familiar() -> None:
    model = SoundModel(SoundConfig(("a", "b")))
    chances, units = model.look(NOISE)
    near, far = (model.calibrated((0.5, 0.5), 0.0, sign * np.repeat(units, 5, axis=0)) for sign in (1, -1))
    assert (near.familiarity(chances, units) > far.familiarity(chances, units) + 10).all()


def test_a_damaged_or_foreign_checkpoint_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpoint, match=r"expected a sound model .*python -m train\.sounds"):
        SoundModel.load(tmp_path)
    folder = SoundModel(SoundConfig(("a", "b"))).save(tmp_path / "model")
    document = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(document | {"format": 99}))
    with pytest.raises(InvalidCheckpoint, match="found 99"):
        SoundModel.load(folder)
    (folder / "config.json").write_text(json.dumps(document | {"classes": ["a"]}))
    with pytest.raises(InvalidCheckpoint, match="of shape"):
        SoundModel.load(folder)

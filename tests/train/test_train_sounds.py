"""Training of the sound model: it learns a few sounds from WAV files, and what it reads is checked."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.models.sound import SoundModel
from nsrecover.perception.sounds import Hearing, SoundHeard
from nsrecover.perception.spectrogram import BANDS, FRAMES, RATE_HZ
from nsrecover.records.wav import wav_bytes
from train.household import Lesson, expected_sounds
from train.sound_mixing import MixRates, SoundMixer, load_levels
from train.sounds import read_clips, train

Wave = npt.NDArray[np.float32]


def tone(rng: np.random.Generator) -> Wave:
    time = np.arange(2 * RATE_HZ) / RATE_HZ
    return np.asarray(0.3 * np.sin(2 * np.pi * rng.uniform(500, 700) * time), np.float32)


def hiss(rng: np.random.Generator) -> Wave:
    return np.asarray(0.1 * np.diff(rng.normal(size=2 * RATE_HZ + 1)), np.float32)


def clicks(rng: np.random.Generator) -> Wave:
    wave = np.zeros(2 * RATE_HZ, np.float32)
    for at in range(int(rng.integers(2000)), len(wave) - 200, 4000):
        wave[at : at + 100] = rng.normal(size=100) * 0.3
    return wave


SOUNDS = {"clicks": clicks, "hiss": hiss, "tone": tone}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sounds")
    for name, make in SOUNDS.items():
        (path / name).mkdir()
        for number in range(8):
            wave = make(np.random.default_rng(number))
            (path / name / f"{number}.wav").write_bytes(wav_bytes(wave, RATE_HZ))
    return path


def test_it_learns_sounds_from_files_and_calls_others_unknown(folder: Path, tmp_path: Path) -> None:
    train(folder, tmp_path / "model", steps=50, batch=24, rate=4e-3)
    model = SoundModel.load(tmp_path / "model")
    assert model.config.classes == ("clicks", "hiss", "tone")
    assert model.config.metrics["held_out_accuracy"] > 0.9
    for name, make in SOUNDS.items():
        said = [next(iter(model.classify(make(np.random.default_rng(100 + i)), RATE_HZ)), "") for i in range(5)]
        assert said.count(name) >= 4, (name, said)


def test_a_folder_without_classes_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"python -m sim\.sound\.clips"):
        read_clips(tmp_path / "none", set())


def mixer(rates: MixRates, snr_db: tuple[float, float] = (10.0, 20.0)) -> SoundMixer:
    rng = np.random.default_rng(0)
    clips = {name: load_levels([make(rng) for _ in range(2)], rng) for name, make in SOUNDS.items()}
    return SoundMixer(clips, load_levels([hiss(rng)], rng, rooms=False), rates, 0, snr_db)


def test_mixtures_are_labelled_by_what_they_hold() -> None:
    levels, labels = mixer(MixRates(0.0, 0.0, 0.0)).batch(20)
    assert levels.shape == (20, FRAMES, BANDS)
    assert labels.sum(axis=1).tolist() == [1.0] * 20
    assert mixer(MixRates(0.0, 1.0, 0.0)).batch(8)[1].sum() == 0  # strange sounds
    assert mixer(MixRates(0.0, 0.0, 1.0)).batch(8)[1].sum() == 0  # noise
    both = mixer(MixRates(1.0, 0.0, 0.0)).batch(30)[1].sum(axis=1)
    assert set(both.tolist()) == {1.0, 2.0}


def test_actions_expect_what_was_heard_during_them() -> None:
    heard = [Hearing((SoundHeard("water", 1.0, 1.0, 2.0),) if loud else (), True, 0.0, 4.0) for loud in (True, False)]
    actions = (("toggle_on", "faucet"), ("pick_up", "mug"))
    lesson = Lesson(False, actions, (4.0, 4.0), (), tuple(heard), ())
    assert expected_sounds([lesson] * 3) == {"toggle_on faucet": {"water": 1.0}, "pick_up mug": {}}
    with pytest.raises(InvalidRecording, match="microphone=true"):
        expected_sounds([replace(lesson, hearings=None)])

"""`nsrecover enrol`: from folders of wav files to a checkpoint that knows the sounds."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from nsrecover.cli.enrol import enrol
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.models.household import HouseholdModels
from nsrecover.models.sound import SoundModel
from nsrecover.onboarding.sounds import enrolled_from
from nsrecover.perception.spectrogram import RATE_HZ


def ringing(pitch: float, seed: int, rate_hz: int = RATE_HZ) -> np.ndarray:
    time = np.arange(2 * rate_hz) / rate_hz
    ring = sum(np.sin(2 * np.pi * pitch * k * time) * np.exp(-k * time) for k in (1.0, 2.7, 5.4))
    return 0.1 * np.asarray(ring) + 0.002 * np.random.default_rng(seed).normal(size=len(time))


def rattling(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 0.1 * rng.normal(size=2 * RATE_HZ) * (np.sin(2 * np.pi * 9 * np.arange(2 * RATE_HZ) / RATE_HZ) > 0)


def recorded(folder: Path) -> Path:
    for number in range(3):
        (folder / "door bell").mkdir(parents=True, exist_ok=True)
        (folder / "fan").mkdir(exist_ok=True)
        # Another rate, two channels, whole numbers.
        bell = np.repeat(ringing(700.0, number, 48_000)[:, None], 2, axis=1)
        wavfile.write(folder / "door bell" / f"{number}.wav", 48_000, (bell * 32_767).astype(np.int16))
        wavfile.write(folder / "fan" / f"{number}.wav", RATE_HZ, rattling(number).astype(np.float32))
    return folder


def test_sounds_of_a_folder_are_heard_afterwards(tmp_path: Path) -> None:
    enrol(recorded(tmp_path / "recordings"), tmp_path / "mine")
    model = HouseholdModels.load(tmp_path / "mine").sounds
    assert model.enrolled.classes == ("door bell", "fan")
    assert next(iter(model.classify(ringing(700.0, 9), RATE_HZ))) == "door bell"
    assert next(iter(model.classify(rattling(9), RATE_HZ))) == "fan"
    tone = np.sin(2 * np.pi * 2500 * np.arange(2 * RATE_HZ) / RATE_HZ)
    assert not {"door bell", "fan"} & set(model.classify(tone, RATE_HZ))


def test_folders_that_cannot_be_used_are_one_error(tmp_path: Path) -> None:
    model = SoundModel.load()
    with pytest.raises(InvalidConfiguration, match="one for each sound"):
        enrolled_from(tmp_path, model)
    folder = recorded(tmp_path)
    (folder / "fan" / "0.wav").write_bytes(b"RIFF")
    with pytest.raises(InvalidRecording, match=r"0\.wav"):
        enrolled_from(folder, model)
    for number in (0, 1):
        (folder / "fan" / f"{number}.wav").unlink()
    with pytest.raises(InvalidConfiguration, match="at least 2 recordings of 'fan'"):
        enrolled_from(folder, model)

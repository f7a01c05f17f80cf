"""Sounds of one's own from folders of recordings: reading them, enrolling them, and what is said of it."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from scipy.io import wavfile
from scipy.signal import resample_poly

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.models.sound import SoundModel
from nsrecover.perception.spectrogram import FRAMES, HOP, RATE_HZ, check_recording

OTHERS = "others"
"""Folder of recordings of sounds that must not be taken for an enrolled one."""
LEAST, ADVISED = 2, 5
_WINDOW = FRAMES * HOP
_QUIET_DB = 20.0


def windows_in(path: Path) -> list[FloatArray]:
    """Pieces of two seconds (S,) at `RATE_HZ` of a wav file, without those that are much quieter than the loudest.

    Raises:
        InvalidRecording: it is no wav file, or silent.
    """
    try:
        rate_hz, samples = wavfile.read(path)
    except (OSError, ValueError, struct.error) as error:
        raise InvalidRecording(f"expected a wav file at {path}, found: {error}; convert it, e.g. with sox") from error
    scale = np.iinfo(samples.dtype).max if samples.dtype.kind in "iu" else 1.0
    wave = samples.astype(np.float64).reshape(len(samples), -1).mean(axis=1) / scale
    wave = wave - wave.mean() if len(wave) else wave
    if not wave.any():
        raise InvalidRecording(f"expected a sound in {path}, found silence; record it again")
    heard = check_recording(resample_poly(wave, RATE_HZ, rate_hz) if rate_hz != RATE_HZ else wave, RATE_HZ)
    parts = [heard[begin : begin + _WINDOW] for begin in range(0, max(1, len(heard) - _WINDOW // 2), _WINDOW)]
    levels = [10 * np.log10(float(np.mean(part**2)) + 1e-12) for part in parts]
    return [part for part, level in zip(parts, levels, strict=True) if level > max(levels) - _QUIET_DB]


def enrolled_from(folder: Path, model: SoundModel) -> tuple[SoundModel, dict[str, int]]:
    """A model that knows the sounds of a folder, and how many recordings of each it was given.

    Args:
        folder: has a folder of wav files for each sound, named as the sound; `others` has sounds that are none.
        model: the model to enrol them in.

    Raises:
        InvalidConfiguration: there is no folder with wav files, or one has fewer than two.
        InvalidRecording: a file cannot be read.
    """
    places = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    files = {place.name: sorted(p for p in place.iterdir() if p.suffix.lower() == ".wav") for place in places}
    files = {name: found for name, found in files.items() if found}
    if not set(files) - {OTHERS}:
        raise InvalidConfiguration(
            f"expected folders of wav files in {folder}, one for each sound, found none; e.g. {folder}/kettle/1.wav"
        )
    for name, found in files.items():
        if name != OTHERS and len(found) < LEAST:
            raise InvalidConfiguration(
                f"expected at least {LEAST} recordings of {name!r}, found {len(found)}; {ADVISED} do better"
            )
    for name, found in files.items():
        waves = [part for path in found for part in windows_in(path)]
        model = model.enrol("" if name == OTHERS else name, waves, RATE_HZ)
    return model, {name: len(found) for name, found in files.items()}


def lines_of(model: SoundModel, counts: dict[str, int]) -> list[str]:
    """What was enrolled, and what would make it better."""
    chances = dict(zip(model.enrolled.classes, model.enrolled.thresholds, strict=True))
    found = [
        f"{name}: {count} recordings"
        + (f", heard from a similarity of {chances[name]:.2f} on" if name in chances else "")
        for name, count in counts.items()
    ]
    few = [name for name, count in counts.items() if count < ADVISED and name != OTHERS]
    found += [f"advice: record {', '.join(few)} {ADVISED} times or more"] if few else []
    found += [] if OTHERS in counts else [f"advice: put sounds that are none of these into a folder {OTHERS!r}"]
    return found

"""Random mixtures of labelled recordings, as spectrograms: what the sound network learns from.

Recordings are mixed as powers in mel bands, which adds them up to the random phases between them. That is a hundred
times faster than mixing waveforms, so that the network never sees a mixture twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import oaconvolve

from nsrecover.core.scene import FloatArray
from nsrecover.perception.spectrogram import BANDS, FLOOR_DB, FRAMES, RATE_HZ, mel_levels

_WIDTHS = np.diff(700 * (10 ** (np.linspace(78.0, 2840.0, BANDS + 1) / 2595) - 1))
"""Bandwidths, about: powers are densities, and wide bands hold more."""
SNR_DB = (-4.0, 30.0)
"""Ratio of the mean powers of a sound and of the noise over a window."""
SECOND_DB = (-10.0, 10.0)
"""Level of a second sound, relative to the first one."""
SHIFT_FRAMES = (-20, 30)
"""How much earlier (below 0) or later than in its recording a sound may begin."""
EQUALISED_DB = 5.0
"""Deviation of a frequency response, at most."""
REVERBERATION_S = (0.15, 0.8)


@dataclass(frozen=True)
class MixRates:
    """How often a mixture has what.

    Attributes:
        second: two sounds at once.
        strange: one sound, changed so that it belongs to no class.
        noise: no sound at all.
    """

    second: float = 0.4
    strange: float = 0.2
    noise: float = 0.05


class SoundMixer:
    """Draws mixtures of recordings.

    Args:
        clips: class -> levels (K, FRAMES, BANDS) of its recordings, decibels.
        background: levels (K, FRAMES, BANDS) of recordings without a sound.
        rates: how often a mixture has what.
        seed: decides everything.
        snr_db: lowest and highest ratio of sound to noise.
    """

    def __init__(
        self,
        clips: Mapping[str, FloatArray],
        background: FloatArray,
        rates: MixRates,
        seed: int,
        snr_db: tuple[float, float] = SNR_DB,
    ) -> None:
        self.classes = tuple(clips)
        self._clips = list(clips.values())
        self._quiet = [np.quantile(each, 0.05, axis=1) for each in self._clips]
        self._background, self._rates, self._snr_db = background, rates, snr_db
        self._rng = np.random.default_rng(seed)

    def batch(self, size: int) -> tuple[FloatArray, FloatArray]:
        """Levels (size, FRAMES, BANDS) in decibels, and which classes each holds, (size, C)."""
        levels, labels = zip(*(self._mixture() for _ in range(size)), strict=True)
        return np.stack(levels), np.stack(labels)

    def _mixture(self) -> tuple[FloatArray, FloatArray]:
        rng, labels = self._rng, np.zeros(len(self.classes), np.float32)
        kind = float(rng.uniform())
        noise = self._noise()
        rates = self._rates
        if kind < rates.noise:
            return _levels(noise * _equaliser(rng)), labels
        number, sound = self._sound()
        if kind < rates.noise + rates.strange:
            _, other = self._sound()
            sound = strange(sound, other, rng)
        else:
            labels[number] = 1.0
            if kind < rates.noise + rates.strange + rates.second:
                number, second = self._sound()
                sound = sound * _equaliser(rng)
                sound = sound + second * (_power(sound) / _power(second) * _ratio(rng.uniform(*SECOND_DB)))
                labels[number] = 1.0
        noise *= _power(sound) / _power(noise) / _ratio(rng.uniform(*self._snr_db))
        return _levels((sound + noise) * _equaliser(rng)), labels

    def _sound(self) -> tuple[int, FloatArray]:
        """A class and the powers of one of its recordings, shifted in time."""
        rng = self._rng
        number = int(rng.integers(len(self._clips)))
        clip = int(rng.integers(len(self._clips[number])))
        levels, quiet = self._clips[number][clip], self._quiet[number][clip]
        shift = int(rng.integers(*SHIFT_FRAMES))
        moved = np.broadcast_to(quiet, levels.shape).copy()
        if shift >= 0:
            moved[shift:] = levels[: FRAMES - shift]
        else:
            moved[:shift] = levels[-shift:]
        return number, _ratio(moved)

    def _noise(self) -> FloatArray:
        """Powers of noise: recorded, or with a random slope."""
        rng = self._rng
        if rng.uniform() < 0.6 and len(self._background):
            return _ratio(self._background[int(rng.integers(len(self._background)))])
        slope = np.linspace(0.0, 1.0, BANDS) * rng.uniform(-45.0, 10.0)
        # power of noise in a band and a frame; bands average over more bins the wider they are
        grains = rng.gamma(np.linspace(1.5, 8.0, BANDS), size=(FRAMES, BANDS)) / np.linspace(1.5, 8.0, BANDS)
        return np.asarray(grains * _ratio(slope), np.float32)


def strange(sound: FloatArray, other: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Powers (FRAMES, BANDS) that belong to no class, made from two recordings: outliers to learn from.

    Learning from made outliers makes a classifier reject others, too (Hendrycks, Mazeika and Dietterich 2019, "Deep
    Anomaly Detection with Outlier Exposure").
    """
    way = int(rng.integers(5))
    if way == 0:  # moved along the mel scale
        by = int(rng.choice([-1, 1])) * int(rng.integers(10, 28))
        moved = np.full_like(sound, float(sound.min()))
        if by > 0:
            moved[:, by:] = sound[:, :-by]
        else:
            moved[:, :by] = sound[:, -by:]
        return moved
    if way == 1:  # low part of one, high part of another
        cut = int(rng.integers(BANDS // 4, 3 * BANDS // 4))
        other = other * (_power(sound) / _power(other))
        return np.concatenate([sound[:, :cut], other[:, cut:]], axis=1)
    if way == 2:  # upside down
        return np.ascontiguousarray(sound[:, ::-1])
    if way == 3:  # a few tones that glide, or repeat
        return _tones(rng)
    # the course in time of one, the spectrum of another
    course = sound.sum(axis=1, keepdims=True)
    return np.asarray(course * np.roll(other.mean(axis=0), int(rng.integers(-12, 13))) / other.mean() + 1e-12)


def _tones(rng: np.random.Generator) -> FloatArray:
    """Harmonics whose pitch glides or jumps, in pulses or steady."""
    time, bands = np.arange(FRAMES)[:, None], np.arange(BANDS)[None]
    out = np.full((FRAMES, BANDS), 1e-7)
    pitch = rng.uniform(2, 40) + rng.uniform(-0.3, 0.3) * time
    if rng.uniform() < 0.4:
        pitch = rng.uniform(2, 40, size=FRAMES)[(np.arange(FRAMES) // int(rng.integers(4, 25))) * 7 % FRAMES][:, None]
    pitch = pitch + rng.uniform(0, 4) * np.sin(time * rng.uniform(0.05, 0.8))
    for harmonic in range(int(rng.integers(1, 6))):
        width = rng.uniform(0.5, 2.0)
        out += rng.uniform(0.05, 1.0) * np.exp(-(((bands - pitch - 9.0 * harmonic) / width) ** 2))
    every, duty = int(rng.integers(5, 60)), float(rng.uniform(0.2, 1.2))
    on = ((time + int(rng.integers(60))) % every) / every < duty
    return np.asarray(out * np.where(on, 1.0, 1e-4), np.float32)


def load_levels(recordings: Sequence[FloatArray], rng: np.random.Generator, rooms: bool = True) -> FloatArray:
    """Levels (K, FRAMES, BANDS) of recordings (S,) of two seconds; with rooms, each also in another room."""
    found = []
    for samples in recordings:
        found.append(_fitted(mel_levels(samples)))
        if rooms:
            found.append(_fitted(mel_levels(in_room(samples, rng))))
    return np.stack(found) if found else np.zeros((0, FRAMES, BANDS), np.float32)


def in_room(samples: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A recording as it sounds in a random room: direct sound and noise that decays."""
    seconds = float(rng.uniform(*REVERBERATION_S))
    time = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    response = rng.standard_normal(len(time)) * 10 ** (-3.0 * time / seconds)
    response *= np.sqrt(_ratio(rng.uniform(-12.0, 3.0)) / float(response @ response))
    response[0] = 1.0
    return np.asarray(oaconvolve(samples, response)[: len(samples)], np.float32)


def _fitted(levels: FloatArray) -> FloatArray:
    out = np.full((FRAMES, BANDS), FLOOR_DB, np.float32)
    out[: len(levels)] = levels[:FRAMES]
    if len(levels) < FRAMES:
        out[len(levels) :] = np.quantile(levels, 0.05, axis=0)
    return out


def _equaliser(rng: np.random.Generator) -> FloatArray:
    """Random smooth gains (BANDS,) as factors on powers."""
    at = np.linspace(0.0, 1.0, BANDS)
    gain = rng.uniform(-1, 1) * (at - 0.5) * 2 + rng.uniform(-0.5, 0.5) * np.cos(
        np.pi * (rng.uniform(1.5, 4.0) * at + rng.uniform(0, 2))
    )
    return _ratio(EQUALISED_DB * gain)


def _power(powers: FloatArray) -> float:
    return max(float((powers * _WIDTHS).sum()), 1e-20)


def _ratio(decibels: npt.ArrayLike) -> FloatArray:
    return np.asarray(10 ** (np.asarray(decibels, np.float32) / 10), np.float32)


def _levels(powers: FloatArray) -> FloatArray:
    return np.asarray(10 * np.log10(powers + 10 ** (FLOOR_DB / 10)), np.float32)

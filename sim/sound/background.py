"""What else is heard in a flat: steady noise and, now and then, a sound from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from nsrecover.errors import InvalidConfiguration, require_known
from sim.sound.bodies import RATE_HZ, Array
from sim.sound.impacts import pascals, ring
from sim.sound.lasting import speech
from sim.sound.textures import Key, add, band, pulses, shaped_noise

LENGTH_S = (1.0, 4.0)
"""Shortest and longest distractor."""


@dataclass(frozen=True)
class Background:
    """Household noise at the microphone; nothing of it is in the list of events.

    Attributes:
        level_db: effective level of the steady noise (ventilation, traffic), dB re 20 µPa. Quiet flats have 25 to 35
            dB(A) (WHO, "Guidelines for community noise", 1999: at most 35 indoors by day).
        distractors_per_min: sounds from elsewhere a minute, on average.
        distractor_db: mean effective level of these; each differs by up to 6 dB.
        kinds: which ones, among `DISTRACTORS`; empty: all.
    """

    level_db: float = 32.0
    distractors_per_min: float = 0.0
    distractor_db: float = 45.0
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.distractors_per_min <= 60:
            raise InvalidConfiguration(f"expected distractors_per_min from 0 to 60, found {self.distractors_per_min:g}")
        for kind in self.kinds:
            require_known(kind, DISTRACTORS, "known distractors")

    def sound(self, first: int, samples: int, seed: int) -> Array:
        """A stretch of the background, (samples,) pascals at the microphone.

        Args:
            first: first sample since the beginning of the simulation; may be negative.
            samples: number of samples.
            seed: decides everything.
        """
        steady = shaped_noise(band(60.0, 600.0, 6.0, -5.0), (seed, 101), first, samples)
        out = steady * pascals(self.level_db)
        if self.distractors_per_min:
            every_s = 60.0 / self.distractors_per_min
            for begin, rng in pulses(every_s, 1.0, (seed, 102), first, samples, LENGTH_S[1]):
                self._add(out, begin, rng)
        return out

    def _add(self, out: Array, begin: int, rng: np.random.Generator) -> None:
        kind = str(rng.choice(self.kinds or tuple(DISTRACTORS)))
        length = int(rng.uniform(*LENGTH_S) * RATE_HZ)
        level = pascals(self.distractor_db + float(rng.uniform(-6.0, 6.0)))
        key = tuple(int(part) for part in rng.integers(2**32, size=2))
        low, high = max(0, -begin), min(length, len(out) - begin)
        if low < high:
            wave = DISTRACTORS[kind](low, high - low, key)
            time = np.arange(low, high) / RATE_HZ
            fade = np.clip(np.minimum(time, length / RATE_HZ - time) / 0.05, 0.0, 1.0)
            out[begin + low : begin + high] += level * fade * wave


def _voices(first: int, samples: int, key: Key) -> Array:
    """Someone talks in the next room."""
    return speech(110.0 + 20.0 * (key[0] % 6), first, samples, key, dull=True)


def _traffic(first: int, samples: int, key: Key) -> Array:
    """A car passes."""
    return shaped_noise(band(50.0, 350.0, 9.0), key, first, samples)


def _footsteps(first: int, samples: int, key: Key) -> Array:
    out = np.zeros(samples)
    for begin, rng in pulses(0.55, 0.08, key, first, samples, 0.3):
        pitch = np.array([62.0, 95.0, 148.0, 420.0]) * rng.uniform(0.9, 1.1, 4)
        step = ring(pitch, np.array([30.0, 38.0, 50.0, 120.0]), np.array([1.0, 0.8, 0.5, 0.15]), 4000)
        add(out, begin, float(rng.uniform(0.8, 1.2)) * step)
    return out / 0.173


def _clock(first: int, samples: int, key: Key) -> Array:
    out = np.zeros(samples)
    for begin, rng in pulses(0.5, 0.0, key, first, samples, 0.05):
        pitch = np.array([1500.0, 2700.0, 4400.0]) * rng.uniform(0.99, 1.01)
        add(out, begin, ring(pitch, np.full(3, 350.0), np.array([1.0, 0.8, 0.6]), 480))
    return out / 0.053


def _phone(first: int, samples: int, key: Key) -> Array:
    """Two tones that alternate 20 times a second, on for a second and off for a second."""
    time = np.arange(first, first + samples) / RATE_HZ
    pitch = np.where((time * 20).astype(int) % 2 == 0, 940.0, 1180.0)
    return np.asarray(2.0 * np.sin(2 * math.pi * pitch * time) * (time % 2.0 < 1.0))


def _rain(first: int, samples: int, key: Key) -> Array:
    """Rain and wind at the window."""
    return shaped_noise(band(900.0, 5000.0, 6.0, -2.0), key, first, samples)


DISTRACTORS: Mapping[str, Callable[[int, int, Key], Array]] = {
    "voices": _voices,
    "traffic": _traffic,
    "footsteps": _footsteps,
    "clock": _clock,
    "phone": _phone,
    "rain": _rain,
}
"""Name -> first sample, number of samples and seed to a waveform with an effective value of about 1."""

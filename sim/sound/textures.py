"""Building blocks of lasting sounds: shaped noise, hums, bubbles and crackles, for any stretch of time.

Every function takes the first sample and the number of samples, counted from the start of the sound, and gives the same
values for a sample whatever the stretch is: a recording can be made in pieces. All randomness follows from a key.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import scipy.fft

from sim.sound.bodies import RATE_HZ, Array

Counts = npt.NDArray[np.int64]
Key = tuple[int, ...]
"""Seed of one sound, or of one part of it."""

HOP = 8192
"""Samples from one block of noise to the next; blocks overlap by half."""
CELL = 4096
"""Samples of a cell: the small events that begin in it are drawn together."""
WATER = 1.5
"""Exponent of the distribution of bubble radii; van den Doel (2005) uses 1 to 2."""

FREQUENCIES_HZ: Array = scipy.fft.rfftfreq(2 * HOP, 1 / RATE_HZ)
_FADE = np.sin(math.pi * (np.arange(2 * HOP) + 0.5) / (2 * HOP)).astype(np.float32)

Shape = npt.NDArray[np.float32]
"""Relative amplitude at each of `FREQUENCIES_HZ`, with a mean power of 1."""


def shaped_noise(shape: Shape, key: Key, first: int, samples: int) -> Array:
    """Stationary noise with a spectrum and an effective value of 1, (samples,)."""
    out = np.zeros(samples)
    for block in range((first - 2 * HOP) // HOP + 1, (first + samples - 1) // HOP + 1):
        at = block * HOP - first
        low, high = max(at, 0), min(at + 2 * HOP, samples)
        if low < high:
            out[low:high] += _block(shape, (*key, block & 0xFFFFFFFF))[low - at : high - at]
    return out


def _block(shape: Shape, key: Key) -> npt.NDArray[np.float32]:
    """One faded block; sine fades of independent blocks that overlap by half keep the power constant."""
    rng = np.random.default_rng(key)
    drawn = rng.standard_normal((len(shape), 2), dtype=np.float32).view(np.complex64).ravel()
    noise: npt.NDArray[np.float32] = scipy.fft.irfft(drawn * shape, overwrite_x=True)
    return noise * _FADE


def shape_of(curve: Callable[[Array], Array]) -> Shape:
    """The spectrum whose amplitude is a function of the frequency."""
    amplitude = np.nan_to_num(curve(np.maximum(FREQUENCIES_HZ, 1.0)))
    amplitude[FREQUENCIES_HZ < 20.0] = 0.0
    # irfft divides by the 2 HOP samples; every frequency has a mirror image, and a draw the power 2
    power = float(2 * (2 * amplitude**2).sum() / (2 * HOP) ** 2)
    return np.asarray(amplitude / math.sqrt(power), np.float32)


@lru_cache(maxsize=128)
def band(low_hz: float, high_hz: float, slope_db: float = 12.0, tilt_db: float = 0.0) -> Shape:
    """A band of noise.

    Args:
        low_hz: its lower edge.
        high_hz: its upper edge.
        slope_db: how fast it falls outside, dB per octave.
        tilt_db: how it rises or falls inside, dB per octave.
    """

    def curve(f: Array) -> Array:
        outside = np.maximum(0.0, np.maximum(np.log2(low_hz / f), np.log2(f / high_hz)))
        return np.asarray(10 ** ((tilt_db * np.log2(f / low_hz) - slope_db * outside) / 20))

    return shape_of(curve)


def hum(
    base_hz: float, levels_db: tuple[float, ...], first: int, samples: int, key: Key, wander: float = 0.002
) -> Array:
    """Harmonics of a tone with an effective value of 1, (samples,); its pitch wanders slowly by a share."""
    rng = np.random.default_rng(key)
    amplitudes = 10 ** (np.array(levels_db) / 20)
    amplitudes *= math.sqrt(2 / float(amplitudes @ amplitudes))
    phases = rng.uniform(0, 2 * math.pi, len(levels_db))
    slow, start = float(rng.uniform(0.15, 0.5)), float(rng.uniform(0, 2 * math.pi))
    time = np.arange(first, first + samples) / RATE_HZ
    angle = 2 * math.pi * base_hz * time + base_hz * wander / slow * np.sin(2 * math.pi * slow * time + start)
    # powers of one rotation instead of one sine per harmonic
    turn = np.exp(1j * angle)
    out, power = np.zeros(samples), turn.copy()
    for amplitude, phase in zip(amplitudes, phases, strict=True):
        out += amplitude * (power * np.exp(1j * phase)).imag
        power *= turn
    return out


def bubbles(
    rate_hz: float, radii_m: tuple[float, float], key: Key, first: int, samples: int, rise: float = 0.1
) -> Array:
    """Bubbles in water (van den Doel 2005, "Physically based models for liquid sounds").

    A bubble of radius r sounds at 3/r Hz and decays with 0.13/r + 0.0072 r^-1.5 per second; its pitch rises as it comes
    up.

    Args:
        rate_hz: bubbles a second.
        radii_m: smallest and largest radius; the number of bubbles falls with r^-WATER.
        key: seed.
        first: first sample.
        samples: number of samples.
        rise: how much the pitch rises, as a multiple of the decay rate.

    Returns:
        (samples,) with an effective value of 1 on average.
    """
    quantiles = _radii((np.arange(64) + 0.5) / 64, radii_m)
    power = rate_hz * float(np.mean(quantiles**2 / (4 * _bubble_decay(quantiles))))
    out = np.zeros(samples)
    for at, rng in _cells(key, first, samples):
        count = int(rng.poisson(rate_hz * CELL / RATE_HZ))
        radii, begin = _radii(rng.uniform(size=count), radii_m), rng.integers(0, CELL, count)
        decay, amplitude = _bubble_decay(radii), radii * rng.choice([-1.0, 1.0], count)
        _scatter(out, at, begin, 3.0 / radii, decay, amplitude, rise)
    return np.asarray(out / math.sqrt(power))


def crackles(
    rate_hz: float, band_hz: tuple[float, float], decay_hz: tuple[float, float], key: Key, first: int, samples: int
) -> Array:
    """Short damped sines at random times, as of drops in hot oil, (samples,) with an effective value of 1 on average.

    Args:
        rate_hz: crackles a second.
        band_hz: lowest and highest frequency.
        decay_hz: slowest and fastest decay rate, 1/s.
        key: seed.
        first: first sample.
        samples: number of samples.
    """
    out, spread = np.zeros(samples), 0.5
    mean = math.log(decay_hz[1] / decay_hz[0]) / (decay_hz[1] - decay_hz[0])
    power = rate_hz * math.exp(2 * spread**2) * mean / 4
    for at, rng in _cells(key, first, samples):
        count = int(rng.poisson(rate_hz * CELL / RATE_HZ))
        frequency = band_hz[0] * (band_hz[1] / band_hz[0]) ** rng.uniform(size=count)
        amplitude = np.exp(spread * rng.standard_normal(count)) * rng.choice([-1.0, 1.0], count)
        begin = rng.integers(0, CELL, count)
        _scatter(out, at, begin, frequency, rng.uniform(*decay_hz, count), amplitude, 0.0)
    return np.asarray(out / math.sqrt(power))


def pulses(
    every_s: float, jitter: float, key: Key, first: int, samples: int, length_s: float
) -> Iterator[tuple[int, np.random.Generator]]:
    """Regular events that may be heard in a stretch.

    Args:
        every_s: time from one to the next, seconds.
        jitter: largest shift, as a share of that time.
        key: seed.
        first: first sample of the stretch.
        samples: of the stretch.
        length_s: how long one event is heard.

    Yields:
        Where each begins, relative to the first sample, and the random generator of the event.
    """
    step = every_s * RATE_HZ
    for number in range(
        max(0, math.floor((first - length_s * RATE_HZ) / step) - 1), math.ceil((first + samples) / step) + 1
    ):
        rng = np.random.default_rng((*key, number))
        begin = round((number + jitter * float(rng.uniform())) * step) - first
        if begin < samples:
            yield begin, rng


def add(out: Array, at: int, wave: Array) -> None:
    """Add a waveform to a stretch; what lies outside is cut off."""
    low, high = max(at, 0), min(at + len(wave), len(out))
    if low < high:
        out[low:high] += wave[low - at : high - at]


def _radii(share: Array, radii_m: tuple[float, float]) -> Array:
    """Quantiles of a power law with the exponent -WATER between two radii."""
    low, high = (radius ** (1 - WATER) for radius in radii_m)
    return np.asarray((low + share * (high - low)) ** (1 / (1 - WATER)))


def _bubble_decay(radii_m: Array) -> Array:
    return np.asarray(0.13 / radii_m + 0.0072 * radii_m**-1.5)


def _cells(key: Key, first: int, samples: int) -> Iterator[tuple[int, np.random.Generator]]:
    """Where the cells begin whose events may be heard in a stretch, and their random generators."""
    for cell in range(max(0, first // CELL - 1), (first + samples - 1) // CELL + 1):
        yield cell * CELL - first, np.random.default_rng((*key, cell))


def _scatter(out: Array, at: int, begin: Counts, frequency: Array, decay: Array, amplitude: Array, rise: float) -> None:
    """Add damped sines (K,) that begin at samples of the cell at `at`, in groups of similar length."""
    total = np.zeros(2 * CELL)
    length = np.minimum(CELL, np.ceil(math.log(100) / decay * RATE_HZ)).astype(int)
    for low, high in itertools.pairwise((0, 48, 96, 192, 384, 768, 1536, CELL)):
        chosen = np.flatnonzero((length > low) & (length <= high) & (frequency < 0.47 * RATE_HZ))
        if not len(chosen):
            continue
        time = (np.arange(high) / RATE_HZ).astype(np.float32)
        d, f = decay[chosen, None].astype(np.float32), frequency[chosen, None].astype(np.float32)
        angle = np.float32(2 * math.pi) * f * time
        if rise:
            angle *= 1 + np.float32(rise / 2) * d * time
        waves = amplitude[chosen, None].astype(np.float32) * np.exp(-d * time) * np.sin(angle)
        total += np.bincount((begin[chosen, None] + np.arange(high)).ravel(), waves.ravel(), 2 * CELL)
    add(out, at, total)

"""Sounds that no class of the simulator describes: what a sound model has to call unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, oaconvolve, sosfilt

from sim.sound.background import Background
from sim.sound.bodies import RATE_HZ
from sim.sound.examples import CLIP_S
from sim.sound.microphone import Microphone, record
from sim.sound.room import Room, late_response

Array = npt.NDArray[np.float64]
_SAMPLES = round(CLIP_S * RATE_HZ)
_TIME = np.arange(_SAMPLES) / RATE_HZ


def stranger(name: str, rng: np.random.Generator, snr_db: float) -> npt.NDArray[np.float32]:
    """A random recording (S,) of two seconds of a sound in a room with noise and background.

    Args:
        name: one of `STRANGERS`.
        rng: decides everything.
        snr_db: ratio of the mean powers of the sound and of everything else.
    """
    room = Room(reverberation_s=float(rng.uniform(0.3, 0.7)), seed=int(rng.integers(16)))
    dry = STRANGERS[name](rng)
    distance_m = float(rng.uniform(0.5, 2.0))
    heard = dry / distance_m + oaconvolve(dry, late_response(room))[:_SAMPLES]
    busy = Background(float(rng.uniform(25.0, 35.0)), float(rng.choice([0.0, 10.0])))
    noise, _ = record([], 10.0, 10.0 + CLIP_S, Microphone(background=busy, seed=int(rng.integers(2**31))))
    gain = math.sqrt(float(np.mean(noise**2)) / float(np.mean(heard**2))) * 10 ** (snr_db / 20)
    mixed = gain * heard + noise
    return np.asarray(mixed * (0.5 / np.abs(mixed).max()), np.float32)


def _siren(rng: np.random.Generator) -> Array:
    """Two tones that glide into each other."""
    low = rng.uniform(400, 600)
    pitch = low * (1 + rng.uniform(0.3, 0.8) * (0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(0.3, 2.5) * _TIME)))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE_HZ
    return np.asarray(np.sin(phase) + 0.5 * np.sin(2 * phase) + 0.3 * np.sin(3 * phase))


def _bark(rng: np.random.Generator) -> Array:
    """Short harmonic bursts whose pitch falls."""
    out, at = np.zeros(_SAMPLES), rng.uniform(0.1, 0.4)
    while at < 1.7:
        length = int(rng.uniform(0.12, 0.25) * RATE_HZ)
        time = np.arange(length) / RATE_HZ
        pitch = rng.uniform(350, 600) * (1 - 0.4 * time / time[-1])
        phase = 2 * np.pi * np.cumsum(pitch) / RATE_HZ
        wave = sum(np.sin(k * phase) / k**0.5 for k in range(1, 9)) + rng.normal(size=length)
        _add(out, at, np.asarray(wave) * np.sin(np.pi * time / time[-1]).clip(0.0) ** 0.5)
        at += rng.uniform(0.35, 0.7)
    return out


def _bird(rng: np.random.Generator) -> Array:
    """Chirps that glide quickly between 2 and 6 kHz."""
    out, at = np.zeros(_SAMPLES), rng.uniform(0.05, 0.3)
    while at < 1.8:
        length = int(rng.uniform(0.05, 0.2) * RATE_HZ)
        first, last = (float(hertz) for hertz in rng.uniform(2000, 6000, 2))
        pitch = np.linspace(first, last, length) + 300 * np.sin(
            2 * np.pi * rng.uniform(10, 40) * np.arange(length) / RATE_HZ
        )
        _add(out, at, np.sin(2 * np.pi * np.cumsum(pitch) / RATE_HZ) * np.hanning(length))
        at += rng.uniform(0.1, 0.4)
    return out


def _doorbell(rng: np.random.Generator) -> Array:
    """Two long bells, a third apart."""
    out, low = np.zeros(_SAMPLES), rng.uniform(450, 700)
    for at, pitch in ((rng.uniform(0.1, 0.4), low * 1.26), (rng.uniform(0.7, 1.0), low)):
        time = np.arange(int(1.2 * RATE_HZ)) / RATE_HZ
        wave = sum(a * np.sin(2 * np.pi * pitch * k * time) for k, a in ((1, 1.0), (2, 0.5), (3.01, 0.3)))
        _add(out, at, np.asarray(wave) * np.exp(-2.5 * time))
    return out


def _applause(rng: np.random.Generator) -> Array:
    """Many claps: short bursts of noise in a band."""
    noise = sosfilt(butter(2, (700, 2500), "bandpass", fs=RATE_HZ, output="sos"), rng.normal(size=400))
    clap = np.asarray(noise) * np.exp(-np.arange(400) / 60)
    out = np.zeros(_SAMPLES)
    for at in rng.uniform(0, 1.95, int(rng.integers(15, 60))):
        _add(out, float(at), clap * rng.uniform(0.3, 1.0))
    return out


def _guitar(rng: np.random.Generator) -> Array:
    """Plucked strings, as a delay line with losses (Karplus and Strong 1983)."""
    out, at = np.zeros(_SAMPLES), rng.uniform(0.05, 0.3)
    while at < 1.6:
        period = int(RATE_HZ / rng.uniform(110, 450))
        line = rng.uniform(-1, 1, period)
        wave = np.empty(int(0.8 * RATE_HZ))
        for begin in range(0, len(wave), period):
            part = min(period, len(wave) - begin)
            wave[begin : begin + part] = line[:part]
            line = 0.498 * (line + np.roll(line, 1))
        _add(out, at, wave)
        at += rng.uniform(0.2, 0.6)
    return out


def _saw(rng: np.random.Generator) -> Array:
    """Noise that swells back and forth while its pitch rises and falls."""
    stroke = np.sin(np.pi * _TIME * rng.uniform(2.0, 4.0) + rng.uniform(0, 3))
    teeth = 1 + 0.9 * np.sign(np.sin(2 * np.pi * np.cumsum(180 + 120 * np.abs(stroke)) / RATE_HZ))
    noise = sosfilt(butter(2, (900, 4500), "bandpass", fs=RATE_HZ, output="sos"), rng.normal(size=_SAMPLES))
    return np.asarray(np.abs(stroke) * teeth * noise)


def _baby(rng: np.random.Generator) -> Array:
    """Cries: many harmonics of a pitch that rises and falls, with vibrato."""
    out, at = np.zeros(_SAMPLES), rng.uniform(0.0, 0.2)
    while at < 1.6:
        length = int(rng.uniform(0.5, 0.9) * RATE_HZ)
        share = np.linspace(0, 1, length)
        pitch = rng.uniform(380, 520) * (1 + 0.25 * np.sin(np.pi * share)) * (
            1 + 0.02 * np.sin(2 * np.pi * 6.5 * share * length / RATE_HZ)
        )  # fmt: skip
        phase = 2 * np.pi * np.cumsum(pitch) / RATE_HZ
        wave = sum(np.sin(k * phase) * math.exp(-(((k * 450 - 1300) / 1200) ** 2)) for k in range(1, 12))
        _add(out, at, np.asarray(wave) * np.sin(np.pi * share).clip(0.0) ** 0.4)
        at += length / RATE_HZ + rng.uniform(0.1, 0.3)
    return out


def _horn(rng: np.random.Generator) -> Array:
    """The horn of a car: two notes with many harmonics, once or twice."""
    low = rng.uniform(330, 420)
    both = sum(np.sin(2 * np.pi * f * k * _TIME) / k**0.7 for f in (low, 1.26 * low) for k in range(1, 14))
    begin, length = rng.uniform(0.1, 0.4), rng.uniform(0.3, 1.2)
    return np.asarray(np.asarray(both) * ((begin < _TIME) & (begin + length > _TIME)))


def _cricket(rng: np.random.Generator) -> Array:
    """A high tone in quick pulses, in groups of three."""
    pulse, group = rng.uniform(25, 40), rng.uniform(1.5, 3.5)
    on = (np.sin(2 * np.pi * pulse * _TIME) > 0.2) & ((_TIME * group) % 1.0 < 3.0 * group / pulse)
    return np.asarray(np.sin(2 * np.pi * rng.uniform(3800, 5200) * _TIME) * on + 1e-3)


def _drum(rng: np.random.Generator) -> Array:
    """A bass drum and a snare drum in turns."""
    out, at, number = np.zeros(_SAMPLES), rng.uniform(0.0, 0.3), 0
    time = np.arange(int(0.3 * RATE_HZ)) / RATE_HZ
    while at < 1.8:
        bass = np.sin(2 * np.pi * (60 * time + 6 * (1 - np.exp(-time / 0.03)))) * np.exp(-12 * time)
        snare = rng.normal(size=len(time)) * np.exp(-18 * time)
        _add(out, at, 1.5 * bass if number % 2 == 0 else 0.5 * snare + 0.3 * bass)
        at, number = at + 60 / rng.uniform(150, 260), number + 1
    return out


def _whistle(rng: np.random.Generator) -> Array:
    """Someone whistles a few notes with vibrato and breath."""
    notes = rng.uniform(900, 2200, 8)[(_TIME * rng.uniform(2, 4)).astype(int) % 8]
    pitch = np.convolve(notes, np.ones(800) / 800, mode="same") * (1 + 0.012 * np.sin(2 * np.pi * 6 * _TIME))
    return np.asarray(np.sin(2 * np.pi * np.cumsum(pitch) / RATE_HZ) + 0.03 * rng.normal(size=_SAMPLES))


def _add(out: Array, at_s: float, wave: Array) -> None:
    begin = int(at_s * RATE_HZ)
    part = out[begin : begin + len(wave)]
    part += wave[: len(part)]


STRANGERS: Mapping[str, Callable[[np.random.Generator], Array]] = {
    "siren": _siren,
    "barking dog": _bark,
    "bird": _bird,
    "doorbell": _doorbell,
    "applause": _applause,
    "guitar": _guitar,
    "saw": _saw,
    "crying baby": _baby,
    "car horn": _horn,
    "cricket": _cricket,
    "drums": _drum,
    "whistling": _whistle,
}
"""Name -> a random waveform of two seconds."""
FRESH = frozenset({"car horn", "cricket", "drums", "whistling"})
"""Made after the training and its thresholds were settled; the others were looked at before."""

"""Sounds that last: liquids, appliances, motors, sliding and rolling, as pascals at a distance of 1 m.

The levels are those of a reference source at 1 m (`LEVELS_DB`); the strength of an event is a factor on the sound
pressure, except for sliding and rolling, whose strength is a power.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from sim.sound.bodies import RATE_HZ, Array, Body, Modes, modes_of
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.impacts import IMPEDANCE_PA_S_M, pascals, ring
from sim.sound.textures import Key, Shape, add, band, bubbles, crackles, hum, pulses, shape_of, shaped_noise

LEVELS_DB: Mapping[SoundKind, float] = {
    # Leventhall, "Household appliance noise" (1978): appliances of a kitchen have 40 to 90 dB(A); AcusLat, "Appliance
    # noise: how loud is your home?": fridges 40 to 43, microwaves 55 to 59. Speech at an ordinary volume has 60 dB (ISO
    # 9921). The others are chosen between these.
    SoundKind.RUNNING_WATER: 62.0,
    SoundKind.POURING: 52.0,
    SoundKind.BOILING: 54.0,
    SoundKind.SIZZLING: 55.0,
    SoundKind.MICROWAVE_HUM: 57.0,
    SoundKind.COFFEE_MACHINE: 66.0,
    SoundKind.FRIDGE_HUM: 41.0,
    SoundKind.TV: 60.0,
    SoundKind.ARM_MOTOR: 47.0,
    SoundKind.BASE_MOTOR: 55.0,
    SoundKind.DRAWER: 60.0,
    SoundKind.KNIFE: 58.0,
}
"""Effective level at 1 m of an event of strength 1, dB re 20 µPa."""
MAINS_HZ = 50.0
"""Frequency of the mains; transformers, pumps and compressors hum at its multiples."""
RUBBING = 5e-6
"""Share of the power of friction that becomes sound: a cube of 45 g pushed at 10 cm/s gives 45 dB at 1 m; chosen."""
ROLLING = 1.5e-5
"""The same of a rolling body, whose power is the normal force times the speed; chosen."""
RAMP_S = 0.02
"""Lasting sounds begin and end within this time."""

Sound = Callable[[SoundEvent, int, int, Key], Array]
"""Event, first sample after its start, number of samples, seed -> (samples,) with an effective value of about 1."""


def lasting(event: SoundEvent, first: int, samples: int, key: Key) -> Array:
    """A stretch of a lasting sound.

    Args:
        event: of a kind in `LASTING_SOUNDS`.
        first: first sample, counted from the start of the event; may be negative.
        samples: number of samples.
        key: seed.

    Returns:
        (samples,) pascals at 1 m; zero before the start and after the end.
    """
    sound = LASTING_SOUNDS[event.kind](event, first, samples, key)
    if event.kind in LEVELS_DB:
        sound *= event.strength * pascals(LEVELS_DB[event.kind])
    else:
        share = RUBBING if event.kind is SoundKind.SLIDE else ROLLING
        sound *= math.sqrt(share * event.strength * IMPEDANCE_PA_S_M / (2 * math.pi))
    time = np.arange(first, first + samples) / RATE_HZ
    return np.asarray(sound * np.clip(np.minimum(time, event.duration_s - time) / RAMP_S, 0.0, 1.0))


def _mixed(*parts: tuple[float, Array]) -> Array:
    """Independent sounds with relative effective values; the mixture has 1."""
    scale = math.sqrt(sum(weight**2 for weight, _ in parts))
    return np.asarray(sum(weight / scale * sound for weight, sound in parts))


def _seconds(first: int, samples: int) -> Array:
    return np.arange(first, first + samples) / RATE_HZ


def _running_water(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    rush = shaped_noise(band(500.0, 5000.0, 9.0, -2.0), (*key, 0), first, n)
    drum = shaped_noise(band(180.0, 420.0, 12.0), (*key, 1), first, n)
    drops = bubbles(260.0, (0.0006, 0.004), (*key, 2), first, n)
    return _mixed((1.0, rush), (0.35, drum), (0.55, drops))


def _pouring(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """A stream with bubbles in a vessel; its column of air, a quarter wave long, becomes shorter as it fills."""
    drops = bubbles(140.0, (0.001, 0.006), (*key, 0), first, n, rise=0.15)
    stream = shaped_noise(band(700.0, 4000.0, 8.0, -4.0), (*key, 1), first, n)
    vessel = event.bodies[-1] if event.bodies else None
    deep, wide = (0.10, 0.08) if vessel is None else (vessel.size_m[2], vessel.size_m[0])
    seconds = event.duration_s if math.isfinite(event.duration_s) else 10.0
    # the pitch follows from the height of the air, which falls from the whole depth to a fifth of it
    time = np.clip(_seconds(first, n), 0.0, seconds)
    slope = 0.8 * deep / seconds
    end = deep + 0.3 * wide
    turns = 343.0 / 4 / slope * -np.log1p(-slope * time / end)
    sway = shaped_noise(band(20.0, 60.0, 24.0), (*key, 2), first, n)
    swung = shaped_noise(band(20.0, 60.0, 24.0), (*key, 3), first, n)
    column = sway * np.cos(2 * math.pi * turns) + swung * np.sin(2 * math.pi * turns)
    return _mixed((1.0, drops), (0.35, stream), (1.2, column))


def _boiling(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    rumble = shaped_noise(band(90.0, 450.0, 10.0), (*key, 0), first, n)
    simmer = shaped_noise(band(600.0, 2200.0, 12.0, -3.0), (*key, 1), first, n)
    return _mixed((0.8, rumble), (0.3, simmer), (1.0, bubbles(110.0, (0.003, 0.012), (*key, 2), first, n, rise=0.2)))


def _sizzling(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    hiss = shaped_noise(band(2800.0, 7600.0, 10.0), (*key, 0), first, n)
    return _mixed((1.0, hiss), (0.8, crackles(70.0, (1800.0, 6800.0), (250.0, 1500.0), (*key, 1), first, n)))


def _microwave(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """Transformer, fan and the slow beat of the turntable."""
    tone = hum(2 * MAINS_HZ, (0.0, -4.0, -8.0, -7.0, -14.0, -18.0, -20.0), first, n, (*key, 0), wander=0.0005)
    fan = shaped_noise(band(250.0, 1600.0, 9.0, -3.0), (*key, 1), first, n)
    return _mixed((1.0, tone), (0.6, fan)) * (1 + 0.15 * np.sin(2 * math.pi * 0.4 * _seconds(first, n)))


def _coffee_machine(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """A vibrating pump, which beats at the frequency of the mains, and steam."""
    pump = hum(
        MAINS_HZ, (-6.0, 0.0, -3.0, -2.0, -6.0, -5.0, -8.0, -8.0, -11.0, -12.0, -14.0, -15.0), first, n, (*key, 0)
    )
    steam = shaped_noise(band(1500.0, 6500.0, 8.0), (*key, 1), first, n)
    return _mixed((1.0, pump), (0.45, steam))


def _fridge(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    tone = hum(MAINS_HZ, (-2.0, 0.0, -9.0, -7.0, -16.0, -15.0), first, n, (*key, 0), wander=0.001)
    return _mixed((1.0, tone), (0.35, shaped_noise(band(100.0, 500.0, 8.0, -4.0), (*key, 1), first, n)))


def _arm_motor(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """Gears whose pitch rises with the speed, over the hiss of the drives."""
    pitch = 380.0 * (0.5 + min(event.strength, 3.0))
    gear = hum(pitch, (-3.0, 0.0, -6.0, -9.0, -12.0), first, n, (*key, 0), wander=0.03)
    drive = hum(2.7 * pitch, (0.0, -10.0), first, n, (*key, 1), wander=0.02)
    hiss = shaped_noise(band(1500.0, 6000.0, 9.0), (*key, 2), first, n)
    return _mixed((1.0, gear), (0.5, drive), (0.45, hiss))


def _base_motor(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    pitch = 110.0 * (0.6 + min(event.strength, 2.0))
    motor = hum(pitch, (0.0, -3.0, -5.0, -10.0, -9.0, -14.0), first, n, (*key, 0), wander=0.02)
    wheels = shaped_noise(band(60.0, 350.0, 10.0), (*key, 1), first, n)
    beat = 1 + 0.5 * np.sin(2 * math.pi * 1.6 * min(event.strength, 2.0) * _seconds(first, n))
    return _mixed((0.8, motor), (1.0, wheels * beat / math.sqrt(1.125)))


def _drawer(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    rails = shaped_noise(band(250.0, 1800.0, 9.0, -2.0), (*key, 0), first, n)
    time = _seconds(first, n)
    rough = 1 + 0.4 * np.sin(2 * math.pi * 13.0 * time) + 0.3 * np.sin(2 * math.pi * 31.0 * time + 1.0)
    return _mixed((1.0, rails * rough / math.sqrt(1.125)), (0.5, hum(47.0, (0.0, -3.0, -6.0), first, n, (*key, 1))))


def _knife(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """A knock of the blade on the board after a short slice, 2.5 times a second."""
    slicing = shaped_noise(band(1200.0, 5500.0, 9.0), (*key, 0), first, n)
    open_, knocks = np.zeros(n), np.zeros(n)
    for begin, rng in pulses(0.4, 0.15, (*key, 1), first, n, 0.3):
        swell = np.sin(math.pi * np.arange(1600) / 1600) ** 2
        add(open_, begin, swell)
        pitch = np.array([310.0, 520.0, 840.0, 1330.0, 2900.0]) * rng.uniform(0.95, 1.05, 5)
        board = ring(pitch, np.array([45.0, 60.0, 80.0, 110.0, 60.0]), np.array([1.0, 0.8, 0.6, 0.4, 0.25]), 2400)
        add(knocks, begin + 1600, float(rng.uniform(0.7, 1.3)) * board)
    # 0.306 and 0.161: effective values of the two parts, over periods of 0.4 s
    return _mixed((0.5, slicing * open_ / 0.306), (1.0, knocks / 0.161))


def _tv(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    return speech(125.0, first, n, key)


def speech(pitch_hz: float, first: int, n: int, key: Key, dull: bool = False) -> Array:
    """Something like speech: syllables with harmonics under two formants, and hissing ones, (n,) effective value 1.

    Dull speech comes through a wall: it has no hissing, and high harmonics are weaker.
    """
    out = np.zeros(n)
    for begin, rng in pulses(0.21, 0.3, key, first, n, 0.35):
        if rng.uniform() < 0.18:
            continue  # a pause
        length = int(rng.uniform(0.12, 0.26) * RATE_HZ)
        if begin + length <= 0:
            continue
        time = np.arange(length) / RATE_HZ
        swell = np.sin(math.pi * np.arange(length) / length)
        if rng.uniform() < 0.2:
            hiss = rng.standard_normal(length)
            add(out, begin, (0.0 if dull else 0.25) * swell * np.diff(hiss, prepend=0.0))
            continue
        base = pitch_hz * rng.uniform(0.8, 1.3)
        vowel = np.array([rng.uniform(300.0, 800.0), rng.uniform(900.0, 2300.0), 2600.0])
        number = np.arange(1, int(3600 / base))
        near = np.exp(-0.5 * ((number[:, None] * base - vowel) / np.array([90.0, 140.0, 200.0])) ** 2)
        levels = near @ np.array([1.0, 0.5, 0.2]) + 0.05 / number
        if dull:
            levels /= 1 + (number * base / 500.0) ** 2
        turn = np.exp(2j * math.pi * (base * time + base * rng.uniform(-0.25, 0.25) * time**2))
        # Horner's scheme sums the harmonics without a sine for each
        total = np.zeros(length, complex)
        for level in levels[::-1]:
            total = (total + level) * turn
        add(out, begin, swell * total.imag / math.sqrt(float(levels @ levels) / 2))
    return np.asarray(out / 0.546)  # the effective value of this mixture of syllables and pauses


def _slide(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """Rough surfaces that rub: noise through the modes of both bodies, with slow changes."""
    noise = shaped_noise(_excited(event.bodies, 3500.0), (*key, 0), first, n)
    return _swaying(noise, 9.0, 0.35, first, n, key)


def _roll(event: SoundEvent, first: int, n: int, key: Key) -> Array:
    """The same with slower bumps, which come again with every turn."""
    noise = shaped_noise(_excited(event.bodies, 900.0), (*key, 0), first, n)
    return _swaying(noise, 3.2, 0.7, first, n, key)


def _swaying(noise: Array, rate_hz: float, depth: float, first: int, n: int, key: Key) -> Array:
    start = float(np.random.default_rng((*key, 1)).uniform(0, 2 * math.pi))
    sway = 1 + depth * np.sin(2 * math.pi * rate_hz * _seconds(first, n) + start)
    return np.asarray(noise * sway / math.sqrt(1 + depth**2 / 2))


@lru_cache(maxsize=64)
def _excited(bodies: tuple[Body, ...], fastest_hz: float) -> Shape:
    """Spectrum of bodies that are excited by noise up to a frequency: the resonances of their modes over a floor."""
    modes = [modes_of(body) for body in bodies]
    mobility = sum(each.mobility for each in modes if len(each)) or 1.0

    def curve(f: Array) -> Array:
        power = 0.15 / 2000.0 + sum(
            (each.mobility / mobility * _resonances(each, f) for each in modes), np.zeros(len(f))
        )
        return np.asarray(np.sqrt(power) / (1 + (f / fastest_hz) ** 2))

    return shape_of(curve)


def _resonances(modes: Modes, f: Array) -> Array:
    """Power spectrum of the modes under white noise: Lorentzian lines, one for each mode."""
    width = modes.decays_hz / (2 * math.pi)
    lines = width / ((f[:, None] - modes.frequencies_hz) ** 2 + width**2)
    return np.asarray(lines @ modes.weights)


LASTING_SOUNDS: Mapping[SoundKind, Sound] = {
    SoundKind.RUNNING_WATER: _running_water,
    SoundKind.POURING: _pouring,
    SoundKind.BOILING: _boiling,
    SoundKind.SIZZLING: _sizzling,
    SoundKind.MICROWAVE_HUM: _microwave,
    SoundKind.COFFEE_MACHINE: _coffee_machine,
    SoundKind.FRIDGE_HUM: _fridge,
    SoundKind.TV: _tv,
    SoundKind.ARM_MOTOR: _arm_motor,
    SoundKind.BASE_MOTOR: _base_motor,
    SoundKind.DRAWER: _drawer,
    SoundKind.KNIFE: _knife,
    SoundKind.SLIDE: _slide,
    SoundKind.ROLL: _roll,
}

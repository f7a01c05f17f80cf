"""Sounds that begin at once and fade out: impacts from their impulse, things that break, small mechanisms.

An impact with impulse J between bodies of reduced mass mu takes J² / (2 mu) of kinetic energy. A fixed share of it
becomes sound. It is divided between the modes of both bodies by their mobility; the pulse of the contact, whose length
follows from Hertz's law, excites only modes slower than itself. Waveforms are pascals at a distance of 1 m, from the
moment of the event on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sim.sound.bodies import RATE_HZ, SPEED_OF_SOUND_M_S, Array, Body, Material, Modes, Shape, modes_of
from sim.sound.events import SoundEvent, SoundKind

RADIATED = 1e-4
"""Share of the kinetic energy that becomes sound; chosen. A mug that lands with 1 m/s has a peak of 85 dB at 1 m then;
handled dishes have peaks above 80 dB ("Common transient sounds", The Hearing Review 1995)."""
CLICK = 0.05
"""Share of it that is not a ring but the click of the bodies' own deceleration; chosen."""
IMPEDANCE_PA_S_M = 413.0
"""Density of air times the speed of sound."""
LONGEST_S = 2.0
"""A ring is cut off then, and when it has fallen by 60 dB."""
REFERENCE_PA = 20e-6

_BLOCK = 64
_EGG = Body("shell", Material.SHELL, Shape.SOLID, (0.012, 0.010, 0.008), 0.002, 0.0004)


def pascals(level_db: float) -> float:
    """Effective sound pressure of a level, dB re 20 µPa."""
    return REFERENCE_PA * 10 ** (level_db / 20)


def ring(frequencies_hz: Array, decays_hz: Array, amplitudes: Array, samples: int) -> Array:
    """Sum of damped sines, (samples,): amplitude * exp(-decay t) * sin(2 pi f t)."""
    if not len(frequencies_hz) or samples <= 0:
        return np.zeros(max(samples, 0))
    step = (-decays_hz + 2j * math.pi * frequencies_hz) / RATE_HZ
    # every power is a coarse one times a fine one: much faster than a sine per sample; BLAS would start threads
    coarse = np.exp(np.outer(np.arange(0, samples, _BLOCK), step)) * amplitudes
    fine = np.exp(np.outer(step, np.arange(_BLOCK)))
    return np.asarray(np.einsum("im,mj->ij", coarse, fine).imag.ravel()[:samples])


def contact_time_s(impulse: float, bodies: tuple[Body, ...]) -> float:
    """Duration of the contact of an impact by Hertz's law (Johnson, "Contact Mechanics"): 2.87 (mu² / (R E² v))^(1/5).

    The radius of curvature R of a body is taken as a quarter of its smallest side.
    """
    mass = reduced_mass_kg(bodies)
    radius = 1 / sum(4 / min(body.size_m) for body in bodies)
    stiffness = 1 / sum((1 - 0.3**2) / body.properties.young_pa for body in bodies)
    speed = max(impulse / mass, 1e-3)
    return float(2.87 * (mass**2 / (radius * stiffness**2 * speed)) ** 0.2)


def reduced_mass_kg(bodies: tuple[Body, ...]) -> float:
    """Of one or two bodies, of which the first one is not fixed."""
    return 1 / sum(1 / body.mass_kg for body in bodies)


def impact(event: SoundEvent, rng: np.random.Generator) -> Array:
    """Two bodies hit each other, or one hits something that does not ring."""
    bodies = event.bodies
    energy = RADIATED * event.strength**2 / (2 * reduced_mass_kg(bodies))
    # energy (Pa² s) that passes 1 m away from a source on a surface
    energy *= IMPEDANCE_PA_S_M / (2 * math.pi)
    seconds = contact_time_s(event.strength, bodies)
    heard = [(body, modes_of(body)) for body in bodies]
    mobility = sum(modes.mobility for _, modes in heard if len(modes))
    waves = [_click(energy * CLICK, seconds, bodies[0])]
    for _, modes in heard:
        if len(modes):
            waves.append(_struck(modes, energy * (1 - CLICK) * modes.mobility / mobility, seconds, rng))
    return _sum(waves)


def _struck(modes: Modes, energy: float, seconds: float, rng: np.random.Generator) -> Array:
    """A body that is hit by a pulse of a length, at a random place."""
    # a damped sine of amplitude a has the energy a² / (4 d)
    # power spectrum of a half sine without its zeros
    excited = 1 / (1 + (2 * modes.frequencies_hz * seconds) ** 4)
    place = 2 * np.sin(rng.uniform(0, math.pi, len(modes))) ** 2
    amplitudes = np.sqrt(4 * modes.decays_hz * energy * modes.weights * excited * place)
    loud = amplitudes > 1e-3 * amplitudes.max(initial=1e-12)
    if not loud.any():
        return np.zeros(0)
    last = min(LONGEST_S, math.log(1000) / float(modes.decays_hz[loud].min()))
    return ring(modes.frequencies_hz[loud], modes.decays_hz[loud], amplitudes[loud], round(last * RATE_HZ))


def _click(energy: float, seconds: float, body: Body) -> Array:
    """The pressure pulse of a body that stops within a time: one period, the derivative of a half sine."""
    width = max(seconds, 2 / RATE_HZ)
    radius = max(body.size_m) / 2
    wave = (math.pi * radius / width / SPEED_OF_SOUND_M_S) ** 2
    time = np.arange(math.ceil(2 * width * RATE_HZ) + 2) / RATE_HZ
    pulse = np.where(time < 2 * width, np.sin(math.pi * time / width), 0.0)
    power = float(pulse @ pulse) / RATE_HZ
    return np.asarray(pulse * math.sqrt(energy * wave / (1 + wave) / power))


def _shatter(event: SoundEvent, rng: np.random.Generator) -> Array:
    """The impact, then its fragments: smaller bodies of the same material that fall within half a second."""
    body = event.bodies[0]
    waves = [impact(event, rng)]
    for _ in range(int(rng.integers(14, 24))):
        share = float(rng.uniform(0.02, 0.12))
        scale = math.sqrt(share)
        size = (body.size_m[0] * scale, body.size_m[1] * scale, body.size_m[2] * scale)
        shard = replace(body, shape=Shape.PLATE, size_m=size, mass_kg=body.mass_kg * share)
        part = replace(
            event, strength=event.strength * share * rng.uniform(0.5, 1.5), bodies=(shard, *event.bodies[1:])
        )
        waves.append(_after(abs(float(rng.normal(0.0, 0.18))), impact(part, rng)))
    return _sum(waves)


def _egg_crack(event: SoundEvent, rng: np.random.Generator) -> Array:
    """A knock and the small cracks that follow within 80 ms."""
    modes = modes_of(_EGG)
    waves = [_noise_burst(0.004, 900.0, rng)]
    for _ in range(int(rng.integers(6, 12))):
        amplitudes = rng.uniform(0.1, 0.6) * rng.uniform(0.2, 1.0, len(modes))
        crack = ring(modes.frequencies_hz, modes.decays_hz, amplitudes, 400) + _padded(
            _noise_burst(0.0015, 3500.0, rng) * rng.uniform(0.2, 0.8), 400
        )
        waves.append(_after(float(rng.exponential(0.03)), crack))
    return _peak(_sum(waves), 72.0, event.strength)


def _click_of_switch(event: SoundEvent, rng: np.random.Generator) -> Array:
    """The two stops of a small lever, some milliseconds apart."""
    pitch = np.array([1900.0, 3100.0, 4700.0, 6100.0]) * rng.uniform(0.85, 1.15, 4)
    snap = ring(pitch, np.full(4, 450.0), rng.uniform(0.4, 1.0, 4), 320)
    return _peak(_sum([snap, _after(float(rng.uniform(0.006, 0.02)), 0.6 * snap)]), 68.0, event.strength)


def _toaster_pop(event: SoundEvent, rng: np.random.Generator) -> Array:
    """A latch, a spring that jingles, and the carriage at its stop."""
    spring = np.array([620.0, 1340.0, 2150.0, 3280.0, 4690.0, 6030.0]) * rng.uniform(0.93, 1.07, 6)
    jingle = ring(spring, rng.uniform(14.0, 30.0, 6), rng.uniform(0.15, 0.5, 6), 6400)
    stop = ring(np.array([190.0, 310.0, 480.0]), np.array([50.0, 60.0, 80.0]), np.array([1.0, 0.7, 0.5]), 2400)
    return _peak(_sum([jingle, _after(0.06, stop), _after(0.075, 0.4 * stop)]), 82.0, event.strength)


def _fridge_door(event: SoundEvent, rng: np.random.Generator) -> Array:
    """A heavy, damped thump, and the air that the seal presses out."""
    pitch = np.array([58.0, 83.0, 121.0, 176.0, 262.0]) * rng.uniform(0.9, 1.1, 5)
    thump = ring(pitch, np.array([18.0, 22.0, 30.0, 40.0, 55.0]), np.array([1.0, 0.8, 0.6, 0.35, 0.2]), 6400)
    puff = _noise_burst(0.09, 700.0, rng) * 0.25
    rattle = _after(0.03, _noise_burst(0.02, 2600.0, rng) * 0.12)
    return _peak(_sum([puff, thump, rattle]), 78.0, event.strength)


def _beeps(event: SoundEvent, rng: np.random.Generator) -> Array:
    """Three tones of a piezo buzzer, half a second each with pauses of the same length."""
    time = np.arange(RATE_HZ // 2) / RATE_HZ
    pitch = 2048.0 * rng.uniform(0.97, 1.03)
    edge = np.minimum(1.0, np.minimum(time, time[::-1]) / 0.004)
    tone = edge * (np.sin(2 * math.pi * pitch * time) + 0.25 * np.sin(6 * math.pi * pitch * time))
    beeps = _sum([tone, _after(1.0, tone), _after(2.0, tone)])
    return np.asarray(beeps * math.sqrt(2) * pascals(62.0) * event.strength)


def _ding(event: SoundEvent, rng: np.random.Generator) -> Array:
    """A small bell: the ratios of a hemispherical shell (Fletcher and Rossing, chapter 21)."""
    pitch = 1750.0 * rng.uniform(0.92, 1.08) * np.array([1.0, 1.004, 2.44, 2.45, 4.1])
    bell = ring(pitch, np.array([3.5, 3.7, 7.0, 7.5, 14.0]), np.array([1.0, 0.8, 0.5, 0.4, 0.25]), 2 * RATE_HZ)
    return _peak(bell, 76.0, event.strength)


INSTANT_SOUNDS: Mapping[SoundKind, Callable[[SoundEvent, np.random.Generator], Array]] = {
    SoundKind.IMPACT: impact,
    SoundKind.SHATTER: _shatter,
    SoundKind.EGG_CRACK: _egg_crack,
    SoundKind.CLICK: _click_of_switch,
    SoundKind.TOASTER_POP: _toaster_pop,
    SoundKind.FRIDGE_DOOR: _fridge_door,
    SoundKind.MICROWAVE_BEEP: _beeps,
    SoundKind.MICROWAVE_DING: _ding,
}


def _noise_burst(seconds: float, centre_hz: float, rng: np.random.Generator) -> Array:
    """Noise around a frequency, one octave wide, that falls by 60 dB within four times its length; about 1 at first."""
    samples = round(4 * seconds * RATE_HZ)
    time = np.arange(samples) / RATE_HZ
    carriers = centre_hz * 2 ** rng.uniform(-0.5, 0.5, 12)
    return np.asarray(
        np.exp(-1.73 * time / seconds)
        * np.sin(2 * math.pi * np.outer(carriers, time) + rng.uniform(0, 2 * math.pi, (12, 1))).sum(0)
        / math.sqrt(6)
    )


def _peak(wave: Array, level_db: float, strength: float) -> Array:
    """A waveform scaled to a peak level at 1 m."""
    return np.asarray(wave * (pascals(level_db) * strength / np.abs(wave).max()))


def _after(seconds: float, wave: Array) -> Array:
    return np.concatenate([np.zeros(round(seconds * RATE_HZ)), wave])


def _padded(wave: Array, samples: int) -> Array:
    return np.concatenate([wave, np.zeros(max(0, samples - len(wave)))])[:samples]


def _sum(waves: list[Array]) -> Array:
    total = np.zeros(max(len(wave) for wave in waves))
    for wave in waves:
        total[: len(wave)] += wave
    return total

"""A microphone: events, room, background and its own errors become samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, oaconvolve, sosfilt

from nsrecover.errors import InvalidConfiguration
from sim.sound.background import Background
from sim.sound.bodies import RATE_HZ, Array
from sim.sound.events import INSTANT, SoundEvent
from sim.sound.impacts import INSTANT_SOUNDS, LONGEST_S, pascals
from sim.sound.lasting import lasting
from sim.sound.room import Room, Vector, late_response
from sim.sound.textures import add, band, shaped_noise

FULL_SCALE_PA = 6.0
"""Sound pressure of the sample value 1, a peak level of 110 dB; louder sounds are clipped."""
STEPS = 32_768
"""Samples are multiples of 1 / STEPS, as a converter with 16 bits gives them."""
_TAIL_S = LONGEST_S + 1.0
"""Instant sounds that began longer ago are over: the ring, or the fragments of what shattered."""
_HIGH_PASS = butter(2, 60.0, "highpass", fs=RATE_HZ, output="sos")


@dataclass(frozen=True)
class Microphone:
    """A microphone in a room.

    Attributes:
        position_m: where it is; a world that moves it gives another position with every recording.
        room: the room around it.
        background: what else is heard.
        noise_db: its own noise as a level, dB re 20 µPa. MEMS microphones have 29 to 33 dB(A).
        tilt_db: deviation of its frequency response, dB per octave around 1 kHz.
        snr_db: if given, background and noise are scaled together, so that the events of a recording are this much
            louder than they are; for data with a stated ratio. Recordings in pieces then do not fit together.
        seed: of noise, background and everything random in the sounds.
    """

    position_m: Vector = (0.0, 0.35, 0.6)
    room: Room = field(default_factory=Room)
    background: Background = field(default_factory=Background)
    noise_db: float = 30.0
    tilt_db: float = 0.0
    snr_db: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.position_m) != 3 or not all(map(math.isfinite, self.position_m)):
            raise InvalidConfiguration(f"expected the position of a microphone as x, y, z, found {self.position_m}")
        if self.seed < 0:
            raise InvalidConfiguration(f"expected a seed of at least 0, found {self.seed}")
        if not abs(self.tilt_db) <= 6:
            raise InvalidConfiguration(f"expected tilt_db from -6 to 6, found {self.tilt_db}")


def record(
    events: Iterable[SoundEvent],
    start_s: float,
    end_s: float,
    microphone: Microphone | None = None,
    position_m: Vector | None = None,
) -> tuple[npt.NDArray[np.float32], int]:
    """Record events with a microphone.

    Recordings of adjacent times fit together: what began earlier and still sounds is heard, and noise goes on.

    Args:
        events: what makes sounds, in any order.
        start_s: begin of the recording, seconds of simulated time.
        end_s: its end.
        microphone: None: the default one.
        position_m: where it is now; None: its own position.

    Returns:
        Samples (S,) float32 from -1 to 1, multiples of 1 / `STEPS`, and their rate in hertz.

    Raises:
        InvalidConfiguration: the end is before the start.
    """
    if not (math.isfinite(start_s) and math.isfinite(end_s) and start_s <= end_s):
        raise InvalidConfiguration(f"expected a recording from one time to a later one, found {start_s} s to {end_s} s")
    microphone = microphone or Microphone()
    first, last = round(start_s * RATE_HZ), round(end_s * RATE_HZ)
    if first == last:
        return np.zeros(0, np.float32), RATE_HZ
    # earlier sound that is still in the room
    lead = round(microphone.room.reverberation_s * RATE_HZ) + RATE_HZ // 10
    begin, samples = first - lead, last - first + lead
    heard = events_at(events, begin, samples, microphone, position_m or microphone.position_m)
    rest = microphone.background.sound(begin, samples, microphone.seed)
    rest += shaped_noise(band(20.0, 8000.0), (microphone.seed, 103), begin, samples) * pascals(microphone.noise_db)
    if microphone.snr_db is not None:
        power = float(np.mean(heard[lead:] ** 2))
        if power > 0:
            rest *= math.sqrt(power / float(np.mean(rest[lead:] ** 2))) * 10 ** (-microphone.snr_db / 20)
    total = _response(heard + rest, microphone.tilt_db)[lead:]
    steps = np.rint(total * (STEPS / FULL_SCALE_PA)).clip(-STEPS, STEPS - 1)
    return (steps / STEPS).astype(np.float32), RATE_HZ


def events_at(
    events: Iterable[SoundEvent], first: int, samples: int, microphone: Microphone, position_m: Vector
) -> Array:
    """The sound of the events alone at a position in the room, without noise, (samples,) pascals."""
    direct, sent = np.zeros(samples), np.zeros(samples)
    late = late_response(microphone.room)
    heard = False
    for event in sorted(events, key=lambda event: (event.start_s, event.key)):
        at, wave = _waveform(event, first, samples, microphone.seed)
        if not len(wave):
            continue
        heard = True
        add(sent, at, wave)
        for delay, gain in microphone.room.arrivals(event.position_m, position_m):
            add(direct, at + delay, gain * wave)
    return direct + oaconvolve(sent, late)[:samples] if heard and len(late) else direct


def _waveform(event: SoundEvent, first: int, samples: int, seed: int) -> tuple[int, Array]:
    """Where the sound of an event at 1 m begins in a stretch, and the sound; empty if it is not heard in it."""
    at, key = round(event.start_s * RATE_HZ) - first, (seed, event.key)
    if at >= samples or at + (audible(event) - event.start_s) * RATE_HZ <= 0:
        return at, np.zeros(0)
    if event.kind in INSTANT:
        return at, INSTANT_SOUNDS[event.kind](event, np.random.default_rng(key))
    low = max(at, 0)
    high = samples if math.isinf(event.duration_s) else min(samples, math.ceil(at + event.duration_s * RATE_HZ))
    return low, lasting(event, low - at, max(0, high - low), key)


def audible(event: SoundEvent) -> float:
    """When an event can be heard no longer, seconds: its end and, for instant kinds, their longest ring."""
    return event.end_s + (_TAIL_S if event.kind in INSTANT else 0.0)


def _response(sound: Array, tilt_db: float) -> Array:
    """Frequency response of a microphone: little sound below 60 Hz, and a tilt."""
    sound = np.asarray(sosfilt(_HIGH_PASS, sound))
    if tilt_db:
        length = 1 << len(sound).bit_length()
        octaves = np.log2(np.maximum(np.fft.rfftfreq(length, 1 / RATE_HZ), 60.0) / 1000.0)
        sound = np.fft.irfft(np.fft.rfft(sound, length) * 10 ** (tilt_db * octaves / 20), length)[: len(sound)]
    return np.asarray(sound)

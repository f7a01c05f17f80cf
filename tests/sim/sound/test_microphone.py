"""Recordings: onsets, distances, the room, noise, pieces, speed."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sim.sound.background import Background
from sim.sound.bodies import RATE_HZ, SPEED_OF_SOUND_M_S, Body, Material, Shape
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.microphone import FULL_SCALE_PA, STEPS, Microphone, record
from sim.sound.room import Room, late_response

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.2, 1.2, 0.03), thickness_m=0.03)
FALL = SoundEvent(SoundKind.IMPACT, 0.5, strength=0.3, bodies=(MUG, TABLE), position_m=(0.5, 0.0, 0.0))
BOIL = SoundEvent(SoundKind.BOILING, 0.2, 5.0, position_m=(0.7, 0.5, 0.1))
FRIDGE = SoundEvent(SoundKind.FRIDGE_HUM, 0.0, math.inf, position_m=(-1.0, 1.0, 0.0))
OUTDOORS = Room(reverberation_s=0.0)
QUIET = Microphone(room=OUTDOORS, background=Background(level_db=-20.0), noise_db=-20.0)
BUSY = Microphone(background=Background(distractors_per_min=40.0))


def _level(samples):
    return 20 * math.log10(np.sqrt(np.mean(np.square(samples * FULL_SCALE_PA))) / 20e-6)


@pytest.mark.parametrize("microphone", [Microphone(), BUSY])
def test_in_a_room_with_noise_the_onset_is_within_two_milliseconds(microphone):
    samples, rate = record([FALL, FRIDGE], 0.0, 1.5, microphone)
    first = np.argmax(np.abs(samples) > 0.2 * np.abs(samples).max()) / rate
    assert 0.5 < first < 0.5 + math.dist(FALL.position_m, microphone.position_m) / SPEED_OF_SOUND_M_S + 0.002


def test_outdoors_twice_the_distance_is_six_decibels_less():
    levels = [
        _level(record([replace(BOIL, strength=10.0)], 1.0, 3.0, QUIET, (0.7 + distance, 0.5, 0.1))[0])
        for distance in (1.0, 2.0, 4.0)
    ]
    assert np.diff(levels) == pytest.approx([-6.02, -6.02], abs=0.3)


@pytest.mark.parametrize("seconds", [0.3, 0.6, 1.0])
def test_the_late_sound_fades_within_the_reverberation_time(seconds):
    late = late_response(Room(reverberation_s=seconds)).astype(float)
    spectrum = np.fft.rfft(late)
    spectrum[np.fft.rfftfreq(len(late), 1 / RATE_HZ) > 2000] = 0  # above 3 kHz it fades faster
    remaining = np.cumsum(np.fft.irfft(spectrum, len(late))[::-1] ** 2)[::-1]
    decibels = 10 * np.log10(remaining / remaining[0])
    # from -5 to -25 dB, as ISO 3382 evaluates it
    begin, end = np.argmax(decibels < -5), np.argmax(decibels < -25)
    assert 3 * (end - begin) / RATE_HZ == pytest.approx(seconds, rel=0.2)


def test_pieces_fit_together_and_the_order_of_the_events_does_not_matter():
    events = [FALL, BOIL, FRIDGE]
    whole, _ = record(events, 0.0, 3.0, BUSY)
    pieces = [record(events[::-1], at, at + 0.5, BUSY)[0] for at in np.arange(0.0, 3.0, 0.5)]
    assert len(whole) == 3 * RATE_HZ
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1.01 / STEPS)

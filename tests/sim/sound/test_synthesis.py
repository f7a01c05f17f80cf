"""Waveforms: energies and levels, spectra of materials, pieces that fit together."""

import math

import numpy as np
import pytest

from sim.sound.bodies import RATE_HZ, Body, Material, Shape
from sim.sound.events import CONTACT, SoundEvent
from sim.sound.impacts import INSTANT_SOUNDS
from sim.sound.lasting import LASTING_SOUNDS, LEVELS_DB, lasting

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.2, 1.2, 0.03), thickness_m=0.03)
LASTING = sorted(LASTING_SOUNDS)


def _event(kind, duration_s=20.0):
    bodies = (MUG, TABLE) if kind in CONTACT else ()
    return SoundEvent(kind, 0.0, duration_s, 0.05 if kind in CONTACT else 1.0, bodies)


@pytest.mark.parametrize("kind", sorted(INSTANT_SOUNDS))
def test_instant_sounds_are_deterministic_begin_at_once_and_end(kind):
    event = SoundEvent(kind, 0.0, strength=0.3, bodies=(MUG, TABLE) if kind in CONTACT else ())
    wave, again = (INSTANT_SOUNDS[kind](event, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(wave, again)
    assert not np.array_equal(wave[:50], INSTANT_SOUNDS[kind](event, np.random.default_rng(6))[:50])
    loud = np.abs(wave) > 0.02 * np.abs(wave).max()
    assert np.argmax(loud) < 0.005 * RATE_HZ
    assert np.abs(wave[-3:]).max() < 0.06 * np.abs(wave).max()


@pytest.mark.parametrize("kind", sorted(LEVELS_DB))
def test_lasting_sounds_have_their_level(kind):
    wave = lasting(_event(kind), 0, 20 * RATE_HZ, (0, 1))
    assert 20 * math.log10(np.sqrt(np.mean(wave**2)) / 20e-6) == pytest.approx(LEVELS_DB[kind], abs=1.5)


@pytest.mark.parametrize("kind", LASTING)
def test_pieces_of_a_lasting_sound_fit_together(kind):
    event = _event(kind, 1.7)
    whole = lasting(event, -1000, 2 * RATE_HZ, (0, 1))
    pieces = [lasting(event, first, 4000, (0, 1)) for first in range(-1000, 2 * RATE_HZ - 1000, 4000)]
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1e-9 * np.abs(whole).max())
    assert not whole[:1000].any()
    assert not whole[1000 + math.ceil(1.7 * RATE_HZ) :].any()
    assert whole.any()
    assert not np.allclose(lasting(event, 0, RATE_HZ, (1, 1)), lasting(event, 0, RATE_HZ, (0, 1)))

"""Waveforms: energies and levels, spectra of materials, pieces that fit together."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sim.sound.bodies import RATE_HZ, Body, Material, Shape
from sim.sound.events import CONTACT, SoundEvent, SoundKind
from sim.sound.impacts import IMPEDANCE_PA_S_M, INSTANT_SOUNDS, RADIATED, contact_time_s, impact, ring
from sim.sound.lasting import LASTING_SOUNDS, LEVELS_DB, lasting

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.2, 1.2, 0.03), thickness_m=0.03)
FALL = SoundEvent(SoundKind.IMPACT, 0.0, strength=0.3, bodies=(MUG, TABLE))
LASTING = sorted(LASTING_SOUNDS)


def _event(kind, duration_s=20.0):
    bodies = (MUG, TABLE) if kind in CONTACT else ()
    return SoundEvent(kind, 0.0, duration_s, 0.05 if kind in CONTACT else 1.0, bodies)


def _energy(event, seeds=20):
    return np.mean([np.sum(impact(event, np.random.default_rng(seed)) ** 2) / RATE_HZ for seed in range(seeds)])


def _bands(wave):
    """Share of the power in thirds of octaves from 60 Hz to 8 kHz."""
    power = np.abs(np.fft.rfft(wave)) ** 2
    edges = np.geomspace(60.0, 8000.0, 22)
    sums, _ = np.histogram(np.fft.rfftfreq(len(wave), 1 / RATE_HZ), edges, weights=power)
    return sums / sums.sum()


def test_a_ring_is_a_sum_of_damped_sines():
    time = np.arange(1000) / RATE_HZ
    direct = 2 * np.exp(-30 * time) * np.sin(2 * math.pi * 440 * time) + np.exp(-90 * time) * np.sin(
        2 * math.pi * 1234 * time
    )
    found = ring(np.array([440.0, 1234.0]), np.array([30.0, 90.0]), np.array([2.0, 1.0]), 1000)
    np.testing.assert_allclose(found, direct, atol=1e-9)


def test_the_energy_of_an_impact_is_the_radiated_share_of_the_kinetic_energy():
    kinetic = FALL.strength**2 / (2 * MUG.mass_kg)
    most = RADIATED * kinetic * IMPEDANCE_PA_S_M / (2 * math.pi)
    assert 0.02 * most < _energy(FALL) < most


def test_an_impact_of_twice_the_impulse_has_about_four_times_the_energy():
    """A little more, because a faster contact is shorter and excites higher modes."""
    assert 4.0 <= _energy(replace(FALL, strength=0.6)) / _energy(FALL) < 6.0


def test_a_soft_body_makes_a_long_contact_and_a_dull_sound():
    tomato = Body("tomato", Material.FOOD, Shape.SOLID, (0.064, 0.064, 0.056), 0.12)
    assert contact_time_s(0.3, (tomato, TABLE)) > 5 * contact_time_s(0.3, (MUG, TABLE))
    soft = impact(replace(FALL, bodies=(tomato, TABLE)), np.random.default_rng(1))
    hard = impact(FALL, np.random.default_rng(1))
    high = slice(9, None)  # from 500 Hz on
    assert _bands(soft)[high].sum() < 0.3 < 0.7 < _bands(hard)[high].sum()


def test_the_same_vessel_sounds_different_in_every_material():
    bands = {
        material: np.mean(
            [_bands(impact(replace(FALL, bodies=(replace(MUG, material=material), TABLE)), np.random.default_rng(seed)))
             for seed in range(10)], axis=0)
        for material in (Material.METAL, Material.CERAMIC, Material.GLASS, Material.PLASTIC, Material.FOOD)
    }  # fmt: skip
    lengths = {
        material: len(impact(replace(FALL, bodies=(replace(MUG, material=material),)), np.random.default_rng(0)))
        for material in bands
    }
    for one, other in combinations(bands, 2):
        distance = 0.5 * np.abs(bands[one] - bands[other]).sum()
        longer = max(lengths[one], lengths[other]) / min(lengths[one], lengths[other])
        assert distance > 0.25 or longer > 1.3, (one, other, distance, longer)


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


@pytest.mark.parametrize("kind", LASTING)
def test_a_stronger_event_is_louder(kind):
    weak, strong = _event(kind, 3.0), replace(_event(kind, 3.0), strength=4 * _event(kind).strength)
    powers = [np.mean(lasting(event, 0, 3 * RATE_HZ, (0, 1)) ** 2) for event in (weak, strong)]
    # sliding and rolling: the strength is a power; all others: a factor on the pressure
    assert powers[1] / powers[0] == pytest.approx(4 if kind in CONTACT else 16, rel=0.3)


def test_lasting_sounds_can_be_told_apart_by_their_spectra():
    bands = {kind: _bands(lasting(_event(kind), 0, 10 * RATE_HZ, (0, 1))) for kind in LASTING}
    for one, other in combinations(LASTING, 2):
        assert 0.5 * np.abs(bands[one] - bands[other]).sum() > 0.1, (one, other)


def test_the_pitch_of_a_vessel_rises_while_it_fills():
    glass = Body("glass", Material.GLASS, Shape.HOLLOW, (0.066, 0.066, 0.11), 0.22)
    event = SoundEvent(SoundKind.POURING, 0.0, 4.0, bodies=(glass,))
    ratios = []
    for first in (0, 3 * RATE_HZ):
        waves = [lasting(event, first, RATE_HZ, (seed, 1)) for seed in range(8)]
        power = np.mean([np.abs(np.fft.rfft(wave)) ** 2 for wave in waves], axis=0)
        ratios.append(power[1300:2100].sum() / power[620:900].sum())
    assert ratios[1] > 4 * ratios[0]

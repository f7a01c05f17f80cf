"""The laws as functions: volumes against numerical integrals, heat against energy, thresholds on both sides."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.kitchen import laws
from sim.kitchen.states import ROOM_C, ObjectState
from sim.kitchen.things import Material

POT_W_K = laws.loss_w_k(0.085, 0.100)
WATER = ObjectState(liquid="water", volume_l=0.3)


def _integrated(radius: float, height: float, tilt: float) -> float:
    """The same volume by a sum over the floor of the cylinder."""
    grid = np.linspace(-radius, radius, 601)
    x, y = np.meshgrid(grid, grid)
    inside = x**2 + y**2 <= radius**2
    depth = np.clip(height - (radius - x) * math.tan(tilt), 0.0, height)
    return float((depth * inside).sum() * (grid[1] - grid[0]) ** 2 * 1000.0)


@settings(deadline=None, max_examples=60)
@given(st.floats(0.02, 0.12), st.floats(0.02, 0.2), st.floats(0.0, 1.5))
def test_what_a_tilted_vessel_holds(radius: float, height: float, tilt: float) -> None:
    assert laws.held_volume_l(radius, height, tilt) == pytest.approx(
        _integrated(radius, height, tilt), rel=0.02, abs=2e-3 * radius * radius * height * 1000
    )


def test_pouring_keeps_the_amount() -> None:
    state, total = WATER, 0.0
    for _ in range(200):
        state, out = laws.poured(state, 0.0, 0.05)
        total += out
    assert total == pytest.approx(0.3)
    assert state.volume_l == 0.0
    assert state.liquid == ""


def test_a_mixture_is_called_by_its_larger_part_and_has_the_mean_temperature() -> None:
    hot = ObjectState(liquid="coffee", volume_l=0.1, temperature_c=80.0)
    mixed = laws.received(hot, "water", 0.3, 20.0, 1.0)
    assert mixed.liquid == "water"
    assert mixed.temperature_c == pytest.approx((0.1 * 80 + 0.3 * 20) / 0.4)


def test_half_a_litre_boils_within_seconds_and_not_above_100_degrees() -> None:
    capacity = laws.heat_capacity(Material.METAL, 0.8, 0.5)
    state, seconds = ObjectState(liquid="water", volume_l=0.5), 0.0
    while not laws.is_boiling(state):
        state = laws.heated(state, laws.BURNER_W, capacity, POT_W_K, 0.05, ROOM_C)
        seconds += 0.05
    assert 4.0 < seconds < 10.0
    assert laws.heated(state, laws.BURNER_W, capacity, POT_W_K, 60.0, ROOM_C).temperature_c == laws.BOILING_C


def test_food_cooks_only_when_hot_and_burns_in_the_end() -> None:
    cold, hot = ObjectState(temperature_c=60.0), ObjectState(temperature_c=95.0)
    assert laws.cooks(cold, "egg", 60.0).cooked == 0.0
    assert 0.5 < laws.cooks(hot, "egg", 3.0).cooked < 1.0
    assert laws.cooks(hot, "egg", 60.0).cooked == 1.0, "wet food does not burn"
    assert laws.cooks(replace(hot, temperature_c=180.0), "egg", 60.0).cooked == 2.0
    assert laws.cooks(hot, "mug", 60.0) == hot

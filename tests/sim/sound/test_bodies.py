"""Modes of bodies: frequencies of textbook formulas, decays of the materials, errors."""

import math
from dataclasses import replace

import pytest

from nsrecover.errors import InvalidConfiguration
from sim.sound.bodies import Body, Material, Shape, modes_of

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.2, 0.8, 0.03), thickness_m=0.03)


def test_the_lowest_mode_of_a_plate_is_that_of_the_formula():
    speed = math.sqrt(11e9 / 700 / (1 - 0.3**2))
    first = math.pi / 2 * speed * 0.03 / math.sqrt(12) * (1 / 1.2**2 + 1 / 0.8**2)
    assert modes_of(TABLE).frequencies_hz[0] == pytest.approx(first)


def test_materials_ring_in_the_order_that_listeners_tell_them_by():
    rings = [
        modes_of(replace(MUG, material=material)).decays_hz[0]
        for material in (Material.METAL, Material.GLASS, Material.CERAMIC, Material.WOOD, Material.RUBBER)
    ]
    assert rings == sorted(rings)
    assert rings[-1] > 10 * rings[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"material": "ceramics"}, "found 'ceramics'. Did you mean 'ceramic'"),
        ({"shape": "holow"}, "Did you mean 'hollow'"),
        ({"size_m": (0.1, 0.1, 0.0)}, "three sides and a thickness of 'mug' above 0"),
        ({"size_m": (0.1, 0.1)}, "three sides"),
        ({"thickness_m": math.nan}, "a thickness"),
        ({"mass_kg": 0.0}, "a mass of 'mug' above 0 kg"),
    ],
)
def test_unusable_bodies_are_refused(changes, said):
    with pytest.raises(InvalidConfiguration, match=said):
        replace(MUG, **changes)

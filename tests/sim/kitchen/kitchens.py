"""Small kitchens for tests: layout 0 with things at chosen places."""

from dataclasses import replace

import numpy as np

from nsrecover.core import Plan
from sim.kitchen.scenes import KitchenSpec, ThingSpec, sample_kitchen
from sim.kitchen.states import ObjectState
from sim.kitchen.things import kind_of
from sim.kitchen.world import KitchenWorld

LAYOUT = 0
CLEAN = ObjectState()


def kitchen(*things: tuple[str, str, tuple[float, float], float, ObjectState]) -> KitchenSpec:
    """Layout 0 with things at places on fixtures: kind, fixture, x and y from the place's centre, yaw, state.

    The yaw is relative to the fixture: 180 degrees point away from a robot in front of it.
    """
    empty = replace(sample_kitchen(0, LAYOUT), things=())
    specs = []
    for name, where, (x, y), yaw, state in things:
        fixture = empty.fixture(where)
        centre = fixture.places[0].centre
        spot = fixture.to_world([centre[0] + x, centre[1] + y, centre[2]])
        kind = kind_of(name)
        specs.append(
            ThingSpec(name, kind, kind.colours[0], where, tuple(spot.tolist()), fixture.yaw + np.radians(yaw), state)
        )
    return replace(empty, things=tuple(specs))


def _largest() -> str:
    tops = [one for one in sample_kitchen(0, LAYOUT).fixtures if one.kind == "countertop"]
    return max(tops, key=lambda one: one.places[0].half[1]).name


TOP = _largest()
"""The largest worktop."""


def carry_out(world: KitchenWorld, plan: str) -> None:
    """Carry out a plan of which every action is to succeed."""
    for action in Plan.parse(plan):
        world.execute(action)
        assert world.failures[-1] == "", f"{action}: {world.cell.log}"

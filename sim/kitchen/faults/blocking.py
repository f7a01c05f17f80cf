"""Execution failures because of where things are: in the way, in the place of another one, or out of reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.household.kinds import Trait, traits_of
from sim.kitchen.faults.base import FaultClass, OfOne
from sim.kitchen.faults.choosing import bystanders, centre_of, free_things, one_of, picked_later, rounded, stands
from sim.kitchen.faults.moment import Moment
from sim.kitchen.floor_plan import FloorPlan
from sim.kitchen.person import Person
from sim.kitchen.scenes import KitchenSpec
from sim.kitchen.shapes import Vector
from sim.kitchen.things import Form

_BESIDE_M = 0.012
"""Between a thing and what is put in front of it."""
_TALL_M = 0.08
"""Least height of what is put in front of something: a hand reaches over what is lower."""
_FROM_WALL_M = 0.35
"""Between a thing on the floor and furniture."""
_TRIES = 60


@dataclass(frozen=True)
class PutFault(OfOne, fault_class=FaultClass.EXECUTION):
    """After an action, a person puts a thing somewhere.

    Attributes:
        bottom: where the middle of its bottom is put, metres.
    """

    bottom: Vector

    def after(self, person: Person, action: Action) -> None:
        """Put it there."""
        person.carry(self.name, self.bottom)


@dataclass(frozen=True)
class Blocked(PutFault, meaning="something stands on top or in front of what the robot has to take"):
    """Something is put on top or in front of what a later action takes, so that no hand gets there.

    Attributes:
        later: number of that action.
    """

    later: int

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A wide vessel on top of a narrow one or of bread; otherwise something tall in front."""
        after, free = moment.after, free_things(moment)
        if after.held:
            return None
        options = [
            (number, target, name)
            for number, target in picked_later(moment)
            if target in free
            for name in bystanders(moment)
            if name != target and after.things[name].kind.form is Form.VESSEL
        ]
        option = one_of(rng, options)
        if option is None:
            return None
        number, target, name = option
        kind, other = after.things[target].kind, after.things[name].kind
        x, y, z = after.things[target].position
        flat = kind.form is Form.LOAF or (kind.form is Form.VESSEL and other.radius_m > 1.2 * kind.radius_m)
        if flat:
            return cls(moment.step, name, rounded((x, y, z + kind.height_m)), number)
        if other.height_m < _TALL_M:
            return None
        # in front of it is where the robot comes from
        fixture = next(one for one in moment.spec.fixtures if one.name == after.things[target].place)
        out = fixture.rotation()[:, 0]
        distance = kind.radius_m + other.radius_m + _BESIDE_M
        return cls(moment.step, name, rounded((x + distance * out[0], y + distance * out[1], z)), number)

    def prevents(self, plan: Plan) -> Action | None:
        """Taking what it stands on or in front of."""
        return plan[self.later]


@dataclass(frozen=True)
class Occupied(PutFault, meaning="something stands where the robot has to put a thing"):
    """Something is put where a later action puts something, and there is room for one thing only."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A burner, a coffee machine or an open microwave that is free and needed later."""
        after = moment.after
        full = {fact[2] for fact in after.facts if fact[0] in ("at", "atop")}
        fixtures = {one.name: one for one in moment.spec.fixtures}
        targets = {
            action.arguments[1]
            for action in moment.rest
            if action.operator in ("put_in", "put_on") and action.arguments[1] in fixtures
        }
        options = [
            (name, target)
            for target in sorted(targets - full - moment.taken)
            if Trait.ONE_PLACE in traits_of(fixtures[target].kind)
            and Trait.FIXTURE in traits_of(fixtures[target].kind)
            and fixtures[target].places
            and (fixtures[target].door is None or after.states[target].open)
            for name in bystanders(moment)
            if stands(after.things[name].kind)
            and after.things[name].kind.height_m < fixtures[target].places[0].headroom_m
        ]
        option = one_of(rng, options)
        return None if option is None else cls(moment.step, option[0], centre_of(fixtures[option[1]]))


@dataclass(frozen=True)
class OutOfReach(PutFault, meaning="what the robot has to take lies on the floor, out of its reach"):
    """What a later action takes lies on the floor, where the arm does not reach.

    Attributes:
        later: number of that action.
    """

    later: int

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A thing that a later action takes, and a free spot on the floor."""
        free = free_things(moment)
        option = one_of(rng, [(number, name) for number, name in picked_later(moment) if name in free])
        spot = floor_spot(moment.spec, rng)
        if option is None or spot is None or moment.after.held:
            return None
        return cls(moment.step, option[1], spot, option[0])

    def prevents(self, plan: Plan) -> Action | None:
        """Taking it."""
        return plan[self.later]


def floor_spot(spec: KitchenSpec, rng: np.random.Generator) -> Vector | None:
    """A random spot on the floor, away from furniture and from where the robot starts; None if there is none."""
    for _ in range(_TRIES):
        x, y = float(rng.uniform(*(FloorPlan(()).low[0], FloorPlan(()).high[0]))), float(rng.uniform(-3.0, 3.0))
        if math.hypot(x, y) > 0.6 and all(_apart(spec, number, x, y) for number in range(len(spec.fixtures))):
            return (round(x, 3), round(y, 3), 0.0)
    return None


def _apart(spec: KitchenSpec, number: int, x: float, y: float) -> bool:
    fixture = spec.fixtures[number]
    if fixture.footprint is None:
        return True
    x0, x1, y0, y1 = fixture.footprint
    local = fixture.from_world((x, y, 0.0))
    dx = max(x0 - local[0], 0.0, local[0] - x1)
    dy = max(y0 - local[1], 0.0, local[1] - y1)
    return math.hypot(dx, dy) > _FROM_WALL_M

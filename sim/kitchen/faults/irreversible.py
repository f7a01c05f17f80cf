"""Failures that cannot be undone: spoilt food, broken things, and liquids where they do not belong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.domains.household.kinds import Trait, traits_of
from sim.kitchen.faults.base import Fault, FaultClass, OfOne
from sim.kitchen.faults.choosing import free_things, one_of
from sim.kitchen.faults.initial import LIQUIDS
from sim.kitchen.faults.moment import Moment
from sim.kitchen.person import Person
from sim.kitchen.things import FRAGILE, Form
from sim.kitchen.truth import piece_name

_OVER_EDGE_M = 0.16
_SERVING_L = 0.15


@dataclass(frozen=True)
class Irreversible(OfOne, fault_class=FaultClass.IRREVERSIBLE):
    """Something that cannot be undone happens to one thing or fixture after an action."""

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Names of what it can happen to at a moment."""
        raise NotImplementedError

    @classmethod
    def of(cls, moment: Moment, name: str, rng: np.random.Generator) -> Self | None:
        """A fault of this kind that happens to one of the candidates."""
        return cls(moment.step, name)

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A random one."""
        name = one_of(rng, [name for name in cls.candidates(moment) if name not in moment.taken])
        return None if name is None else cls.of(moment, name, rng)


@dataclass(frozen=True)
class WrongLiquid(Irreversible, meaning="wine or coffee is poured on the plant, or into a vessel"):
    """A person pours something else than water on a plant, or into a vessel.

    Attributes:
        liquid: which.
    """

    liquid: str

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Plants that nothing was poured on, and empty vessels that stand upright."""
        plants = [one.name for one in moment.spec.fixtures if one.kind == "house plant"]
        vessels = [
            name
            for name in free_things(moment)
            if moment.after.things[name].kind.form is Form.VESSEL
            and moment.after.rotations[name][2, 2] > 0.95
            and Trait.VESSEL in traits_of(moment.after.things[name].kind.name)
        ]
        return [name for name in (*plants, *vessels) if not moment.after.states[name].volume_l]

    @classmethod
    def of(cls, moment: Moment, name: str, rng: np.random.Generator) -> Self | None:
        """A random liquid."""
        return cls(moment.step, name, str(rng.choice(LIQUIDS)))

    def after(self, person: Person, action: Action) -> None:
        """Pour it."""
        person.fill(self.name, self.liquid, _SERVING_L)


@dataclass(frozen=True)
class Cooked(Irreversible, meaning="an egg, a potato or a tomato is cooked"):
    """A person cooks food."""

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Raw food."""
        after = moment.after
        return [n for n in free_things(moment) if _cooks(after.things[n].kind.name) and after.states[n].cooked < 1.0]

    def after(self, person: Person, action: Action) -> None:
        """Cook it."""
        person.cook(self.name)


@dataclass(frozen=True)
class Sliced(Irreversible, meaning="a tomato, an apple or a bread is sliced"):
    """A person slices food."""

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Whole food that lies on something flat."""
        after = moment.after
        return [
            name
            for name in free_things(moment)
            if Trait.SLICEABLE in traits_of(after.things[name].kind.name)
            and after.things[name].place not in after.things
        ]

    def after(self, person: Person, action: Action) -> None:
        """Slice it."""
        person.slice(self.name)


@dataclass(frozen=True)
class Broken(Irreversible, meaning="a glass, a dish or an egg falls down and breaks"):
    """A person pushes something fragile over the edge of what it stands on.

    Attributes:
        towards: point beyond the edge to which it is pushed, x and y, metres.
    """

    towards: tuple[float, float]

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Fragile things on something flat."""
        after, fixtures = moment.after, {one.name for one in moment.spec.fixtures}
        return [
            name
            for name in free_things(moment)
            if after.things[name].kind.material in FRAGILE
            and after.things[name].place in fixtures
            and Trait.SURFACE in traits_of(_kind_of(moment, after.things[name].place))
        ]

    @classmethod
    def of(cls, moment: Moment, name: str, rng: np.random.Generator) -> Self | None:
        """Over the front edge."""
        thing = moment.after.things[name]
        fixture = next(one for one in moment.spec.fixtures if one.name == thing.place)
        edge = max(part.at[0] + part.size[0] / 2 for part in fixture.assembly.base.parts if part.shape == "box")
        local = fixture.from_world(thing.position)
        x, y, _ = fixture.to_world((edge + _OVER_EDGE_M, local[1], local[2]))
        return cls(moment.step, name, (round(float(x), 4), round(float(y), 4)))

    def after(self, person: Person, action: Action) -> None:
        """Push it."""
        person.push_off(self.name, self.towards)


@dataclass(frozen=True)
class Toppled(Irreversible, meaning="a mug, a cup or a glass is knocked over, and what was in it runs out"):
    """A person knocks a vessel over, which the robot cannot set upright.

    Attributes:
        heading: direction in which its top points afterwards, radians.
    """

    heading: float

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Vessels that are higher than wide, on something flat."""
        after, places = moment.after, {one.name: one.kind for one in moment.spec.fixtures}
        return [
            name
            for name in free_things(moment)
            if after.things[name].kind.form is Form.VESSEL
            and after.things[name].kind.height_m > 2 * after.things[name].kind.size[0]
            and Trait.SURFACE in traits_of(places.get(after.things[name].place, ""))
        ]

    @classmethod
    def of(cls, moment: Moment, name: str, rng: np.random.Generator) -> Self | None:
        """In a random direction."""
        return cls(moment.step, name, round(float(rng.uniform(-math.pi, math.pi)), 2))

    def after(self, person: Person, action: Action) -> None:
        """Knock it over."""
        person.topple(self.name, self.heading)


@dataclass(frozen=True)
class Overheated(Irreversible, meaning="food is left on an active burner, or bread in the toaster, until it is burnt"):
    """Food stays in or on an appliance that runs, for too long.

    Attributes:
        seconds: simulated time for which it stays.
        sticks: whether the appliance, a toaster, does not turn itself off when its bread is done.
    """

    seconds: float
    sticks: bool = False

    @classmethod
    def candidates(cls, moment: Moment) -> list[str]:
        """Food in or on, directly or in a vessel, what heats now."""
        after = moment.after
        running = {
            one.name for one in moment.spec.fixtures if Trait.HEATS in traits_of(one.kind) and after.states[one.name].on
        }
        found = []
        for name, thing in after.things.items():
            place = thing.place
            while place in after.things and place != name:
                place = after.things[place].place
            if place in running and _cooks(thing.kind.name.removesuffix(" slice")) and after.states[name].cooked < 2.0:
                found.append(name)
        return found

    @classmethod
    def of(cls, moment: Moment, name: str, rng: np.random.Generator) -> Self | None:
        """Long enough to burn it in most cases; simulated food cooks thirty times as fast as real one."""
        kinds = {one.name: one.kind for one in moment.spec.fixtures}
        sticks = kinds.get(moment.after.things[name].place) == "toaster"
        return cls(moment.step, name, round(float(rng.uniform(8.0 if sticks else 25.0, 45.0)), 1), sticks)

    def touched(self, action: Action) -> frozenset[str]:
        """The food; the domain does not tell slices apart."""
        return frozenset({piece_name(self.name)})

    def after(self, person: Person, action: Action) -> None:
        """Let the time pass."""
        person.wait(self.seconds)
        if self.sticks:
            person.cook(self.name, 2.0)


@dataclass(frozen=True)
class CrackedElsewhere(
    Fault, fault_class=FaultClass.IRREVERSIBLE, meaning="an egg is cracked into the pot instead of the pan"
):
    """The robot puts a cracked egg into another vessel.

    Attributes:
        vessel: name of the other vessel.
    """

    vessel: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A vessel that a cracked egg in the hand fits into."""
        held, before = moment.before.held, moment.before
        if not held or not before.states[held].cracked or moment.action.operator not in ("put_in", "put_on"):
            return None
        options = [
            name
            for name, thing in before.things.items()
            if thing.kind.form is Form.VESSEL
            and thing.kind.radius_m > 0.06
            and name not in (*moment.action.arguments, *moment.taken)
            and thing.place in {one.name for one in moment.spec.fixtures if one.door is None}
        ]
        name = one_of(rng, options)
        return None if name is None or held in moment.taken else cls(moment.step, name)

    def touched(self, action: Action) -> frozenset[str]:
        """The egg and the vessel."""
        return frozenset({action.arguments[0], self.vessel})

    def action(self, action: Action) -> Action:
        """Put it into the other vessel."""
        return Action("put_in", (action.arguments[0], self.vessel))


def _cooks(noun: str) -> bool:
    return Trait.COOKS in traits_of(noun)


def _kind_of(moment: Moment, fixture: str) -> str:
    return next(one.kind for one in moment.spec.fixtures if one.name == fixture)

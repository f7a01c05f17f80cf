"""The kitchen differs from what the plan assumes, before the first action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.errors import UnknownObject, require_known
from sim.kitchen.faults.base import START, FaultClass, OfOne
from sim.kitchen.faults.choosing import bystanders, one_of, used_by
from sim.kitchen.faults.moment import Moment
from sim.kitchen.scenes import KitchenSpec, ThingSpec
from sim.kitchen.things import Form, ThingKind

LIQUIDS = ("wine", "coffee", "milk", "juice")
"""What is in a vessel that should be empty."""
_FILL = (0.4, 0.8)
"""Share of a vessel that it fills."""


@dataclass(frozen=True)
class AtStart(OfOne, fault_class=FaultClass.INITIAL):
    """Something is not as it should be before the first action."""


@dataclass(frozen=True)
class DirtyAtStart(AtStart, meaning="a vessel is dirty before the first action"):
    """A vessel is dirty."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A clean vessel that the plan uses."""
        clean = [name for name in _vessels(moment) if not moment.before.states[name].dirty]
        name = one_of(rng, clean)
        return None if name is None else cls(START, name)

    def scene(self, spec: KitchenSpec) -> KitchenSpec:
        """The kitchen with stains in the vessel."""
        return _changed(spec, self.name, lambda thing: replace(thing, state=replace(thing.state, dirty=True)))


@dataclass(frozen=True)
class FilledAtStart(AtStart, meaning="wine or coffee, for instance, is in a vessel before the first action"):
    """A liquid is in a vessel.

    Attributes:
        liquid: which.
        litres: how much.
    """

    liquid: str
    litres: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An empty vessel that the plan uses, on a level place."""
        empty = [
            name
            for name in _vessels(moment)
            if not moment.before.states[name].volume_l and moment.before.things[name].kind.height_m > 0.05
        ]
        name = one_of(rng, empty)
        if name is None:
            return None
        share = float(rng.uniform(*_FILL))
        litres = round(share * moment.before.things[name].kind.capacity_l, 3)
        return cls(START, name, str(rng.choice(LIQUIDS)), litres)

    def scene(self, spec: KitchenSpec) -> KitchenSpec:
        """The kitchen with the liquid."""
        return _changed(
            spec,
            self.name,
            lambda thing: replace(thing, state=replace(thing.state, liquid=self.liquid, volume_l=self.litres)),
        )


@dataclass(frozen=True)
class OccupiedAtStart(AtStart, meaning="a potato, for instance, is on the pan before the first action"):
    """A piece of food is in a vessel that should be empty.

    Attributes:
        vessel: name of the vessel.
    """

    vessel: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A piece of food that the plan does not use, and a vessel that it does use."""
        things = moment.before.things
        holding = {thing.place for thing in things.values()}
        pairs = [
            (name, vessel)
            for vessel in _vessels(moment)
            if vessel not in holding
            for name in bystanders(moment)
            if _fits(things[name].kind, things[vessel].kind)
        ]
        pair = one_of(rng, pairs)
        return None if pair is None else cls(START, *pair)

    def touched(self, action: Action) -> frozenset[str]:
        """The food and the vessel."""
        return frozenset({self.name, self.vessel})

    def scene(self, spec: KitchenSpec) -> KitchenSpec:
        """The kitchen with the food in the vessel."""
        vessel = next(thing for thing in spec.things if thing.name == self.vessel)
        x, y, z = vessel.position
        return _changed(
            spec,
            self.name,
            lambda thing: replace(thing, place=self.vessel, position=(x, y, z + vessel.kind.wall_m + 0.002)),
        )


def _vessels(moment: Moment) -> Sequence[str]:
    """Vessels that the plan uses and that are within sight; none after the first step."""
    if moment.step != 0:
        return []
    used = used_by(moment.plan.actions)
    return [
        name
        for name, thing in moment.before.things.items()
        if name in used and thing.kind.form is Form.VESSEL and name not in moment.taken
    ]


def _fits(food: ThingKind, vessel: ThingKind) -> bool:
    return food.form is Form.BODY and food.name != "egg" and food.radius_m < 0.8 * vessel.radius_m


def _changed(spec: KitchenSpec, name: str, change: Callable[[ThingSpec], ThingSpec]) -> KitchenSpec:
    names = [thing.name for thing in spec.things]
    require_known(name, names, "a thing of the kitchen", UnknownObject)
    return replace(spec, things=tuple(change(thing) if thing.name == name else thing for thing in spec.things))

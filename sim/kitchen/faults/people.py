"""A person opens, closes, takes, adds or switches something, against the plan or for it; appliances stop or start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import noun
from sim.kitchen.faults.base import Fault, FaultClass, OfOne
from sim.kitchen.faults.choosing import (
    bystanders,
    centre_of,
    free_place,
    free_things,
    one_of,
    picked_later,
    rounded,
    unopened,
    used_by,
)
from sim.kitchen.faults.moment import Moment
from sim.kitchen.fixtures import ControlKind, Fixture
from sim.kitchen.person import Person
from sim.kitchen.shapes import Vector
from sim.kitchen.things import Form

_OPENED = 0.9
"""Share of a door's travel to which a person opens it."""


@dataclass(frozen=True)
class ByPerson(OfOne, fault_class=FaultClass.PERSON):
    """Something happens to one thing or fixture after an action."""


@dataclass(frozen=True)
class Midway(Fault, fault_class=FaultClass.PERSON, meaning="a person acts while the robot moves"):
    """What otherwise happens after an action happens while the robot moves.

    Attributes:
        what: happens.
        after_s: simulated time since the action began.
    """

    what: Fault
    after_s: float

    def touched(self, action: Action) -> frozenset[str]:
        """What the act touches."""
        return self.what.touched(action)

    def due(self, seconds: float) -> bool:
        """Whether the time has come."""
        return seconds >= self.after_s

    def meanwhile(self, person: Person, action: Action) -> None:
        """Do it."""
        self.what.after(person, action)


@dataclass(frozen=True)
class DoorOpened(ByPerson, meaning="a person opens a door or drawer"):
    """A person opens a door or drawer."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A closed one that does not run."""
        name = one_of(rng, _rather_used(moment, rng, _doors(moment, opened=False)))
        return None if name is None else cls(moment.step, name)

    def after(self, person: Person, action: Action) -> None:
        """Open it."""
        person.swing(self.name, _OPENED)


@dataclass(frozen=True)
class DoorClosed(ByPerson, meaning="a person closes a door or drawer"):
    """A person closes a door or drawer."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An open one."""
        name = one_of(rng, _doors(moment, opened=True))
        return None if name is None else cls(moment.step, name)

    def after(self, person: Person, action: Action) -> None:
        """Close it."""
        person.swing(self.name, 0.0)


@dataclass(frozen=True)
class Taken(
    ByPerson, meaning="a person takes a thing that the plan needs and puts it down on another worktop or table"
):
    """A person takes a thing and puts it down elsewhere.

    Attributes:
        bottom: where the middle of its bottom is put, metres.
        yaw: of the thing there, radians.
    """

    bottom: Vector
    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A thing that the plan still uses, and a free place on another surface."""
        used = used_by(moment.rest)
        name = one_of(rng, [name for name in free_things(moment) if name in used])
        place = None if name is None else free_place(moment, name, rng)
        if name is None or place is None:
            return None
        return cls(moment.step, name, place[1], place[2])

    def after(self, person: Person, action: Action) -> None:
        """Put it there."""
        person.carry(self.name, self.bottom, self.yaw)


@dataclass(frozen=True)
class Added(ByPerson, meaning="a person puts something into a vessel, into the sink or on a burner"):
    """A person puts a thing into a vessel, into the sink or on a burner.

    Attributes:
        target: name of the vessel or fixture.
        bottom: where the middle of the bottom of the thing is put, metres.
    """

    target: str
    bottom: Vector

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A bystander, and something that the plan uses and that has room for it."""
        after, used = moment.after, used_by(moment.plan.actions)
        bearing = {fact[2] for fact in after.facts if fact[0] in ("at", "atop")}
        options = list[tuple[str, str, Vector]]()
        for name in bystanders(moment):
            kind = after.things[name].kind
            for target, thing in after.things.items():
                if target not in used - bearing - moment.taken or target in (name, after.held):
                    continue
                inner = thing.kind.form is Form.VESSEL and kind.radius_m < 0.8 * thing.kind.radius_m
                if inner and kind.form is Form.BODY and thing.place != "":
                    x, y, z = thing.position
                    options.append((name, target, rounded((x, y, z + thing.kind.wall_m))))
            for fixture in moment.spec.fixtures:
                free = fixture.name not in bearing | moment.taken
                if fixture.kind in ("sink", "stove burner") and free and kind.form is Form.VESSEL:
                    options.append((name, fixture.name, centre_of(fixture)))
        option = one_of(rng, options)
        return None if option is None else cls(moment.step, *option)

    def after(self, person: Person, action: Action) -> None:
        """Put it there."""
        person.carry(self.name, self.bottom)


@dataclass(frozen=True)
class Switched(ByPerson, meaning="a person turns something on or off"):
    """A person turns something on or off.

    Attributes:
        on: whether it runs afterwards.
    """

    on: bool

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Something with a switch that can be turned now."""
        name = one_of(rng, _rather_used(moment, rng, _switches(moment)))
        return None if name is None else cls(moment.step, name, not moment.after.states[name].on)

    def after(self, person: Person, action: Action) -> None:
        """Turn it."""
        person.switch(self.name, self.on)


@dataclass(frozen=True)
class ApplianceStopped(ByPerson, meaning="an appliance stops by itself"):
    """An appliance turns itself off."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """One that runs."""
        name = one_of(rng, [name for name in _by_itself(moment) if moment.after.states[name].on])
        return None if name is None else cls(moment.step, name)

    def after(self, person: Person, action: Action) -> None:
        """Stop it."""
        person.power(self.name, False)


@dataclass(frozen=True)
class ApplianceStarted(ByPerson, meaning="an appliance starts by itself"):
    """An appliance turns itself on."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """One that could run."""
        options = [
            name
            for name in _by_itself(moment)
            if not moment.after.states[name].on and not moment.after.states[name].open and noun(name) != "toaster"
        ]
        name = one_of(rng, options)
        return None if name is None else cls(moment.step, name)

    def after(self, person: Person, action: Action) -> None:
        """Start it."""
        person.power(self.name, True)


@dataclass(frozen=True)
class Helped(Fault, fault_class=FaultClass.PERSON, meaning="a person does what a later step of the plan would do"):
    """A person does what a later action of the plan would do.

    Attributes:
        later: that action: opening, closing, switching, or putting something on a surface.
        bottom: where the middle of the bottom of the thing is put, metres; zeros if nothing is put.
    """

    later: Action
    bottom: Vector = (0.0, 0.0, 0.0)

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A door or switch that a later action operates, or a thing that one puts on a burner or a worktop."""
        after, fixtures = moment.after, {one.name: one for one in moment.spec.fixtures}
        options = list[tuple[Action, Vector]]()
        for _, action in unopened(moment, ("open_obj", "close_obj", "toggle_on", "toggle_off")):
            name = action.arguments[0]
            if name not in fixtures or name in moment.taken:
                continue
            state = after.states[name]
            ready = {
                "open_obj": not state.open and not state.on,
                "close_obj": state.open,
                "toggle_on": not state.on and not state.open,
                "toggle_off": state.on,
            }[action.operator]
            if ready and (action.operator in ("open_obj", "close_obj") or _switch(moment, name) is not None):
                options.append((action, (0.0, 0.0, 0.0)))
        later_puts = {a.arguments[0]: a for a in reversed(moment.rest) if a.operator in ("put_on", "put_in")}
        for _, name in picked_later(moment):
            put = later_puts.get(name)
            if put is None or name not in free_things(moment) or put.arguments[1] in moment.taken:
                continue
            fixture = fixtures.get(put.arguments[1])
            if fixture is None or (fixture.door is not None and not after.states[fixture.name].open):
                continue
            place = free_place(moment, name, rng, (fixture.kind,))
            if place is not None and place[0] == fixture.name:
                options.append((put, place[1]))
        option = one_of(rng, options)
        return None if option is None else cls(moment.step, *option)

    def touched(self, action: Action) -> frozenset[str]:
        """What the later action changes."""
        return frozenset(self.later.arguments[:1])

    def after(self, person: Person, action: Action) -> None:
        """Do it."""
        name = self.later.arguments[0]
        if self.later.operator in ("open_obj", "close_obj"):
            person.swing(name, _OPENED if self.later.operator == "open_obj" else 0.0)
        elif self.later.operator in ("toggle_on", "toggle_off"):
            person.switch(name, self.later.operator == "toggle_on")
        else:
            person.carry(name, self.bottom)


def _doors(moment: Moment, opened: bool) -> list[str]:
    """Doors and drawers in a state that a person can change."""
    return [
        fixture.name
        for fixture in moment.spec.fixtures
        if fixture.door is not None
        and moment.after.states[fixture.name].open is opened
        and not moment.after.states[fixture.name].on
        and fixture.name not in moment.taken
    ]


def _switches(moment: Moment) -> list[str]:
    """What a person can turn on or off now."""
    return [
        fixture.name
        for fixture in moment.spec.fixtures
        if _switch(moment, fixture.name) is not None
        and fixture.name not in moment.taken
        and (moment.after.states[fixture.name].on or not moment.after.states[fixture.name].open)
    ]


def _by_itself(moment: Moment) -> list[str]:
    """Electric appliances, which can start and stop by themselves; burners and the faucet are turned by knobs."""
    return [
        fixture.name
        for fixture in moment.spec.fixtures
        if fixture.name not in moment.taken
        and (
            fixture.kind == "television"
            or (fixture.switch is not None and not fixture.operates and fixture.switch.kind is not ControlKind.KNOB)
        )
    ]


def _switch(moment: Moment, name: str) -> Fixture | None:
    """The fixture with the switch of something; None if it has none."""
    return next(
        (one for one in moment.spec.fixtures if one.switch is not None and (one.operates or one.name) == name), None
    )


def _rather_used(moment: Moment, rng: np.random.Generator, names: list[str]) -> list[str]:
    """Those that the plan uses, most of the time, if there are any."""
    used = [name for name in names if name in used_by(moment.plan.actions)]
    return used if used and rng.random() < 0.7 else names

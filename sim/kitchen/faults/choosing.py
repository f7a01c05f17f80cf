"""Candidates for samplers of faults: things that can be moved, places that are free, and what the plan still needs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.household.names import is_slice
from sim.kitchen.faults.moment import Moment
from sim.kitchen.fixtures import Fixture
from sim.kitchen.scenes import free_spot
from sim.kitchen.shapes import Vector
from sim.kitchen.things import Form, ThingKind

T = TypeVar("T")

OPEN_SURFACES = ("countertop", "dining table", "tv stand")
"""Kinds of fixtures on which a person puts things."""
_TRIES = 40


def one_of(rng: np.random.Generator, options: Sequence[T]) -> T | None:
    """A random one; None if there are none."""
    return options[int(rng.integers(len(options)))] if options else None


def used_by(actions: Collection[Action]) -> frozenset[str]:
    """Names in some actions."""
    return frozenset(name for action in actions for name in action.arguments)


def free_things(moment: Moment) -> list[str]:
    """Whole things that a person can take after the action: not held, empty, and not behind a closed door."""
    after = moment.after
    bearing = {fact[2] for fact in after.facts if fact[0] in ("at", "atop", "covers")}
    return [
        name
        for name, thing in after.things.items()
        if name not in moment.taken
        and name != after.held
        and not is_slice(name)
        and name not in bearing
        and not after.states[name].broken
        and _within_reach(moment, thing.place)
    ]


def bystanders(moment: Moment) -> list[str]:
    """The `free_things` that neither the action nor the rest of the plan uses."""
    used = used_by(moment.plan.actions[moment.step :])
    return [name for name in free_things(moment) if name not in used]


def picked_later(moment: Moment) -> list[tuple[int, str]]:
    """Step and thing of later actions that pick something up which has not been touched by then."""
    found, touched = [], set[str]()
    for number, action in enumerate(moment.rest, start=moment.step + 1):
        if action.operator == "pick_up" and action.arguments[0] not in touched:
            found.append((number, action.arguments[0]))
        touched.update(action.arguments[:1])
    return found


def free_place(
    moment: Moment, name: str, rng: np.random.Generator, kinds: Collection[str] = OPEN_SURFACES
) -> tuple[str, Vector, float] | None:
    """A random free place for a thing on an open surface on which it does not stand now.

    Returns:
        Name of the surface, middle of the bottom of the thing, and its yaw; None if none was found.
    """
    after = moment.after
    options = [
        fixture
        for fixture in moment.spec.fixtures
        if fixture.kind in kinds and fixture.places and fixture.name != after.things[name].place
    ]
    others = [thing for other, thing in after.things.items() if other != name]
    kind = after.things[name].kind
    for _ in range(_TRIES if options else 0):
        fixture = options[int(rng.integers(len(options)))]
        yaw = round(float(rng.uniform(-math.pi, math.pi)), 3)
        spot = free_spot(rng, moment.spec.fixtures, fixture, kind, yaw, others)
        if spot is not None:
            return fixture.name, rounded(spot), yaw
    return None


def centre_of(fixture: Fixture) -> Vector:
    """The middle of the first place of a fixture."""
    return rounded(fixture.to_world(fixture.places[0].centre))


def rounded(point: Sequence[float] | np.ndarray) -> Vector:
    """A point as plain numbers, to a tenth of a millimetre."""
    x, y, z = (round(float(value), 4) for value in point)
    return (x, y, z)


def stands(kind: ThingKind) -> bool:
    """Whether a thing stands where it is put."""
    return kind.form is Form.VESSEL or kind.form is Form.BOTTLE


def similar(moment: Moment, name: str) -> list[str]:
    """Things or fixtures for which something can be mistaken: of the same kind, or of the same use and material."""
    fixtures = {fixture.name: fixture for fixture in moment.spec.fixtures}
    if name in fixtures:
        one = fixtures[name]
        return [
            other.name
            for other in fixtures.values()
            if other.name != name
            and (other.kind == one.kind or {other.kind, one.kind} <= set(OPEN_SURFACES))
            and bool(other.places) == bool(one.places)
        ]
    things = moment.before.things
    if name not in things:
        return []
    kind = things[name].kind
    return [
        other
        for other, thing in things.items()
        if other != name
        and other != moment.before.held
        and not is_slice(other)
        and (thing.kind.form, thing.kind.grasp) == (kind.form, kind.grasp)
        and _within_reach(moment, thing.place)
    ]


def replaced(plan: Plan, old: str, new: str, since: int) -> Plan:
    """A plan with one name in the place of another from a step on."""
    return Plan(
        tuple(
            action
            if number < since
            else Action(action.operator, tuple(new if name == old else name for name in action.arguments))
            for number, action in enumerate(plan)
        )
    )


def unopened(moment: Moment, operators: Collection[str]) -> Iterator[tuple[int, Action]]:
    """Later actions that open, close or switch something whose state nothing changes before."""
    changed = set[str]()
    for number, action in enumerate(moment.rest, start=moment.step + 1):
        name = action.arguments[0]
        if action.operator in operators and name not in changed:
            yield number, action
        if action.operator in ("open_obj", "close_obj", "toggle_on", "toggle_off"):
            changed.add(name)


def _within_reach(moment: Moment, place: str) -> bool:
    """Whether a place is not behind a closed door; of a vessel that what it stands on is not."""
    seen = set[str]()
    while place in moment.after.things and place not in seen:
        seen.add(place)
        place = moment.after.things[place].place
    fixture = next((one for one in moment.spec.fixtures if one.name == place), None)
    return fixture is not None and (fixture.door is None or moment.after.states[place].open)

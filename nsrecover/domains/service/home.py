"""A home: rooms, places, doors, people, objects, and where which kinds are usually found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import LIQUIDS, Trait, traits_of
from nsrecover.domains.household.names import noun
from nsrecover.domains.instance import Instance
from nsrecover.domains.service.domain import SERVICE
from nsrecover.domains.service.kinds import (
    CATEGORIES,
    CLOSE,
    OPEN,
    OPERATOR,
    POSES,
    REQUEST,
    ROBOT,
    ServiceTrait,
    category_of,
)

_FLOOR = 0.02
"""Probability weight of every place for an object of which nothing else is known."""


@dataclass(frozen=True)
class Place:
    """A room, a piece of furniture or a door.

    Attributes:
        name: as the home calls it.
        room: the room that it is in; its own name for a room, the first of two for a door.
        at: where the robot stands for it, x and y, metres.
        also: other names for it.
        leads_to: the room behind a door; empty otherwise.
        open: whether a door, or furniture with a door, is open at the start.
        looks: words that describe it, such as "high" or "stair-like".
        parts: what it has that its name does not say: "door", "switch".
    """

    name: str
    room: str
    at: tuple[float, float]
    also: tuple[str, ...] = ()
    leads_to: str = ""
    open: bool = False
    looks: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def is_room(self) -> bool:
        """Whether it is a room."""
        return self.room == self.name

    @property
    def traits(self) -> frozenset[str]:
        """Its traits in the domain."""
        if self.is_room:
            return frozenset({ServiceTrait.ROOM, ServiceTrait.LOCATION, Trait.FIXTURE})
        if self.leads_to:
            return frozenset({ServiceTrait.ROOM_DOOR, ServiceTrait.LOCATION, Trait.FIXTURE})
        usual = (traits_of(self.name) | set(self.parts)) - {Trait.PORTABLE, Trait.ONE_PLACE}
        return (
            usual | {ServiceTrait.LOCATION, Trait.FIXTURE} | (set() if usual & _BEARS else {Trait.FLAT, Trait.SURFACE})
        )


_BEARS = {Trait.FLAT, Trait.HOLLOW}


@dataclass(frozen=True)
class Item:
    """An object of a home that is known by name.

    Attributes:
        name: unique in the home, such as "red mug".
        kind: its noun.
        place: where it is believed to be; empty if that is not known.
        owner: the person to whom it belongs; empty if that is not known.
        notes: phrases that tell it from others, such as "bought the other day".
        also: other names for it.
    """

    name: str
    kind: str
    place: str = ""
    owner: str = ""
    notes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resident:
    """A person: the name, where the person usually is, and other names."""

    name: str
    place: str = ""
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Home:
    """Initial knowledge of a robot about a home.

    Attributes:
        name: of the home.
        places: rooms, furniture and doors by name.
        items: objects known by name.
        people: residents by name; the operator, who gives commands, is always one of them.
        categories: category -> nouns.
        likely: noun or category -> place -> weight: where such things are usually found.
        robot: where the robot is at the start.
    """

    name: str
    places: Mapping[str, Place]
    items: Mapping[str, Item]
    people: Mapping[str, Resident]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(CATEGORIES))
    likely: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    robot: str = ""

    @cached_property
    def rooms(self) -> tuple[str, ...]:
        """The names of the rooms."""
        return tuple(name for name, place in self.places.items() if place.is_room)

    @cached_property
    def furniture(self) -> tuple[str, ...]:
        """The names of the places on or in which objects can be."""
        return tuple(name for name, place in self.places.items() if not place.is_room and not place.leads_to)

    @cached_property
    def furniture_words(self) -> tuple[str, ...]:
        """Nouns that several places may share, such as "table" for a side table."""
        return tuple(dict.fromkeys(name.split()[-1] for name in self.furniture if " " in name))

    @cached_property
    def nouns(self) -> tuple[str, ...]:
        """All nouns of objects that the home has words for."""
        listed = [each for nouns in self.categories.values() for each in nouns]
        return tuple(dict.fromkeys((*listed, *(item.kind for item in self.items.values()), *self.likely)))

    def distance(self, one: str, other: str) -> float:
        """The straight distance between the standing points of two places, metres."""
        return math.dist(self.places[one].at, self.places[other].at)

    def inside(self, place: str, room: str) -> bool:
        """Whether a place is a room, or in it."""
        return self.places[place].room == room

    def kind(self, name: str) -> str:
        """The noun of an object: of a known one its kind, else the name without ordinal, or its known last words."""
        if name in self.items:
            return self.items[name].kind
        plain = noun(name)
        ends = (plain.split(" ", k)[-1] for k in range(plain.count(" ") + 1))
        return next((each for each in ends if each in self.nouns), plain)

    def category(self, name: str) -> str:
        """The category of an object; empty if it has none."""
        kind = self.kind(name)
        return next((each for each, nouns in self.categories.items() if kind in nouns), category_of(kind))

    def could_mean(self, wanted: str, name: str) -> bool:
        """Whether a wanted name (an object, a noun or a category) can stand for an object with a name."""
        return wanted in (name, noun(name), self.kind(name)) or self.kind(name) in self.categories.get(wanted, ())

    def prior(self, wanted: str, within: str = "") -> dict[str, float]:
        """Where an object may be: place -> probability.

        Args:
            wanted: an object, a noun or a category.
            within: a room or a place to which the search is limited; empty for the whole home.
        """
        known = self.items.get(wanted)
        if known is not None and known.place and self._fits(known.place, within):
            return {known.place: 1.0}
        named: Mapping[str, float] = {}
        for word in (wanted, self.kind(wanted), self.category(wanted)):
            named = named or self.likely.get(word, {})
        weights = {place: named.get(place, 0.0) + _FLOOR for place in self.furniture if self._fits(place, within)}
        if within and not weights:
            return {within: 1.0}
        total = sum(weights.values())
        return {place: weight / total for place, weight in weights.items()}

    def person_prior(self, person: str, within: str = "") -> dict[str, float]:
        """Where a person may be: room -> probability; a look into a room shows everyone in it."""
        resident = self.people.get(person)
        usual = self.places[resident.place].room if resident is not None and resident.place else ""
        places = [room for room in self.rooms if self._fits(room, within)] or [within]
        weights = {place: 0.2 + (1.0 if place == usual else 0.0) for place in places}
        total = sum(weights.values())
        return {place: weight / total for place, weight in weights.items()}

    def _fits(self, place: str, within: str) -> bool:
        return not within or place == within or self.inside(place, within)

    @property
    def operator_at(self) -> str:
        """Where the operator is at the start."""
        return self.people[OPERATOR].place or self.robot

    def doors_to(self, place: str) -> list[str]:
        """The doors that have to be open on the way to a place from another room."""
        room = self.places[place].room
        return [name for name, each in self.places.items() if each.leads_to and each.leads_to == room and name != place]

    def with_item(self, name: str, place: str) -> Home:
        """The home in which an object is known to be at a place."""
        item = self.items.get(name, Item(name, self.kind(name)))
        return replace(self, items={**self.items, name: replace(item, place=place)})


def instance_of(
    home: Home,
    things: Iterable[str],
    people: Iterable[str],
    more: Mapping[str, frozenset[str]],
    static: Iterable[StateFact] = (),
    places: Iterable[str] | None = None,
) -> Instance:
    """The service domain over a home and the objects of one task.

    Args:
        home: the home.
        things: objects of the task: names, nouns or categories.
        people: people of the task.
        more: what is said, asked and counted, and people known by their pose -> traits.
        static: facts of the task that never change.
        places: the places to plan with; all if None.
    """
    names = home.places if places is None else dict.fromkeys(places)
    objects: dict[str, frozenset[str]] = {
        ROBOT: frozenset({ServiceTrait.ROBOT}),
        OPEN: frozenset({ServiceTrait.OPERATION}),
        CLOSE: frozenset({ServiceTrait.OPERATION}),
        REQUEST: frozenset({ServiceTrait.REQUEST}),
    }
    objects |= {name: home.places[name].traits for name in names}
    for name in things:
        wanted = ServiceTrait.CATEGORY if name in home.categories else ServiceTrait.CONCRETE
        objects[name] = traits_of(home.kind(name) if wanted is ServiceTrait.CONCRETE else name) - {Trait.FIXTURE}
        objects[name] |= {wanted, Trait.PORTABLE}
    objects |= {name: frozenset({ServiceTrait.PERSON, ServiceTrait.NAMED}) for name in people}
    objects |= dict.fromkeys(POSES, frozenset({ServiceTrait.POSE})) if static else {}
    objects |= more
    if any(Trait.VESSEL in traits for traits in objects.values()):
        objects |= dict.fromkeys(LIQUIDS, frozenset({Trait.LIQUID.value}))
    leads = {("leads_to", door, name) for name in names for door in home.doors_to(name) if door in objects}
    return ServiceInstance(SERVICE, objects, frozenset(leads) | frozenset(static))


@dataclass(frozen=True)
class ServiceInstance(Instance):
    """The service domain over one task: small enough to plan with all of it."""

    def means(self) -> frozenset[str]:
        """Every object: a task's scene has no other ones."""
        return frozenset(self.objects)

    def unwanted(self, goal: Sequence[StateFact]) -> frozenset[Action]:
        """Following and guiding people whom the goal does not want followed or guided."""
        places = self.having(ServiceTrait.LOCATION)
        return frozenset(
            Action(operator, (person, place))
            for operator, wanted in (("follow_person", "followed"), ("guide", "guided"))
            for person in self.having(ServiceTrait.PERSON)
            for place in places
            if (wanted, person) not in goal or ("at", ROBOT, place) not in goal
        )


def start_state(home: Home, instance: Instance) -> State:
    """The facts that a home says about the objects of an instance before anything is found."""
    facts: set[StateFact] = {("at", ROBOT, home.robot)}
    facts |= {("open", name) for name in instance.objects if name in home.places and home.places[name].open}
    if OPERATOR in instance.objects:
        facts.add(("at", OPERATOR, home.operator_at))
    return frozenset(facts)

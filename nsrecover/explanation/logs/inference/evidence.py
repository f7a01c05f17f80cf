"""Observations as evidence: how unlikely one is in a state, from the rates at which observers err."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of
from nsrecover.domains.household.scene import Household
from nsrecover.explanation.logs.inference.effects import SEEN, liquid_of
from nsrecover.explanation.logs.reading.records import Observation

STATE, GRIPPER, PLACE, BEHIND, SHUT, COVER, UNSEEN, LATE = 3.2, 3.6, 3.4, 1.6, 3.0, 1.2, 0.7, 2.6
"""Negative logarithms of error rates: a wrong state, a misread gripper, a wrong place, something merely behind,
something seen behind a closed door, an obstacle that is none (or goes unnoticed), a thing in view that is not listed, a
late frame."""

WHOLE = 0.8
"""Cost of seeing a whole thing that has been sliced; observers mix the two up."""
NOWHERE = 0.4
"""Cost of seeing something in a place when a state does not say where it is."""
COARSE = 0.4
"""Cost of naming what a dish stands on as the place of a thing that should be in the dish, with the dish in view."""

_COVERING = ("below", "under", "behind", "occluded by", "blocked by")
_COVERED = ("above", "occluding", "blocking", "in front of")


@dataclass(frozen=True)
class Sighting:
    """One observation, with objects for names.

    Attributes:
        states: predicate, the objects that may be meant, and whether it holds.
        liquids: the objects that may be meant, and the liquid; empty for none.
        places: object, the places that may be meant, and the cost if it is elsewhere.
        held: what the gripper holds; empty for nothing, None if that is not said.
        seen: every object in view.
        shown: places in view.
        covers: object, and what is in front of it.
    """

    states: tuple[tuple[str, tuple[str, ...], bool], ...]
    liquids: tuple[tuple[tuple[str, ...], str], ...]
    places: tuple[tuple[str, tuple[str, ...], float], ...]
    held: str | None
    seen: frozenset[str]
    shown: frozenset[str]
    covers: tuple[tuple[str, str], ...]


def sighting_of(observation: Observation, home: Household) -> Sighting:
    """An observation as evidence.

    Args:
        observation: what was seen.
        home: the objects of the log.
    """
    states, liquids = list[tuple[str, tuple[str, ...], bool]](), list[tuple[tuple[str, ...], str]]()
    seen, shown = set[str](), set[str]()
    for name, words in observation.states().items():
        meant = _meant(name, home)
        seen |= set(meant) if len(meant) == 1 else set()
        for word in words:
            if word in SEEN:
                states.append((SEEN[word][0], meant, SEEN[word][1]))
            elif word == "empty" or word.startswith("filled"):
                liquids.append((meant, "" if word == "empty" else liquid_of(word)))
            elif word in ("sliced", "not sliced"):
                states.append(("sliced", tuple(map(slice_of, meant)), word == "sliced"))
        if is_slice(name):
            states.append(("sliced", meant, True))
        shown |= {each for each in meant if home.has(each, Trait.FIXTURE)}
    places, covers, held = list[tuple[str, tuple[str, ...], float]](), list[tuple[str, str]](), observation.held
    for name, relation, other in observation.relations():
        carried = home.has(name, Trait.PORTABLE)
        if relation in ("inside", "on top of") and carried and name != held:
            # A plan may leave the ordinal of a place out.
            bare = [noun(other)] if noun(other) in home.objects else []
            meant = tuple(dict.fromkeys((*_meant(other, home), *bare)))
            places.append((name, meant, BEHIND if home.has(other, Trait.PORTABLE) else PLACE))
        pair = (name, other) if relation in _COVERING else (other, name) if relation in _COVERED else None
        if pair and all(home.has(one, Trait.PORTABLE) for one in pair) and held not in pair:
            covers.append(pair)
    seen |= {name for name, _, _ in places}
    # Of several places that are said of one object some are not in view.
    said = Counter(name for name, _, _ in places)
    shown |= {meant[0] for name, meant, _ in places if said[name] == 1}
    return Sighting(
        tuple(states), tuple(liquids), tuple(places), held, frozenset(seen), frozenset(shown), tuple(covers)
    )


def _meant(word: str, home: Household) -> tuple[str, ...]:
    """The objects that a word of an observation can mean."""
    return (word,) if noun(word) != word else tuple(home.instances(word))


class Snapshot:
    """A state, indexed for comparison with views."""

    def __init__(self, state: State, home: Household) -> None:
        self.state, self._home = state, home
        self.at: dict[str, list[str]] = {}
        self.liquid: dict[str, str] = {}
        self.held = ""
        self.covers: list[StateFact] = []
        for fact in state:
            if fact[0] in ("at", "atop"):
                self.at.setdefault(fact[1], []).append(fact[2])
            elif fact[0] == "filled":
                self.liquid[fact[1]] = fact[2]
            elif fact[0] == "holding":
                self.held = fact[1]
            elif fact[0] == "covers":
                self.covers.append(fact)

    def inside(self, name: str, place: str, depth: int = 4) -> bool:
        """Whether an object is in or on a place."""
        found = self.at.get(name, ())
        return place in found or (depth > 0 and any(self.inside(each, place, depth - 1) for each in found))

    def shut_in(self, name: str, depth: int = 4) -> bool:
        """Whether an object is behind a closed door."""
        found = self.at.get(name, ())
        return bool(found) and depth > 0 and all(
            (self._home.has(place, Trait.DOOR) and ("open", place) not in self.state)
            or self.shut_in(place, depth - 1)
            for place in found
        )  # fmt: skip

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Every object behind a closed door."""
        return frozenset(name for name in self.at if self.shut_in(name))


def cost(view: Sighting, now: Snapshot, watched: Collection[str]) -> float:
    """Negative logarithm of how likely an observation is in a state, up to a constant.

    Args:
        view: the observation.
        now: the state.
        watched: objects whose absence from a view counts.
    """
    state, total = now.state, 0.0
    for predicate, names, value in view.states:
        if not any(((predicate, name) in state) == value for name in names):
            total += STATE
    for names, what in view.liquids:
        if not any(now.liquid.get(name, "") == what for name in names):
            total += STATE
    if view.held is not None and view.held != now.held:
        alike = bool(view.held and now.held) and same_stuff(view.held, now.held)
        total += (0.1 if same(view.held, now.held) else 0.5) if alike else GRIPPER
    total += WHOLE * sum(not is_slice(name) and ("sliced", slice_of(name)) in state for name in view.seen)
    elsewhere = dict[str, float]()
    for name, places, weight in view.places:
        thing = name if name in now.at or ("sliced", slice_of(name)) not in state else slice_of(name)
        wrong = thing == now.held and not is_slice(thing)
        wrong |= bool(now.at.get(thing)) and not any(now.inside(thing, place) for place in places)
        coarse = not wrong and any(at in view.seen and at not in places for at in now.at.get(thing, ()))
        here = weight if wrong else NOWHERE if thing not in now.at else COARSE if coarse else 0.0
        # Of several places that are said of an object one is enough; slices are in all of them.
        pick = max if is_slice(thing) else min
        elsewhere[thing] = pick(elsewhere.get(thing, here), here)
    total += sum(elsewhere.values())
    total += SHUT * len(view.seen & now.hidden)
    covered = {(fact[2], fact[1]) for fact in now.covers}
    total += COVER * (len(set(view.covers) - covered) + sum(
        thing in view.seen and other in view.seen for thing, other in covered - set(view.covers)
    ))  # fmt: skip
    for name in watched:
        if name not in view.seen and name != now.held and name not in now.hidden:
            total += UNSEEN * any(now.inside(name, place) for place in view.shown)
    return total

"""Observations as evidence: what a frame claims, and how many of its claims are wrong in a state.

How often the observer errs is not fixed. It follows from the log itself: the probability of a whole reading integrates
over the error rates of each channel (`surprise`), and relations that cannot all be true lower the trust beforehand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of
from nsrecover.domains.household.scene import HouseholdScene
from nsrecover.logs.effects import SEEN, liquid_of
from nsrecover.logs.reading.records import HouseholdLog, KeyFrame, LogObservation

STATE, GRIPPER, PLACE, BEHIND, MISSED = range(5)
"""Channels: states of objects, something else in the gripper, contact with a place, contact with something that may be
merely near, a gripper that is said to be empty while it holds something."""

_RATES = (0.04, 0.027, 0.033, 0.2, 0.027)
"""How often a claim of each channel is wrong, before the log is known."""
_TRIALS = 25.0
"""How many claims these rates are worth."""
_BLIND = 0.05
"""Probability of an observer that does not see what the gripper holds."""
SHUT, COVER, UNSEEN, LATE, ATOP = 3.0, 1.2, 0.7, 2.6, 1.6
"""Costs: seen behind a closed door; an obstacle that is none, or goes unnoticed; not listed although in view; a frame
that shows the moment before; on top of what it should be inside of, or the reverse."""
WHOLE, NOWHERE, COARSE = 0.8, 0.4, 0.4
"""Costs: a whole thing that has been sliced; in a place when its place is not known; what a dish stands on named as the
place of a thing in the dish, with the dish in view."""

_COVERING = ("below", "under", "behind", "occluded by", "blocked by")
_COVERED = ("above", "occluding", "blocking", "in front of")


@dataclass(frozen=True)
class LogSighting:
    """One observation, with objects for names.

    Attributes:
        states: facts, one of which is meant, and whether it holds.
        liquids: the objects that may be meant, and the liquid; empty for none.
        places: object, the places that may be meant, the channel, and whether it is said to be on top.
        held: what the gripper holds; empty for nothing, None if that is not said.
        seen: every object in view.
        shown: places in view.
        covers: object, and what is in front of it.
    """

    states: tuple[tuple[tuple[StateFact, ...], bool], ...]
    liquids: tuple[tuple[tuple[str, ...], str], ...]
    places: tuple[tuple[str, tuple[str, ...], int, bool], ...]
    held: str | None
    seen: frozenset[str]
    shown: frozenset[str]
    covers: tuple[tuple[str, str], ...]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every object that something is said about."""
        told = [fact[1] for facts, _ in self.states for fact in facts]
        told += [name for names, _ in self.liquids for name in names]
        return frozenset((*told, *(name for name, *_ in self.places)))

    @cached_property
    def claims(self) -> tuple[int, ...]:
        """The number of claims on each channel."""
        near = len({name for name, _, channel, _ in self.places if channel == BEHIND})
        placed = len({name for name, *_ in self.places})
        return (len(self.states) + len(self.liquids), int(self.held is not None), placed - near, near)


def sighting_of(observation: LogObservation, home: HouseholdScene) -> LogSighting:
    """An observation as evidence.

    Args:
        observation: what was seen.
        home: the objects of the log.
    """
    states, liquids = list[tuple[tuple[StateFact, ...], bool]](), list[tuple[tuple[str, ...], str]]()
    seen, shown = set[str](), set[str]()
    for name, words in observation.states().items():
        meant = _meant(name, home)
        seen |= set(meant) if len(meant) == 1 else set()
        for word in words:
            if word in SEEN:
                states.append((tuple((SEEN[word][0], each) for each in meant), SEEN[word][1]))
            elif word == "empty" or word.startswith("filled"):
                liquids.append((meant, "" if word == "empty" else liquid_of(word)))
            elif word in ("sliced", "not sliced"):
                states.append((tuple(("sliced", slice_of(each)) for each in meant), word == "sliced"))
        if is_slice(name):
            states.append((tuple(("sliced", each) for each in meant), True))
        shown |= {each for each in meant if home.has(each, Trait.FIXTURE)}
    places, covers, held = list[tuple[str, tuple[str, ...], int, bool]](), list[tuple[str, str]](), observation.held
    for name, relation, other in observation.relations():
        if relation in ("inside", "on top of") and home.has(name, Trait.PORTABLE) and held != name != other:
            # A plan may leave the ordinal of a place out.
            bare = [noun(other)] if noun(other) in home.objects else []
            meant = tuple(dict.fromkeys((*_meant(other, home), *bare)))
            channel = BEHIND if home.has(other, Trait.PORTABLE) else PLACE
            places.append((name, meant, channel, relation == "on top of"))
        pair = (name, other) if relation in _COVERING else (other, name) if relation in _COVERED else None
        if pair and all(home.has(one, Trait.PORTABLE) for one in pair) and held not in pair:
            covers.append(pair)
    seen |= {name for name, *_ in places}
    # Of several places that are said of one object some are not in view.
    said = Counter(name for name, *_ in places)
    shown |= {meant[0] for name, meant, *_ in places if said[name] == 1}
    return LogSighting(tuple(states), tuple(liquids), tuple(places), held, frozenset(seen), frozenset(shown),
                    tuple(covers))  # fmt: skip


def _meant(word: str, home: HouseholdScene) -> tuple[str, ...]:
    """The objects that a word of an observation can mean."""
    return (word,) if noun(word) != word else tuple(home.instances(word))


class Snapshot:
    """A state, indexed for comparison with views."""

    def __init__(self, state: State, home: HouseholdScene) -> None:
        self.state, self._home = state, home
        self.at: dict[str, list[str]] = {}
        self.atop, self.liquid, self.held = set[tuple[str, str]](), dict[str, str](), ""
        self.covers = set[tuple[str, str]]()
        for fact in state:
            if fact[0] in ("at", "atop"):
                self.at.setdefault(fact[1], []).append(fact[2])
                self.atop |= {(fact[1], fact[2])} if fact[0] == "atop" else set()
            elif fact[0] == "filled":
                self.liquid[fact[1]] = fact[2]
            elif fact[0] == "holding":
                self.held = fact[1]
            elif fact[0] == "covers":
                self.covers.add((fact[2], fact[1]))

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


Tally = tuple[float, float, float, float, float, float, float]
"""Wrong claims on each channel, whether the gripper holds something, and the cost of what is no matter of rates."""

NO_ERRORS: Tally = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def tally(view: LogSighting, now: Snapshot, watched: Collection[str], home: HouseholdScene) -> Tally:
    """What is wrong with an observation in a state.

    Args:
        view: the observation.
        now: the state.
        watched: objects whose absence from a view counts.
        home: the objects of the log.
    """
    state, other = now.state, 0.0
    wrong = sum(not any((fact in state) == value for fact in facts) for facts, value in view.states)
    wrong += sum(not any(now.liquid.get(name, "") == what for name in names) for names, what in view.liquids)
    gripper, missed, holds = 0.0, 0.0, float(view.held is not None and now.held != "")
    if view.held is not None and view.held != now.held:
        alike = bool(view.held and now.held) and same_stuff(view.held, now.held)
        missed = float(view.held == "")
        gripper = float(not alike and not missed)
        other += (0.1 if same(view.held, now.held) else 0.5) if alike else 0.0
    other += WHOLE * sum(not is_slice(name) and ("sliced", slice_of(name)) in state for name in view.seen)
    elsewhere = dict[str, tuple[float, float, float]]()
    for name, places, channel, atop in view.places:
        thing = name if name in now.at or ("sliced", slice_of(name)) not in state else slice_of(name)
        off = thing == now.held and not is_slice(thing)
        off |= bool(now.at.get(thing)) and not any(now.inside(thing, place) for place in places)
        coarse = not off and any(at in view.seen and at not in places for at in now.at.get(thing, ()))
        mild = 0.0 if off else NOWHERE if thing not in now.at else COARSE if coarse else 0.0
        if not off and home.has(places[0], Trait.SLOT) and places[0] in now.at.get(thing, ()):
            mild += ATOP * (((thing, places[0]) in now.atop) != atop)
        here = (float(off and channel == PLACE), float(off and channel == BEHIND), mild)
        # Of several places that are said of an object one is enough; slices are in all of them.
        pick = max if is_slice(thing) else min
        elsewhere[thing] = pick(elsewhere.get(thing, here), here)
    other += SHUT * len(view.seen & now.hidden)
    other += COVER * (len(set(view.covers) - now.covers) + sum(
        thing in view.seen and one in view.seen for thing, one in now.covers - set(view.covers)
    ))  # fmt: skip
    for name in watched:
        if name not in view.seen and name != now.held and name not in now.hidden:
            other += UNSEEN * any(now.inside(name, place) for place in view.shown)
    place, behind, mild = (sum(each[i] for each in elsewhere.values()) for i in range(3))
    return (float(wrong), gripper, place, behind, missed, holds, other + mild)


@dataclass(frozen=True)
class Observer:
    """How far an observer is trusted before a reading is chosen.

    Attributes:
        rates: how often a claim of each channel is wrong.
    """

    rates: tuple[float, ...] = _RATES

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """Cost of a wrong claim on each channel."""
        return tuple(-math.log(rate / (1 - rate)) for rate in self.rates)

    @cached_property
    def trust(self) -> float:
        """How much other evidence counts: 1 for a usual observer."""
        return self.weights[STATE] / -math.log(_RATES[STATE] / (1 - _RATES[STATE]))

    def cost(self, found: Tally) -> float:
        """Cost of an observation, with these rates."""
        state, gripper, place, behind, missed = self.weights
        return (found[0] * state + found[1] * gripper + found[2] * place + found[3] * behind + found[4] * missed
                + found[6] * self.trust)  # fmt: skip

    def surprise(self, found: Tally, claims: Sequence[int]) -> float:
        """Negative logarithm of how likely errors are in so many claims, with the rates integrated out."""
        total = self.trust * found[-1]
        for wrong, count, rate in zip(found, claims, self.rates, strict=False):
            total += _surprise(wrong, count, _TRIALS * rate, _TRIALS * (1 - rate))
        usual = _surprise(found[MISSED], found[-2], _TRIALS * self.rates[MISSED], _TRIALS * (1 - self.rates[MISSED]))
        blind = _surprise(found[MISSED], found[-2], 1.0, 1.0)
        return total - math.log((1 - _BLIND) * math.exp(-usual) + _BLIND * math.exp(-blind))


def _surprise(wrong: float, count: float, one: float, other: float) -> float:
    """Negative logarithm of the probability of wrong claims among some, with a beta distribution of their rate."""
    return _beta(one, other) - _beta(one + wrong, other + max(0.0, count - wrong))


def _beta(one: float, other: float) -> float:
    return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)


def contradicted(observation: LogObservation, home: HouseholdScene) -> bool:
    """Whether an observation cannot be true: two things in one another, or what is held lies somewhere, too."""
    pairs = {(one, other) for one, how, other in observation.relations() if how in ("inside", "on top of")}
    held = observation.held
    return any(
        (other, one) in pairs or noun(one) == noun(other) or one == held
        or (home.has(one, Trait.FIXTURE) and home.has(other, Trait.PORTABLE))
        for one, other in pairs
    )  # fmt: skip


def flickers(frames: Sequence[KeyFrame]) -> int:
    """How often a door or switch is seen in another state although no line since then is about it."""
    last, count = dict[tuple[str, str], tuple[bool, int]](), 0
    for number, frame in enumerate(frames):
        for name, words in frame.observation.states().items():
            for predicate, value in (SEEN[word] for word in words if word in SEEN):
                before, since = last.get((name, predicate), (value, number))
                told = any(same(name, each) for one in frames[since + 1 : number + 1] for each in one.step.arguments)
                count += predicate in ("open", "running") and before != value and not told
                last[name, predicate] = value, number
    return count


def trusted(log: HouseholdLog, home: HouseholdScene) -> Observer:
    """The observer of a log, by how often its observations cannot be true.

    Args:
        log: as it was read, with all names.
        home: its objects.
    """
    found = [contradicted(each.observation, home) for each in log.events]
    share = (sum(found) + flickers(log.events)) / (len(found) + 3)
    return Observer(tuple(min(0.45, rate + 0.6 * share) for rate in _RATES)) if share > 0.1 else Observer()


BLIND = Observer((*_RATES[:MISSED], 0.4))
"""An observer that does not see what the gripper holds."""

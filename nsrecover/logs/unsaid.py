"""What goes without saying in a household: clean dishes for food, all things of a kind, names without their ordinal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import CATEGORIES, Trait, could_mean
from nsrecover.domains.household.names import is_slice, same, whole
from nsrecover.domains.household.scene import HouseholdScene
from nsrecover.domains.instance import Instance
from nsrecover.logs.roles import RoledScene

_MAX_BINDINGS = 2000
"""Bindings of names to objects beyond this number are not tried."""
_FOOD = {Trait.SLICEABLE, Trait.CRACKABLE, Trait.COOKS}


def bound(goal: tuple[StateFact, ...], state: State, scene: Instance, plan: Sequence[Action]) -> tuple[StateFact, ...]:
    """The conditions of a goal with objects for names: those for which most hold, then those the plan uses."""
    if isinstance(scene, HouseholdScene):
        goal = tuple(_everything(goal, scene, plan))
    instances = getattr(scene, "instances", lambda name: [one for one in scene.objects if same(name, one)] or [name])
    names = tuple(dict.fromkeys(name for condition in goal for name in _objects(condition)))
    used = [name for step in plan for name in step.arguments]
    options, roled = (
        [sorted(instances(name), key=lambda one: -used.count(one)) for name in names],
        RoledScene(scene),
    )

    def with_names(chosen: Sequence[str]) -> tuple[StateFact, ...]:
        return tuple(_renamed(goal, dict(zip(names, chosen, strict=True))))

    def score(chosen: tuple[str, ...]) -> tuple[int, int, int]:
        met = [c for c in with_names(chosen) if roled.holds(state, c)]
        return len(met), sum(c[0] == "at" for c in met), sum(used.count(name) for name in set(chosen))

    best = max(itertools.islice(itertools.product(*options), _MAX_BINDINGS), key=score, default=())
    return with_names(best)


def _everything(conditions: Iterable[StateFact], home: HouseholdScene, plan: Sequence[Action]) -> Iterator[StateFact]:
    """Conditions about all things of a kind (`fruits`), for each of them; nothing else that the plan puts there."""
    put = {step.arguments for step in plan if step.operator in ("put_in", "put_on")}
    for condition in conditions:
        word = condition[1].removesuffix("s") if len(condition) > 1 else ""
        if condition[0] != "at" or condition[1] == word or not CATEGORIES.get(word):
            yield condition
            continue
        meant = [name for name in home.names if could_mean(word, name)]
        yield from (("at", name, condition[2]) for name in meant)
        for thing, place in sorted(pair for pair in put if len(pair) == 2):
            if same(place, condition[2]) and not could_mean(word, whole(thing)):
                yield ("away_from", thing, place)


def _objects(condition: StateFact) -> tuple[str, ...]:
    if condition[0] == "not":
        return _objects(condition[1:])
    return condition[1:2] if condition[0] == "filled" else condition[1:]


def _renamed(conditions: Iterable[StateFact], names: Mapping[str, str]) -> Iterator[StateFact]:
    """Conditions with other names for their objects; liquids keep theirs."""
    for condition in conditions:
        objects, first = _objects(condition), 2 if condition[0] == "not" else 1
        changed = (names.get(name, name) for name in objects)
        yield (*condition[:first], *changed, *condition[first + len(objects) :])


def implied(wanted: Sequence[StateFact], start: State, home: Instance) -> tuple[StateFact, ...]:
    """What has to hold without being said: what food and drink is in is clean, and holds nothing else."""
    if not isinstance(home, HouseholdScene):
        return ()
    found, vessels = dict[StateFact, None](), list[str]()
    for fact in wanted:
        if fact[0] == "filled" and home.has(fact[1], Trait.DISH):
            vessels.append(fact[1])
        elif fact[0] == "at" and home.has(fact[2], Trait.DISH) and (is_slice(fact[1]) or home.traits(fact[1]) & _FOOD):
            vessels.append(fact[2])
    for vessel in dict.fromkeys(vessels):
        if ("dirty", vessel) in start:
            found["clean", vessel] = None
        meant = {fact[1] for fact in wanted if fact[0] == "at"}
        for other in RoledScene(home).contents(start, vessel):
            if home.has(other, Trait.PORTABLE) and other not in meant and not is_slice(other):
                found["away_from", other, vessel] = None
    return tuple(fact for fact in found if fact not in wanted)


def ambiguous(word: str, home: Instance) -> bool:
    """Whether a name in a plan leaves open which object is meant, where that matters."""
    return isinstance(home, HouseholdScene) and home.ambiguous(word) and not home.has(word, Trait.SURFACE)

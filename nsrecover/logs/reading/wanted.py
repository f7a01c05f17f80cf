"""The success condition of a log: its conditions with objects for names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import CATEGORIES, could_mean
from nsrecover.domains.household.names import same, whole
from nsrecover.domains.household.scene import HouseholdScene, holds
from nsrecover.language.goals import read_goal
from nsrecover.logs.reading.records import HouseholdLog

_MAX_BINDINGS = 2000
"""Bindings of names to objects beyond this number are not tried."""


@dataclass(frozen=True)
class Goal:
    """The success condition of a task; names may leave the ordinal out.

    Attributes:
        conditions: as in `nsrecover.domains.household.scene.holds`.
        unread: what of the text is no condition about the objects of the log.
    """

    conditions: tuple[StateFact, ...]
    unread: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every object that the goal names."""
        return tuple(dict.fromkeys(name for condition in self.conditions for name in _objects(condition)))

    def bound(self, state: State, home: HouseholdScene, plan: Sequence[Action]) -> tuple[StateFact, ...]:
        """The conditions with objects for names: those for which most conditions hold, then those the plan uses."""
        everything = tuple(_everything(self.conditions, home, plan))
        if everything != self.conditions:
            return replace(self, conditions=everything).bound(state, home, plan)
        used = [name for step in plan for name in step.arguments]
        options = [sorted(home.instances(name), key=lambda one: -used.count(one)) for name in self.names]

        def score(chosen: tuple[str, ...]) -> tuple[int, int, int]:
            met = [c for c in self.with_names(chosen) if holds(state, c, home)]
            return len(met), sum(c[0] == "at" for c in met), sum(used.count(name) for name in set(chosen))

        best = max(itertools.islice(itertools.product(*options), _MAX_BINDINGS), key=score, default=())
        return self.with_names(best)

    def with_names(self, chosen: Sequence[str]) -> tuple[StateFact, ...]:
        """The conditions with other names, one for each of `names`."""
        return tuple(_renamed(self.conditions, dict(zip(self.names, chosen, strict=True))))


def goal_of(log: HouseholdLog, names: Iterable[str]) -> Goal:
    """The success condition of a log.

    Args:
        log: with its plan; slices are meant of what that slices.
        names: of the objects of the log.
    """
    cut = [step.arguments[0] for step in log.plan if step.operator == "slice_obj" and step.arguments]
    found = read_goal(log.success_state, tuple(names), cut)
    return Goal(found.conditions, found.unread)


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
    return condition[1:2] if condition[0] == "filled" else condition[1:]


def _renamed(conditions: Iterable[StateFact], names: Mapping[str, str]) -> Iterator[StateFact]:
    """Conditions with other names for their objects; liquids keep theirs."""
    for condition in conditions:
        objects = _objects(condition)
        yield (condition[0], *(names.get(name, name) for name in objects), *condition[1 + len(objects) :])

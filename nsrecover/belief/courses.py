"""Courses of events: what may have happened until now, and in how many ways an action can end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import Property
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property, changed, drifts, with_properties_of
from nsrecover.util.python310 import StrEnum

NO_EFFECT, PARTLY, OTHER_OBJECT, ELSEWHERE = 0.7, 0.08, 0.07, 0.15
"""Shares of what a failed action does: nothing, a part of its effects, the same to another object, another value."""
FORCED = 0.03
"""Probability that an action works although the domain says that it cannot be done."""
STUCK = 0.001
"""Prior probability that a property reads the same whatever it is."""
STREAK = 2
"""After so many failures in a row it is considered that the reading may be stuck."""
_LEAST = 1e-12
_VALUES = 4096
"""States whose facts by property are remembered."""

Values = dict[Property, State]


class IncidentKind(StrEnum):
    """What did not go as planned."""

    NO_EFFECT = "no_effect"
    PARTLY = "partly"
    OTHER_OBJECT = "other_object"
    REFUSED = "refused"
    """The action could not be done, and nothing changed."""
    FORCED = "forced"
    """The action worked although it could not be done."""
    STUCK = "stuck"
    """The action worked, and a property reads as before."""
    CHANGED = "changed"
    """A property was changed by others, or by a misdone action."""


FAILED = frozenset({IncidentKind.NO_EFFECT, IncidentKind.PARTLY, IncidentKind.OTHER_OBJECT})
"""Incidents that count as failures of the action."""


@dataclass(frozen=True)
class Incident:
    """Something that did not go as planned.

    Attributes:
        step: number of the action during or after which it happened, from 0; -1: before the first.
        kind: what happened.
        props: the properties that it is about.
        action: what was done instead, for `OTHER_OBJECT`.
    """

    step: int
    kind: IncidentKind
    props: tuple[Property, ...] = ()
    action: Action | None = None


@dataclass(frozen=True)
class CourseOfEvents:
    """What may have happened until now.

    Attributes:
        weight: logarithm of its probability, up to a constant that all courses share.
        state: the facts now.
        before: the facts before the last action.
        incidents: what did not go as planned.
        stuck: properties that read the same whatever they are, with the value that they read.
        possible: whether the last action could be done, so that its end says something of how often it fails.
        misread: number of properties that the last observation shows otherwise.
        errors: channels of the readings since the last action that are wrong by this course.
    """

    weight: float
    state: State
    before: State
    incidents: tuple[Incident, ...] = ()
    stuck: tuple[tuple[Property, State], ...] = ()
    possible: bool = True
    misread: int = 0
    errors: tuple[str, ...] = ()

    def at(self, step: int) -> tuple[Incident, ...]:
        """What did not go as planned in a step."""
        return tuple(each for each in self.incidents if each.step == step)


class ActionOutcomes:
    """In how many ways actions can end, by the simulation of a domain.

    Args:
        instance: the domain over the objects of the scene.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance, self.domain = instance, instance.domain
        self._values = lru_cache(_VALUES)(self._grouped)
        self._places = {name: number for number, name in enumerate(instance.objects)}

    def __getstate__(self) -> dict[str, object]:
        return {"instance": self.instance}

    def __setstate__(self, state: dict[str, Instance]) -> None:
        self.__init__(state["instance"])  # type: ignore[misc]

    def order(self, prop: Property) -> tuple[int, str]:
        """Key by which properties are sorted: in the order of the scene, whatever the objects are called."""
        return self._places.get(prop[1], -1), prop[0]

    def values(self, state: State) -> Values:
        """The facts of a state by property."""
        return self._values(state)

    def _grouped(self, state: State) -> Values:
        return by_property(state, self.domain)

    def with_values(self, state: State, values: Values) -> State:
        """A state with other values of some properties, after the laws."""
        kept = (facts for prop, facts in self.values(state).items() if prop not in values)
        return self.instance.settle(frozenset().union(*kept, *values.values()))

    def possible(self, state: State, action: Action) -> bool:
        """Whether an action can be done."""
        return self.instance.applicable(state, action.operator, action.arguments)

    def after(self, state: State, action: Action) -> State:
        """The state after an action that works."""
        return self.instance.apply(state, action.operator, action.arguments)

    def written(self, one: State, other: State) -> list[Property]:
        """The properties that differ between two states, without those that change unprompted."""
        props = (prop for prop in changed(one, other, self.domain) if not drifts(prop, self.domain))
        return sorted(props, key=self.order)

    def of(
        self, course: CourseOfEvents, action: Action, step: int, fails: float, streak: int
    ) -> Iterator[CourseOfEvents]:
        """How a course can go on with an action.

        Args:
            course: until now.
            action: what is done.
            step: its number.
            fails: probability that it does not work.
            streak: how often it has failed in a row.
        """
        settled, after = self.instance.settle(course.state), self.after(course.state, action)

        def came(state: State, chance: float, *incidents: Incident, possible: bool = True) -> CourseOfEvents:
            weight = course.weight + math.log(max(chance, _LEAST))
            known = (*course.incidents, *incidents)
            return CourseOfEvents(weight, state, course.state, known, course.stuck, possible)

        if not self.possible(course.state, action):
            yield came(settled, 1.0 - FORCED, Incident(step, IncidentKind.REFUSED), possible=False)
            yield came(after, FORCED, Incident(step, IncidentKind.FORCED), possible=False)
            return
        yield came(after, 1.0 - fails)
        props = self.written(settled, after)
        if not props:
            return
        yield came(settled, fails * NO_EFFECT, Incident(step, IncidentKind.NO_EFFECT))
        for prop in props if len(props) > 1 else ():
            rest = self.instance.settle(with_properties_of(after, course.state, [prop], self.domain))
            yield came(rest, fails * PARTLY / len(props), Incident(step, IncidentKind.PARTLY, (prop,)))
        if streak >= STREAK:
            # it worked every time, and was read as before
            chance = (1.0 - fails) * STUCK / (fails * NO_EFFECT) ** streak
            for prop in (each for each in props if each[0] in self.domain.variables):
                one = came(after, chance, Incident(step, IncidentKind.STUCK, (prop,)))
                yield replace(one, stuck=(*course.stuck, (prop, self.values(settled).get(prop, frozenset()))))

    def with_other_objects(self, course: CourseOfEvents, action: Action, names: Set[str]) -> list[Action]:
        """The action with one object replaced by one of some names, as far as it could have been done so."""
        operator, _ = self.instance.operator(action.operator, action.arguments)
        found = []
        for place, parameter in enumerate(operator.parameters):
            for name in sorted(names - {*action.arguments}, key=lambda each: self._places.get(each, -1)):
                traits = self.instance.objects.get(name)
                if traits is not None and (not parameter.trait or parameter.trait in traits):
                    arguments = (*action.arguments[:place], name, *action.arguments[place + 1 :])
                    found.append(Action(action.operator, arguments))
        return [each for each in found if self.possible(course.before, each)]


def merged(courses: Sequence[CourseOfEvents], adds: bool, width: int, least: float) -> list[CourseOfEvents]:
    """The most likely courses, those that agree in all that matters from now on made one.

    Args:
        courses: any.
        adds: whether courses that agree are different events, so that their probabilities add up; else they are the
            same event that was found twice.
        width: number of courses that are kept at most.
        least: logarithm of the least probability of a course, relative to the most likely one.
    """
    groups = dict[object, list[CourseOfEvents]]()
    for one in courses:
        groups.setdefault((one.state, one.before, one.stuck, one.possible), []).append(one)
    kept = []
    for group in groups.values():
        best = max(group, key=lambda each: each.weight)
        total = sum(math.exp(each.weight - best.weight) for each in group) if adds else 1.0
        kept.append(replace(best, weight=best.weight + math.log(total)) if total > 1.0 else best)
    kept.sort(key=lambda each: -each.weight)
    top = kept[0].weight
    return [replace(each, weight=each.weight - top) for each in kept[:width] if each.weight - top > least]

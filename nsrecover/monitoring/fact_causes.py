"""Deviations of a scene of facts from the expected one, with typed causes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.core.traces import Trace
from nsrecover.domains.base import Role, State
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property, changed, drifts, facts_with, related, with_properties_of
from nsrecover.monitoring.outlook import HasInstance, Outlook, outlook, unmet_conditions
from nsrecover.util.python310 import Self

_NONE: State = frozenset()


@dataclass(frozen=True)
class FactSituation:
    """The evidence from which deviations and their causes are derived.

    Attributes:
        instance: the domain over the objects of the scene.
        action: the action that was done; None before the first.
        before: the state before the action.
        expected: the imagined scene.
        observed: the belief after the observation.
        rest: what is left of the plan.
        goal: conditions that hold in the end.
        done: number of plan steps after which `expected` is the scene.
    """

    instance: Instance
    action: Action | None
    before: State
    expected: FactScene
    observed: FactScene
    rest: Sequence[Action]
    goal: Sequence[StateFact]
    done: int

    @cached_property
    def ahead(self) -> Outlook:
        """What comes of the rest of the plan from the observed scene."""
        return outlook(self.instance, self.observed.facts, self.rest, self.goal)

    @cached_property
    def planned(self) -> tuple[State, ...]:
        """The states that the rest of the plan should lead through, the expected one first."""
        return outlook(self.instance, self.expected.facts, self.rest, self.goal).states

    @cached_property
    def acted_on(self) -> frozenset[Property]:
        """The properties that the action should have changed."""
        return changed(self.before, self.expected.facts, self.instance.domain)

    @cached_property
    def deviating(self) -> tuple[Property, ...]:
        """The properties that are known and differ; of those that drift only such that what follows needs."""
        domain = self.instance.domain
        differ = [
            prop
            for prop in sorted(changed(self.expected.facts, self.observed.facts, domain), key=_places_first)
            if self.expected.knows(prop) and self.observed.knows(prop)
        ]
        return tuple(prop for prop in differ if not drifts(prop, domain) or self._needed(prop))

    def _needed(self, prop: Property) -> bool:
        """Whether the rest of the plan misses something that it would not miss if a property were as expected."""
        return self.better_without([prop])

    def better_without(self, props: Sequence[Property]) -> bool:
        """Whether the rest of the plan fails as the scene is, and not there if some properties were as expected."""
        if self.ahead.good:
            return False
        otherwise = with_properties_of(self.observed.facts, self.expected.facts, props, self.instance.domain)
        better = outlook(self.instance, otherwise, self.rest, self.goal)
        return better.step > self.ahead.step or len(better.missed) < len(self.ahead.missed)


@dataclass(frozen=True)
class FactComparison:
    """Finds the objects that deviate from the expected scene of facts, with causes.

    Attributes:
        instance: the domain over the objects of the scene.
    """

    instance: Instance

    def with_model(self, model: HasInstance) -> Self:
        """The same comparison with another model."""
        return replace(self, instance=model.instance)

    def before(self, graph: FactScene, trace: Trace[FactScene], step: int) -> Discrepancy[FactScene]:
        """The discrepancy before an action, with the unmet preconditions of the action.

        Args:
            graph: the scene as it is now.
            trace: the expected scenes, and the goal.
            step: number of the action, from 0.
        """
        situation = self._situation(graph, trace, step, None)
        unmet = unmet_conditions(self.instance, graph.facts, trace.plan[step])
        return self._found(situation, trace.plan[step], step, Phase.BEFORE, unmet)

    def after(self, graph: FactScene, trace: Trace[FactScene], step: int) -> Discrepancy[FactScene]:
        """The discrepancy after an action; arguments as for `before`."""
        action = trace.plan[step]
        return self._found(self._situation(graph, trace, step, action), action, step, Phase.AFTER)

    def _situation(self, graph: FactScene, trace: Trace[FactScene], step: int, action: Action | None) -> FactSituation:
        done, before = step + (action is not None), trace.graphs[step].facts
        rest = trace.plan.actions[done:]
        return FactSituation(self.instance, action, before, trace.graphs[done], graph, rest, trace.goal, done)

    def _found(
        self,
        situation: FactSituation,
        action: Action,
        step: int,
        phase: Phase,
        unmet: tuple[Fact, ...] = (),
    ) -> Discrepancy[FactScene]:
        found, expected, observed = deviations(situation), situation.expected, situation.observed
        return Discrepancy[FactScene](step, phase, action, expected, observed, found, unmet)


def deviations(situation: FactSituation) -> tuple[Deviation[tuple[StateFact, ...]], ...]:
    """The objects that are not as expected, with causes, by name."""
    names = dict.fromkeys(name for _, name in situation.deviating)
    return tuple(_deviation(situation, name) for name in names)


def _deviation(situation: FactSituation, name: str) -> Deviation[tuple[StateFact, ...]]:
    domain = situation.instance.domain
    props = [prop for prop in situation.deviating if prop[1] == name]
    expected, observed = (by_property(scene.facts, domain) for scene in (situation.expected, situation.observed))
    wanted = frozenset[StateFact]().union(*(expected.get(prop, _NONE) for prop in props))
    found = frozenset[StateFact]().union(*(observed.get(prop, _NONE) for prop in props))
    cause, other, subgoal = _cause(situation, name, props, wanted - found, found - wanted)
    return Deviation[tuple[StateFact, ...]](
        name,
        cause,
        1.0 - min(situation.observed.certainty.get(prop, 1.0) for prop in props),
        math.inf,
        tuple(sorted(wanted - found)),
        tuple(sorted(found - wanted)),
        other=other,
        subgoal=subgoal,
        since=situation.done - 1 if situation.done else None,
    )


def _cause(
    situation: FactSituation, name: str, props: Sequence[Property], missing: State, excess: State
) -> tuple[Cause, str | None, int | None]:
    """The cause of an object's deviation, the object that explains it, and the step after which it is right.

    The first that applies: lost out of the gripper; not done by the action that should have; put elsewhere by it; gone
    (cut up, if what is related to it deviates, too); changed instead of an object of the action; already as a later
    step makes it; in the way of a later step; moved; changed.
    """
    domain, place = situation.instance.domain, (PLACE, name)
    before, now = by_property(situation.before, domain), by_property(situation.observed.facts, domain)
    mine = [prop for prop in props if prop in situation.acted_on]
    if place in props and facts_with((Role.HELD,), missing & situation.before, domain, name):
        return Cause.DROPPED, _support(excess, domain), None
    if mine and situation.action is not None:
        if all(before.get(prop, _NONE) == now.get(prop, _NONE) for prop in mine):
            return Cause.NOT_DONE, _support(now.get(place, _NONE), domain), None
        if place in mine:
            inside = _support(excess, domain)
            lost = inside is None or inside not in situation.instance.objects
            return Cause.DROPPED if lost else Cause.MISPLACED, inside, None
    if place in props and not now.get(place):
        kin = related(situation.instance.static).get(name, frozenset()) & {other for _, other in situation.deviating}
        return (Cause.CHANGED, min(kin), None) if kin else (Cause.MISSING, None, None)
    taken_for = _taken_for(situation, name, excess)
    if taken_for is not None:
        return Cause.MISTAKEN, taken_for, None
    for number, state in enumerate(situation.planned[1:], situation.done + 1):
        then = by_property(state, domain)
        if all(then.get(prop, _NONE) == now.get(prop, _NONE) for prop in props):
            return Cause.HELPED, None, number
    if place in props:
        hindered = situation.rest[situation.ahead.step] if situation.ahead.step < len(situation.rest) else None
        if hindered is not None and name not in hindered.arguments and situation.better_without([place]):
            return Cause.BLOCKING, hindered.arguments[-1], None
        return Cause.MOVED, _support(excess, domain), None
    return Cause.CHANGED, None, None


def _places_first(prop: Property) -> tuple[bool, Property]:
    return prop[0] != PLACE, prop


def _support(facts: State, domain: Domain) -> str | None:
    """What an object is in or on, or believed to be, by facts about it."""
    found = facts_with((Role.LOCATION, Role.BELIEVED), facts, domain)
    return next((fact[2] for fact in found if len(fact) == 3), None)


def _taken_for(situation: FactSituation, name: str, excess: State) -> str | None:
    """The object of the action whose missing effect an object shows that the action does not name."""
    action = situation.action
    if action is None or name in action.arguments:
        return None
    lacking = situation.expected.facts - situation.observed.facts
    for meant in action.arguments:
        as_if = {tuple(meant if term == name else term for term in fact) for fact in excess}
        if as_if and as_if & lacking:
            return meant
    return None

"""What comes of a plan in a domain's simulation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from nsrecover.core import explanation
from nsrecover.core.actions import Action, Plan
from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.core.traces import Trace
from nsrecover.domains.base import Role, State, condition_of
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import literal, values_of, with_properties_of
from nsrecover.util.python310 import Self


class HasInstance(Protocol):
    """A model of scenes of facts."""

    @property
    def instance(self) -> Instance:
        """The domain over the objects of the scene."""
        ...


@dataclass(frozen=True)
class Outlook:
    """The imagined course of actions.

    Attributes:
        states: the state before the first action and after each; an action that cannot be done changes nothing.
        step: number of the first action that cannot be done; that of all actions if only the goal is missed.
        unmet: the conditions that do not hold then; empty if every action can be done and the goal is reached.
        missed: conditions of the goal that do not hold in the end.
    """

    states: tuple[State, ...]
    step: int
    unmet: tuple[explanation.Fact, ...]
    missed: tuple[StateFact, ...]

    @property
    def good(self) -> bool:
        """Whether every action can be done and the goal is reached."""
        return not self.unmet


def imagine(instance: Instance, state: State, action: Action) -> State:
    """The state after an action and the domain's laws, its conditions taken to hold."""
    return instance.apply(state, action.operator, action.arguments)


def unmet_conditions(instance: Instance, state: State, action: Action) -> tuple[explanation.Fact, ...]:
    """The conditions of an action that do not hold, those on what its objects are included.

    Raises:
        InvalidAction: there is no such operator, or it takes another number of arguments.
    """
    operator, at = instance.operator(action.operator, action.arguments)
    objects = instance.limited(state).objects
    lacking = [
        explanation.Fact(str(each.trait), (at[each.variable],))
        for each in operator.parameters
        if each.trait and each.trait not in objects.get(at[each.variable], ())
    ]
    formulas = instance.unmet(state, action.operator, action.arguments)
    return (*lacking, *(explanation.Fact(fact[0], fact[1:]) for fact in map(condition_of, formulas)))


def keeping_from(instance: Instance, state: State, action: Action) -> tuple[explanation.Fact, ...]:
    """States with which an action could be done, if one of its objects had them; else its unmet conditions."""
    domain = instance.domain
    facts = tuple(
        explanation.Fact(fact[0], fact[1:])
        for name in action.arguments
        for variable in domain.variables
        for value in values_of((variable, name), state, instance)
        if instance.applicable(
            with_properties_of(state, value, [(variable, name)], domain), action.operator, action.arguments
        )
        for fact in value
    )
    return facts or unmet_conditions(instance, state, action)


def rests_on(instance: Instance, state: State, action: Action, props: Collection[Property]) -> tuple[Property, ...]:
    """Those of some properties with which, if they were otherwise than in a state, an action could not be done."""
    return tuple(
        prop
        for prop in sorted(props)
        if any(
            instance.unmet(with_properties_of(state, value, [prop], instance.domain), action.operator, action.arguments)
            for value in values_of(prop, state, instance)
        )
    )


def explaining(instance: Instance, state: State, action: Action) -> tuple[Property, ...]:
    """The state variables with which, if they were otherwise than in a state, an action could not be done."""
    inside = {fact[2] for fact in state if len(fact) == 3 and fact[1] in action.arguments} & instance.objects.keys()
    props = {
        (variable.name, name)
        for name in {*action.arguments, *inside}
        for variable in instance.domain.variables.values()
        if not variable.trait or variable.trait in instance.objects[name]
    }
    return rests_on(instance, state, action, props)


def unmet_goal(instance: Instance, state: State, goal: Sequence[StateFact]) -> tuple[StateFact, ...]:
    """The conditions of a goal that do not hold in a state."""
    return tuple(fact for fact in goal if not instance.holds(state, instance.condition(fact)))


def decides(
    instance: Instance, state: State, goal: Sequence[StateFact], props: Collection[Property]
) -> tuple[Property, ...]:
    """Those of some properties with which, if they were otherwise than in a state, other parts of a goal would hold.

    An object may also be in any place that the goal names, or in which another one is.
    """
    unmet, relations = unmet_goal(instance, state, goal), instance.domain.relations
    located = [name for name, role in relations.items() if role is Role.LOCATION and instance.domain.arities[name] == 2]
    named = {term for fact in goal for term in literal(fact, instance.domain)[0][1:]}
    places = sorted((named | {fact[2] for fact in state if fact[0] in located}) & instance.objects.keys())

    def values(prop: Property) -> list[State]:
        there = [(name, prop[1], place) for name in located for place in places if place != prop[1]]
        elsewhere = [frozenset({fact}) for fact in there if fact not in state] if prop[0] == PLACE else []
        return [*values_of(prop, state, instance), *elsewhere]

    def otherwise(prop: Property, value: State) -> State:
        return instance.settle(with_properties_of(state, value, [prop], instance.domain))

    return tuple(
        prop
        for prop in sorted(props)
        if any(unmet_goal(instance, otherwise(prop, value), goal) != unmet for value in values(prop))
    )


def outlook(instance: Instance, state: State, actions: Sequence[Action], goal: Sequence[StateFact]) -> Outlook:
    """Imagine actions from a state."""
    states, step, unmet = [state], len(actions), tuple[explanation.Fact, ...]()
    for number, action in enumerate(actions):
        wrong = unmet_conditions(instance, states[-1], action)
        if wrong and not unmet:
            step, unmet = number, wrong
        states.append(instance.settle(states[-1]) if wrong else imagine(instance, states[-1], action))
    missed = unmet_goal(instance, states[-1], goal)
    if missed and not unmet:
        unmet = tuple(explanation.Fact(fact[0], fact[1:]) for fact in missed)
    return Outlook(tuple(states), step, unmet, missed)


@dataclass(frozen=True)
class FactImagination:
    """Predicts scenes of facts after actions, by the operators and laws of a domain; what is unknown stays unknown.

    Attributes:
        instance: the domain over the objects of the scene.
    """

    instance: Instance

    def with_model(self, model: HasInstance) -> Self:
        """The same imagination with another model."""
        return replace(self, instance=model.instance)

    def step(self, graph: FactScene, action: Action) -> FactScene:
        """The scene after one action; one that cannot be done changes nothing."""
        return FactScene(outlook(self.instance, graph.facts, (action,), ()).states[1], graph.certainty)

    def trace(self, graph: FactScene, plan: Plan) -> Trace[FactScene]:
        """The scenes a plan should lead through, beginning with the given one."""
        return imagined_trace(self.instance, graph, plan, ())


def imagined_trace(instance: Instance, scene: FactScene, plan: Plan, goal: Sequence[StateFact]) -> Trace[FactScene]:
    """The scenes that a plan is expected to lead through, from a belief; what is unknown stays unknown."""
    domain = instance.domain
    states = outlook(instance, scene.facts, plan.actions, goal).states
    passing = frozenset[StateFact]().union(*states) - states[0] - states[-1]
    tidy = tuple(sorted(fact for fact in passing if fact[0] in domain.variables and len(fact) == 2))
    return Trace[FactScene](
        plan, (scene, *(FactScene(state, scene.certainty) for state in states[1:])), tuple(goal), tidy
    )


def what_it_leaves(instance: Instance, start: State, plan: Plan) -> tuple[StateFact, ...]:
    """What a plan achieves and leaves in the end: its goal, if none is stated.

    The conditions of actions are taken to hold, and what an action makes so counts although it was so before: what the
    first observation misses makes no goal smaller. Variables of two values that are set back, such as a door that is
    closed, count, too.
    """
    state, achieved, set_back = start, set[StateFact](), set[StateFact]()
    for action in plan:
        before, state = state, imagine(instance, state, action)
        achieved |= state - before
        for fact in (fact for fact in state & before if fact[1:2] and fact[1] in action.arguments):
            without = before - {fact}
            if fact in imagine(instance, without, action) - instance.settle(without):
                achieved.add(fact)
        set_back |= {fact for fact in before - state if len(fact) == 2 and _has_two_values(fact[0], instance)}
    normal = {(*fact, instance.domain.variables[fact[0]].values[0]) for fact in set_back - state}
    return (*sorted(state & achieved), *sorted(normal))


def _has_two_values(name: str, instance: Instance) -> bool:
    """Whether a predicate is a variable of two values that lasts and can be seen."""
    variable = instance.domain.variables.get(name)
    return variable is not None and len(variable.values) == 2 and variable.visible and not variable.drifts

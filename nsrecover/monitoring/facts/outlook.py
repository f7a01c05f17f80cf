"""What comes of a plan in a domain's simulation, and what would have come of it had the scene been otherwise."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nsrecover.core import explanation
from nsrecover.core.actions import Action
from nsrecover.core.facts import Property, StateFact
from nsrecover.domains.base import State, condition_of
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import values_of, with_properties_of

LARGEST_CAUSE = 3
"""Objects in a counterfactual cause at most; all of them together are tried besides."""


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
    """Those of some properties with which, if they were otherwise than in a state, other parts of a goal would hold."""
    unmet = unmet_goal(instance, state, goal)

    def otherwise(prop: Property, value: State) -> State:
        return instance.settle(with_properties_of(state, value, [prop], instance.domain))

    return tuple(
        prop
        for prop in sorted(props)
        if any(
            unmet_goal(instance, otherwise(prop, value), goal) != unmet for value in values_of(prop, state, instance)
        )
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


def counterfactual_cause(
    instance: Instance,
    observed: State,
    expected: State,
    deviating: Collection[Property],
    actions: Sequence[Action],
    goal: Sequence[StateFact],
) -> tuple[str, ...]:
    """The fewest objects without whose deviation the goal would have been reached, in the domain's simulation.

    Args:
        instance: the domain over the objects of the scene.
        observed: the state as it is.
        expected: the state as it should be.
        deviating: the properties in which they differ.
        actions: what is left of the plan.
        goal: conditions that hold in the end.

    Returns:
        Empty if the goal is reached anyway, or if it is missed even if all is as expected.
    """
    if outlook(instance, observed, actions, goal).good:
        return ()
    names = sorted({name for _, name in deviating})
    for size in [*range(1, min(LARGEST_CAUSE, len(names)) + 1), len(names)]:
        for chosen in itertools.combinations(names, size):
            props = [prop for prop in deviating if prop[1] in chosen]
            otherwise = with_properties_of(observed, expected, props, instance.domain)
            if outlook(instance, otherwise, actions, goal).good:
                return tuple(chosen)
    return ()

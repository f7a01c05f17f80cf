"""What the relations and operators of a domain mean to the reading of a log, which knows none of them by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Atom, Exists, Formula, Not, Operator, Role, State, condition_of, facts_of, parts_of
from nsrecover.domains.household.names import is_slice, whole
from nsrecover.domains.instance import Instance


@dataclass(frozen=True)
class RoledScene:
    """A scene, asked by role.

    Attributes:
        instance: the domain and its objects.
    """

    instance: Instance

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """The relations that say where something is."""
        return self._with(Role.LOCATION)

    @cached_property
    def holding(self) -> tuple[str, ...]:
        """The relations that say what the gripper holds."""
        return self._with(Role.HELD)

    @cached_property
    def covers(self) -> tuple[str, ...]:
        """The relations that say what is in the way of something."""
        return self._with(Role.COVERS)

    def _with(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name, one in self.instance.domain.relations.items() if one is role)

    @cached_property
    def grasping(self) -> frozenset[str]:
        """The operators after which the gripper holds something."""
        return self._changing("adds")

    @cached_property
    def releasing(self) -> frozenset[str]:
        """The operators after which it no longer holds it, and it is somewhere."""
        placing = {name for name, one in self._operators() if any(
            fact[0] in self.locations and fact[1] == one.parameters[0].variable
            for effect in one.effects for fact in effect.adds)}  # fmt: skip
        return self._changing("deletes") & placing

    def _operators(self) -> Iterator[tuple[str, Operator]]:
        return iter(self.instance.domain.operators.items())

    def _changing(self, side: str) -> frozenset[str]:
        return frozenset(
            name for name, one in self._operators()
            if any(fact[0] in self.holding and fact[-1] == one.parameters[0].variable
                   for effect in one.effects for fact in getattr(effect, side))
        )  # fmt: skip

    @cached_property
    def sets(self) -> dict[str, tuple[str, bool]]:
        """Operators whose only effect is on a state of their object, and that state."""
        return {
            name: (fact[0], fact in one.effects[0].adds)
            for name, one in self._operators()
            if len(one.effects) == 1 and len(one.parameters) == 1
            for fact in (*one.effects[0].adds, *one.effects[0].deletes)
            if fact[0] in self.instance.domain.variables
        }

    @cached_property
    def switches(self) -> dict[str, tuple[str, bool]]:
        """The same for operators that another one undoes."""
        return {
            name: (state, value)
            for name, (state, value) in self.sets.items()
            if (state, not value) in self.sets.values()
        }

    def setter(self, state: str, value: bool) -> str | None:
        """The operator that brings a state about."""
        return next((name for name, found in self.sets.items() if found == (state, value)), None)

    def opposite(self, operator: str) -> str | None:
        """The operator that undoes a switching one."""
        state, value = self.switches.get(operator, ("", True))
        return self.setter(state, not value)

    # -- objects

    def has(self, name: str, trait: str) -> bool:
        """Whether an object has a trait."""
        return not trait or trait in self.instance.objects.get(name, frozenset())

    def carried(self, name: str) -> bool:
        """Whether the gripper can take an object."""
        return any(self.has(name, self.instance.domain.operators[each].parameters[0].trait) for each in self.grasping)

    def surfaces(self) -> list[str]:
        """Objects on which anything may be set down, as far as the domain says so."""
        usual = {
            one.parameters[1].usual
            for name, one in self._operators()
            if name in self.releasing and len(one.parameters) > 1
        }
        return [name for name, traits in self.instance.objects.items() if traits & (usual - {""})]

    def known(self, step: Action) -> bool:
        """Whether the domain has an operator and its number of arguments."""
        operator = self.instance.domain.operators.get(step.operator)
        return operator is not None and len(operator.parameters) == len(step.arguments)

    def puts(self, step: Action) -> bool:
        """Whether a step puts something somewhere."""
        return step.operator in self.releasing and self.known(step)

    def opaque(self, step: Action) -> bool:
        """Whether nothing is known of what a step does."""
        return not self.known(step) or not self.instance.domain.operators[step.operator].effects

    def fitting(self, step: Action) -> Action | None:
        """A step, or the like operator for objects of its kind: put on for put in; None if there is none."""
        operator = self.instance.domain.operators[step.operator]
        alike = [
            operator,
            *(
                one
                for name, one in self._operators()
                if step.operator in self.releasing
                and name in self.releasing
                and len(one.parameters) == len(operator.parameters)
            ),
        ]
        for one in alike:
            if all(self.has(name, each.trait) for name, each in zip(step.arguments, one.parameters, strict=True)):
                return Action(one.name, step.arguments)
        return None

    # -- states

    def held(self, state: State) -> str | None:
        """What the gripper holds."""
        return next((fact[-1] for fact in state if fact[0] in self.holding), None)

    def places(self, state: State, thing: str) -> list[str]:
        """What an object is directly in or on."""
        return sorted(fact[2] for fact in state if fact[0] in self.locations and fact[1] == thing and len(fact) > 2)

    def contents(self, state: State, place: str) -> list[str]:
        """What is directly in or on a place."""
        return sorted(fact[1] for fact in state if fact[0] in self.locations and fact[-1] == place)

    def holds(self, state: State, condition: StateFact) -> bool:
        """Whether a condition of a goal holds."""
        if condition[0] == "not":
            return not self.holds(state, condition[1:])
        return self.instance.holds(state, self.formula(condition))

    def formula(self, condition: StateFact) -> Formula:
        """A condition of a goal as a formula."""
        if condition[0] == "not":
            return Not(self.formula(condition[1:]))
        return self.instance.condition(condition)

    def about_hand(self, need: StateFact) -> bool:
        """Whether a condition is that the gripper holds something."""
        rule = self.instance.domain.derived.get(need[0])
        if rule is None:
            return need[0] in self.holding
        return not isinstance(rule.definition, Not) and any(
            fact[0] in self.holding for fact in facts_of(rule.definition)
        )

    @cached_property
    def tools(self) -> set[str]:
        """Traits of what the gripper has to hold for some conditions."""
        return {
            part.trait
            for rule in self.instance.domain.derived.values()
            for part in parts_of(rule.definition)
            if isinstance(part, Exists) and part.trait and any(fact[0] in self.holding for fact in facts_of(part))
        }

    def blamed(self, state: State, need: StateFact) -> list[StateFact]:
        """The facts of a state each of which keeps a condition from holding."""
        found = [fact for fact in sorted(state) if self.holds_need(state - {fact}, need)]
        return found

    def holds_need(self, state: State, need: StateFact) -> bool:
        """Whether a condition of an action holds."""
        if need[0] == "not":
            return not self.holds_need(state, need[1:])
        known = need[0] in self.instance.domain.predicates
        return known and self.instance.holds(state, Atom(need[0], need[1:]))


def conditions(instance: Instance, state: State, step: Action) -> tuple[StateFact, ...]:
    """The conditions of a step that do not hold."""
    return tuple(condition_of(formula) for formula in instance.unmet(state, step.operator, step.arguments))


def as_whole(step: Action, state: State) -> Action:
    """A step with slices that do not exist, which a robot does with what it was to slice."""
    if not any(is_slice(name) and ("sliced", name) not in state for name in step.arguments):
        return step
    return replace(step, arguments=tuple(whole(name) for name in step.arguments))


def static(need: StateFact, instance: Instance) -> bool:
    """Whether a condition depends on kinds alone, and on no fact that can change."""
    rule = instance.domain.derived.get(need[0])
    return rule is not None and all(static(fact, instance) for fact in facts_of(rule.definition))

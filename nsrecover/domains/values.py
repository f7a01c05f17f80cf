"""State variables with several values: the first one, the normal one, holds where there is no fact about another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import (
    And,
    Atom,
    Derived,
    Effect,
    Exists,
    ForAll,
    Formula,
    Law,
    Not,
    Operator,
    Or,
    StateVariable,
)

Variables = Mapping[str, StateVariable]
Value = TypeVar("Value")


def stored(fact: StateFact, variables: Variables) -> StateFact | None:
    """A fact as states have it; None if it says that a variable has its normal value.

    A variable with two values is a fact about the object alone: `("open", "door", "open")` is `("open", "door")`.
    """
    variable = variables.get(fact[0])
    if variable is None or len(fact) != 3 or fact[2] not in variable.values:
        return fact
    if fact[2] == variable.values[0]:
        return None
    return fact[:2] if len(variable.values) == 2 else fact


def plain(formula: Formula, variables: Variables) -> Formula:
    """A formula in which no fact says that a variable has its normal value, but that it has none of the others."""
    match formula:
        case Atom(predicate, terms):
            fact = stored((predicate, *terms), variables)
            if fact is not None:
                return formula if len(fact) > len(terms) else Atom(fact[0], fact[1:])
            others = (stored((predicate, terms[0], value), variables) for value in variables[predicate].values[1:])
            return And(tuple(Not(Atom(other[0], other[1:])) for other in others if other is not None))
        case Not(part, code):
            return Not(plain(part, variables), code)
        case And(parts) | Or(parts):
            return type(formula)(tuple(plain(part, variables) for part in parts))
        case Exists(variable, part, trait) | ForAll(variable, part, trait):
            return type(formula)(variable, plain(part, variables), trait)
    return formula


def _changed(effect: Effect, variables: Variables) -> Effect:
    """An effect that ends the other values of a variable which gets one."""
    several = [fact for fact in effect.adds if fact[0] in variables and len(fact) == 3]
    others = dict.fromkeys((fact[0], fact[1], "*") for fact in several)
    return replace(
        effect,
        adds=tuple(fact for fact in effect.adds if stored(fact, variables) is not None),
        deletes=(*effect.deletes, *(fact for fact in others if fact not in effect.deletes)),
        when=plain(effect.when, variables),
    )


def with_values(
    variables: Variables, operators: Mapping[str, Operator], derived: Mapping[str, Derived], laws: tuple[Law, ...]
) -> dict[str, object]:
    """The parts of a domain in which values are set and asked for, by their names in `Domain`, as states have them."""
    several = {name: each for name, each in variables.items() if len(each.values) > 2}
    if not several:
        return {}

    def effects(each: tuple[Effect, ...]) -> tuple[Effect, ...]:
        return tuple(_changed(effect, several) for effect in each)

    return {
        "operators": {
            name: replace(
                each,
                preconditions=tuple(plain(need, several) for need in each.preconditions),
                effects=effects(each.effects),
            )
            for name, each in operators.items()
        },
        "derived": {n: replace(rule, definition=plain(rule.definition, several)) for n, rule in derived.items()},
        "laws": tuple(replace(law, effect=_changed(law.effect, several)) for law in laws),
    }

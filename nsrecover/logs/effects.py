"""What the household domain says about effects and what is seen of them, by predicate and operator."""

from __future__ import annotations

from nsrecover.domains.base import Atom, Not
from nsrecover.domains.household.domain import HOUSEHOLD

Literal = tuple[str, bool]
"""A predicate, and whether it or its negation holds."""

SEEN: dict[str, Literal] = {
    word: (predicate, value)
    for predicate, true, false in (
        ("open", ("open",), "closed"),
        ("running", ("turned on",), "turned off"),
        ("dirty", ("dirty",), "clean"),
        ("cracked", ("cracked",), "not cracked"),
        ("hot", ("hot", "warm", "cooked", "heated"), "cold"),
    )
    for word, value in (*((word, True) for word in true), (false, False))
}
"""A state as logs write it -> what holds of the object."""

SETS: dict[str, Literal] = {
    name: (fact[0], fact in operator.effects[0].adds)
    for name, operator in HOUSEHOLD.operators.items()
    if len(operator.effects) == 1 and len(operator.parameters) == 1
    for fact in (*operator.effects[0].adds, *operator.effects[0].deletes)
}
"""Operator whose only effect is on a state of its object -> that state: opening, switching, cracking."""

SWITCHES = {name: literal for name, literal in SETS.items() if HOUSEHOLD.operators[name].reversible}
"""The same for operators that another one undoes."""

OPERATORS = {literal: name for name, literal in SETS.items()}
"""State -> the operator that sets it."""


def literal_of(predicate: str) -> Literal:
    """The literal that a predicate of a condition stands for: `closed` is not `open`."""
    rule = HOUSEHOLD.derived.get(predicate)
    match rule.definition if rule else None:
        case Not(Atom(negated)):
            return negated, False
    return predicate, True


def opposite(operator: str) -> str | None:
    """The operator that undoes a switching one; None if there is none."""
    predicate, value = SWITCHES.get(operator, ("", True))
    return OPERATORS.get((predicate, not value))


def liquid_of(state: str) -> str:
    """The liquid of a state such as `filled with water`."""
    return state.removeprefix("filled").removeprefix(" with ").strip() or "water"

"""What the household domain says about effects and what is seen of them, by predicate and operator."""

from __future__ import annotations

from collections.abc import Iterator

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import And, Atom, Formula, Not
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import KINDS, Trait
from nsrecover.domains.household.scene import Household

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


def one_with(home: Household, trait: str) -> str:
    """The first object of a log that has a trait; the noun of a kind that has it if no object does."""
    found = [name for name in home.names if trait in home.traits(name)]
    return next(iter(found or [noun for noun, kind in KINDS.items() if trait in kind.traits]))


def needs_of_law(home: Household, condition: StateFact, machine: str) -> list[StateFact] | None:
    """What a law needs besides a running machine to bring a condition about; None if there is no such law.

    Args:
        home: the objects of the log.
        condition: with objects for names.
        machine: an object that may be turned on.
    """
    for law in HOUSEHOLD.laws:
        effect = law.effect
        main = (effect.adds or effect.deletes)[0]
        runs, *others, thing = effect.for_each
        if (
            (main[0], main in effect.adds) == literal_of(condition[0])
            and main[2:] == condition[2:]
            and runs.trait in home.traits(machine)
        ):
            names = {each.variable: one_with(home, each.trait) for each in others}
            names |= {runs.variable: machine, thing.variable: condition[1]}
            needs = [need for need in _atoms(effect.when) if need.predicate != "running"]
            at = {"on": "at", "inside": "at"}  # conditions of goals do not tell these apart
            return [(at.get(need.predicate, need.predicate), *map(names.__getitem__, need.terms)) for need in needs]
    return None


def machine_for(home: Household, condition: StateFact) -> str | None:
    """A machine that, running, brings a condition about, closed ones first; None if there is no such law."""
    known = sorted(home.names, key=lambda name: not home.has(name, Trait.SHUT_TO_RUN))
    return next((name for name in (*known, *KINDS) if needs_of_law(home, condition, name) is not None), None)


def _atoms(formula: Formula) -> Iterator[Atom]:
    """The facts that a conjunction needs."""
    if isinstance(formula, Atom):
        yield formula
    for part in formula.parts if isinstance(formula, And) else ():
        yield from _atoms(part)

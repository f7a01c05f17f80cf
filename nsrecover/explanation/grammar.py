"""Actions and facts of a domain in words."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.core import explanation
from nsrecover.core.actions import Action
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import PUT_BACK, TABLETOP
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.util.english import clause, filled, the

_ROLES = {
    Role.HELD: "{0} is in the gripper",
    Role.COVERS: "{0} is in the way of {1}",
    Role.BELIEVED: "{0} is believed to be in or on {1}",
}
"""Words for relations that have none in their domain."""


def instruction(action: Action, place: str | None = None, domain: Domain = TABLETOP) -> str:
    """Return an action as an instruction.

    Args:
        action: any action; if its operator has no words, the action is quoted as plans write it.
        place: what the object stands on afterwards, if the action does not say so.
        domain: the words of the operators.
    """
    words = _worded("imperative", action, domain) or f"do {action}"
    # Only for an object that is put back, the support matters.
    return f"{words} on {the(place)}" if place and action.operator == PUT_BACK and place != TABLE else words


def not_achieved(action: Action, domain: Domain = TABLETOP) -> str:
    """Return a clause that says that the effect of an action does not hold."""
    return _worded("unkept", action, domain) or f"{action} has not been achieved"


def _worded(form: str, action: Action, domain: Domain) -> str:
    """Return an action in one of the forms of `Words`; empty if its operator has no such words."""
    operator = domain.operators.get(action.operator)
    if operator is None:
        return ""
    names = (parameter.variable.removeprefix("?") for parameter in operator.parameters)
    return filled(getattr(operator.words, form), **dict(zip(names, action.arguments, strict=True)))


def condition(fact: Sequence[str], domain: Domain, holds: bool = True) -> str:
    """Return a fact as a clause: `the mug is filled with wine`, `the fridge is not open`.

    Args:
        fact: a predicate and objects; `not` before them denies it, and a variable stands for any object.
        domain: has the words; without any, the predicate is its own words.
        holds: False for the negation.
    """
    predicate, *terms = fact
    if predicate == "not":
        return condition(terms, domain, not holds)
    template, some = _template(predicate, len(terms), domain), "something" if holds else "anything"
    if terms and terms[0].startswith("?") and not holds:
        terms[0], holds = "nothing", True
    return clause(template, *(some if term.startswith("?") else term for term in terms), holds=holds)


def conditions(facts: Sequence[explanation.Fact], domain: Domain) -> tuple[str, ...]:
    """Return facts as clauses."""
    return tuple(condition((fact.predicate, *fact.arguments), domain) for fact in facts)


def _template(predicate: str, count: int, domain: Domain) -> str:
    """Return the words of a predicate with a number of terms."""
    if predicate in domain.words:
        return domain.words[predicate].imperative
    if predicate in domain.relations and domain.relations[predicate] in _ROLES:
        return _ROLES[domain.relations[predicate]]
    plain = predicate.replace("_", " ").replace("-", " ").replace("{", "{{").replace("}", "}}")
    if predicate in domain.variables and count == 2:
        return f"the {plain} of {{0}} is {{1!s}}"
    if not count:
        return plain if " " in predicate else f"{plain} is true"
    return " ".join((f"{{0}} {plain}", *(f"{{{i}}}" for i in range(1, count))))

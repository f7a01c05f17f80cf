"""Actions of a domain in words."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.core.actions import Action
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import PUT_BACK, TABLETOP
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.util.english import clause, filled, the


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


def done_text(action: Action, domain: Domain = TABLETOP) -> str:
    """Return an action that was done, `poured the pot out`; without such words, as an instruction: `put it down`."""
    return _worded("past", action, domain) or instruction(action, domain=domain)


def not_achieved(action: Action, domain: Domain = TABLETOP) -> str:
    """Return a clause that says that the effect of an action does not hold."""
    return _worded("unkept", action, domain, clause) or f"{action} has not been achieved"


def _worded(form: str, action: Action, domain: Domain, say: Callable[..., str] = filled) -> str:
    """Return an action in one of the forms of `Words`; empty if its operator has no such words."""
    operator = domain.operators.get(action.operator)
    if operator is None:
        return ""
    names = (parameter.variable.removeprefix("?") for parameter in operator.parameters)
    template = getattr(operator.words, form)
    return template and say(template, **dict(zip(names, action.arguments, strict=True)))

"""Elements of English: articles, numbers, lists, and actions as instructions."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.core.actions import Action
from nsrecover.domains.base import Domain
from nsrecover.domains.tabletop.operators import PUT_BACK, TABLETOP
from nsrecover.domains.tabletop.relations import TABLE

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
             "eleventh", "twelfth")  # fmt: skip
DETERMINERS = ("the", "a", "an", "my", "your", "his", "her", "our", "their")


def the(name: str) -> str:
    """Return a name with its article, `the red cube`; a name that has an article keeps it."""
    return name if name.lower().startswith(tuple(f"{word} " for word in DETERMINERS)) else f"the {name}"


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def listed(items: Sequence[str]) -> str:
    """Return a list in words: `a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def objects(names: Sequence[str]) -> str:
    """Return object names with articles as a list in words."""
    return listed([the(name) for name in names])


def number(count: int) -> str:
    """Return a number in words up to twelve, in digits above."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def ordinal(count: int) -> str:
    """Return an ordinal number: in words up to twelfth, then `13th`, `21st`, `112th`."""
    if 0 <= count < len(_ORDINALS):
        return _ORDINALS[count]
    ending = "th" if 10 <= count % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `one action`, `three actions`."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def steps(first: int, last: int) -> str:
    """Return the name of a range of steps: `step 5`, `steps 5 and 6`, `steps 5 to 8`."""
    if first >= last:
        return f"step {last}"
    return f"steps {first} {'and' if last == first + 1 else 'to'} {last}"


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


class _Argument(str):
    """An argument of an action in a template: with its article, or without it as `{name!s}`."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return the(str(self))


def _worded(form: str, action: Action, domain: Domain) -> str:
    """Return an action in one of the forms of `Words`; empty if its operator has no such words."""
    operator = domain.operators.get(action.operator)
    if operator is None:
        return ""
    names = (parameter.variable.removeprefix("?") for parameter in operator.parameters)
    given = dict(zip(names, map(_Argument, action.arguments), strict=True))
    return str(getattr(operator.words, form)).format(**given)

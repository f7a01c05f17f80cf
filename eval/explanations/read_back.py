"""Parser of explanations: causes and step of a text, from its words and the object names alone.

It uses neither the facts behind a text nor the code that made it. A sentence about an event that cannot be parsed
completely is reported as unread, so that it never counts as right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from nsrecover.core.discrepancy import Cause

ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip

_WHO = r"(?P<who>the <\d+>(?:, the <\d+>)*(?: and the <\d+>)?)"
_HOW_FAR = (
    r"(?:(?:about )?\d+ (?:cm|mm) (?:from its place|to the (?:left|right) of its place"
    r"|(?:nearer to|farther from) the robot than its place))"
)
_NOW = rf"(?:: (?:it|they) (?:is|are) (?:now|still) (?:on (?:the <\d+>|the table))?(?:,? ?{_HOW_FAR})?)?"
_EVENTS: tuple[tuple[Cause, str], ...] = (
    (Cause.TOPPLED, rf"toppled{_NOW}"),
    (Cause.DROPPED, rf"(?:was|were) dropped{_NOW}"),
    (Cause.NOT_LIFTED, rf"(?:was|were) not lifted{_NOW}"),
    (Cause.MISPLACED, rf"(?:was|were) put in the wrong place{_NOW}"),
    (Cause.MISSING, r"(?:is|are) missing"),
    (Cause.REPLACED, r"(?:was|were) replaced(?: by the <\d+>)?"),
    (Cause.SWAPPED, r"(?:has|have) swapped places(?: with one another| with something else)?"),
    (Cause.MOVED, rf"(?:has|have) moved, although no action should have moved (?:it|them){_NOW}"),
    (Cause.NOT_DONE, r"(?:was|were) not changed by the step"),
    (Cause.MISTAKEN, r"(?:was|were) mistaken(?: for the <\d+>)?"),
    (Cause.CHANGED, r"(?:has|have) changed, although no action should have changed (?:it|them)"),
    (Cause.BLOCKING, r"(?:is|are) in the way(?: of the <\d+>)?"),
    (Cause.HELPED, r"(?:is|are) already as (?:it|they) should be(?: later| after (?:step \d+|the \w+ step))?"),
)
_STEP = re.compile(r"step (\d+), [a-z]+\(|the (\w+) step, [a-z]+ing\b")
_OTHER = re.compile(
    r"^(?:So the <\d+> is not |The <\d+> should be |The <\d+> (?:is|are) (?:now|still) |"
    r"The <\d+>(?: and|,) .* may stay |The <\d+> may stay |"
    r"The recovery takes |Then the scene is |This also completes |No recovery (?:is needed|exists|was found)|"
    r".* makes? it impossible)"
)
"""Beginnings of sentences about consequences and recoveries, which name no cause."""


@dataclass(frozen=True)
class ParsedText:
    """Content of a text.

    Attributes:
        step: number of the step of the error, from 1; None if the text names none.
        causes: object -> cause.
        unread: sentences that could not be parsed, and objects with two causes.
    """

    step: int | None
    causes: dict[str, Cause]
    unread: tuple[str, ...] = field(default=())


def read_back(text: str, names: Sequence[str]) -> ParsedText:
    """Parse an explanation.

    Args:
        text: for either audience.
        names: of the objects of the scene.
    """
    masked = text
    # longest first, so that `red cube` is not found in `dark red cube`
    for name in sorted(names, key=len, reverse=True):
        masked = re.sub(rf"(?<![\w<]){re.escape(name)}(?!\w)", f"<{names.index(name)}>", masked)
    headline, *rest = re.split(r"(?<=\.)\s+(?=[A-Z])", masked)
    step = _step_of(headline)
    causes: dict[str, Cause] = {}
    unread = [] if step is not None else [headline]
    told = re.search(r" (?:went wrong:|worked, but|something was not as expected:) (.*)", headline)
    if told is not None and _event_of(told[1]) is not None:
        rest = [told[1], *rest]
    for sentence in rest:
        if _OTHER.match(sentence):
            continue
        event = _event_of(sentence)
        if event is None:
            unread.append(sentence)
            continue
        cause, numbers = event
        for number in numbers:
            name = names[number]
            if causes.setdefault(name, cause) is not cause:
                unread.append(f"{name}: {causes[name]} and {cause}")
    return ParsedText(step, causes, tuple(unread))


def _step_of(headline: str) -> int | None:
    found = _STEP.search(headline[:1].lower() + headline[1:])
    if found is None:
        return None
    if found[1] is not None:
        return int(found[1])
    digits = re.match(r"\d+", found[2])
    if digits:
        return int(digits[0])
    return ORDINALS.index(found[2]) + 1 if found[2] in ORDINALS else None


def _event_of(sentence: str) -> tuple[Cause, list[int]] | None:
    lowered = sentence[:1].lower() + sentence[1:].rstrip(".")
    for cause, pattern in _EVENTS:
        found = re.fullmatch(rf"{_WHO} {pattern}", lowered)
        if found:
            return cause, [int(number) for number in re.findall(r"<(\d+)>", found["who"])]
    return None

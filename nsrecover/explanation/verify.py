"""Verification of an explanation: parse which cause it states for which object, and compare with the facts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nsrecover.core.discrepancy import Cause
from nsrecover.core.explanation import Fact
from nsrecover.explanation.templates import ALTHOUGH, NOT_FOUND_PHRASE, PHRASES
from nsrecover.util.english import Forms

_CLAUSE = re.compile(r"[.;:!?]\s|, (?:and|but) ")


def _pattern(*phrases: str) -> str:
    """Return a pattern of what phrases say about one object or several."""
    forms = [Forms(many).agree(phrase.partition(",")[0]) for phrase in phrases for many in (False, True)]
    return rf"\b(?:{'|'.join(map(re.escape, forms))})\b"


_ALSO = {**ALTHOUGH, Cause.MISPLACED: NOT_FOUND_PHRASE}
_SIGNATURES = {cause: _pattern(*filter(None, (phrase, _ALSO.get(cause)))) for cause, phrase in PHRASES.items()}
"""Cause -> pattern; a clause that contains it states this cause for the objects named before it."""


def claims(text: str, names: Sequence[str]) -> frozenset[tuple[Cause, str]]:
    """Return which causes a text in the words of the templates states for which objects.

    Args:
        text: an explanation.
        names: the objects of the scene.

    Returns:
        Pairs of a cause and an object that is named before the cause in the same clause.
    """
    masked = text
    # Longest first, so that `red cube` is not found inside `dark red cube`.
    for name in sorted(names, key=len, reverse=True):
        masked = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"<{names.index(name)}>", masked, flags=re.IGNORECASE)
    found = set()
    for clause in _CLAUSE.split(f"{masked} "):
        for cause, signature in _SIGNATURES.items():
            match = re.search(signature, clause, flags=re.IGNORECASE)
            if match:
                subjects = re.findall(r"<(\d+)>", clause[: match.start()])
                # After the state of one object, which may name others.
                subjects = subjects[:1] if match[0].startswith("although") else subjects
                found |= {(cause, names[int(index)]) for index in subjects}
    return frozenset(found)


def disagreements(text: str, facts: Sequence[Fact], names: Sequence[str]) -> tuple[str, ...]:
    """Return the differences between a text and the facts.

    Args:
        text: an explanation in the words of the templates.
        facts: the facts, from `nsrecover.explanation.facts.facts_of`.
        names: the objects of the scene.

    Returns:
        Descriptions of the statements without a fact and of the missing culprits; empty if text and facts agree.
    """
    for fact in facts:
        # Quotations are about the rules of the operators and the search, not about what happened.
        if fact.predicate in ("reason", "violated"):
            text = text.replace(fact.arguments[0].rstrip(". "), "")
    causes = {cause.value: cause for cause in Cause}
    known = {(causes[fact.predicate], fact.arguments[0]) for fact in facts if fact.predicate in causes}
    partners = {(Cause.SWAPPED, fact.arguments[1]) for fact in facts if fact.predicate == Cause.SWAPPED.value}
    said = claims(text, names)
    return tuple(
        [f"the text says {cause.value}({name}), the facts do not" for cause, name in sorted(said - known - partners)]
        + [f"the facts say {cause.value}({name}), the text does not" for cause, name in sorted(known - said)]
    )

"""What the parts of a clause say about a phrase: where it is, and what selects it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.instructions.plain.parts import Part
from nsrecover.instructions.reading import Constraint, ConstraintKind, Phrase, Sort


class Unread(Exception):
    """A word fits nowhere."""


class Unserved(Exception):
    """No skill does what is said; the text adds why."""


def located(thing: Phrase, parts: Sequence[Part]) -> tuple[Phrase, Phrase | None]:
    """An object or person with what parts say about it, and the place where it is."""
    source: Phrase | None = None
    for part in parts:
        placed = part.kind in ("at", "from") and part.phrase is not None and part.phrase.sort is Sort.PLACE
        if source is None and placed:
            source = part.phrase
        elif source is not None and part.kind in ("at", "near", "side"):
            source = about(source, part)
        else:
            thing = about(thing, part)
    return thing, source


def about(phrase: Phrase, part: Part) -> Phrase:
    """A phrase with what a part says about it."""
    kinds = {"side": ConstraintKind.SIDE, "with": ConstraintKind.QUALITY}
    if part.kind not in ("at", "from", "near", "side", "with"):
        raise Unread
    worn = part.kind == "with" and phrase.sort in (Sort.PERSON, Sort.POSED)
    kind = ConstraintKind.CLOTHING if worn else kinds.get(part.kind, ConstraintKind.RELATION)
    return replace(phrase, constraints=(*phrase.constraints, Constraint(kind, part.text, part.phrase)))


def as_place(phrase: Phrase) -> Phrase:
    """A phrase for where something goes: of an object it is a place that the home does not know."""
    return (
        phrase
        if phrase.sort is Sort.PLACE
        else Phrase(Sort.PLACE, phrase.text, phrase.definite, constraints=phrase.constraints)
    )

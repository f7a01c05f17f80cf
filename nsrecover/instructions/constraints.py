"""Which of the things that are said about an object, a place, a person or an action are served; the rest is refused."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.domains.service.home import Home, Place
from nsrecover.instructions.task import Choices, Refusal, RefusalCode, TaskQuestion
from nsrecover.language.meaning import THINGS, Clause, Constraint, ConstraintKind, Phrase, Sort, Verb
from nsrecover.language.words import can_be
from nsrecover.util.english import listed

_TELLS_APART = (ConstraintKind.QUALITY, ConstraintKind.RELATION, ConstraintKind.SIDE, ConstraintKind.SIZE)
"""Kinds that say nothing new where the home knows only one thing that can be meant."""


_ASKED = (ConstraintKind.QUALITY, ConstraintKind.SIZE)
"""Kinds after which a person is asked which of a few known objects is meant."""
MOST_ASKED = 4
"""So many objects are named in one question at most."""


class StopError(Exception):
    """Grounding ends with a question or a refusal."""

    def __init__(self, result: TaskQuestion | Refusal) -> None:
        super().__init__(result.text)
        self.result = result


def check_constraints(home: Home, clause: Clause, notes: list[str], choices: Choices) -> None:
    """Refuse a clause with a constraint that no skill serves.

    A constraint that only tells one thing from others is served where the home knows a single one that can be meant;
    that is noted.

    Args:
        home: what is known.
        clause: the clause.
        notes: for the person; added to.
        choices: phrase -> what a person has said that it means.

    Raises:
        StopError: a constraint is not served; the refusal names it.
    """
    for constraint in clause.constraints:
        if constraint.to not in choices:
            _beside(home, constraint, clause)
            _refuse(constraint, clause)
    for phrase in clause.phrases:
        for constraint in phrase.constraints:
            if _is_room(home, constraint) and phrase.sort is Sort.PLACE:
                continue
            if phrase in choices:
                continue
            definite = phrase.definite or constraint.kind is ConstraintKind.QUALITY
            any_of_kind = phrase.sort is Sort.CATEGORY and constraint.kind is ConstraintKind.SIZE
            if constraint.kind in _ASKED and phrase.definite and 1 < len(_known(home, phrase)) <= MOST_ASKED:
                _ask(constraint, phrase, _known(home, phrase))
            if constraint.kind not in _TELLS_APART or any_of_kind or not definite or not _only_one(home, phrase):
                _refuse(constraint, clause)
            notes.append(f"I know only one {phrase.name}, and cannot tell whether '{constraint.text}' is true of it.")


def _beside(home: Home, constraint: Constraint, clause: Clause) -> None:
    """Ask beside which of a few known objects something is to be put, with what can be done instead."""
    to = constraint.to
    if to is None or clause.verb is not Verb.PLACE or constraint.kind is not ConstraintKind.RELATION:
        return
    can_be_so = can_be(home, to.name)
    known = [n for n in home.items if home.could_mean(to.name, n) or _is_word_of(to.name, n) or n in can_be_so]
    options = tuple(name for name in known if clause.thing is None or name != clause.thing.name)
    if 1 < len(options) <= MOST_ASKED:
        which = listed([f"the {name}" for name in options], "or")
        text = f"I can only put it where the {to.name} is, not {constraint.text}. Which do you mean: {which}?"
        raise StopError(TaskQuestion(text, to, options))


def _is_word_of(noun: str, name: str) -> bool:
    """Whether a noun is a word of a name, or begins one: "bottle" of "bottled water"."""
    return any(word.startswith(noun) for word in name.split())


def _ask(constraint: Constraint, phrase: Phrase, options: tuple[str, ...]) -> None:
    which = listed([f"the {name}" for name in options], "or")
    text = f"I cannot tell which {phrase.name} is '{constraint.text}'. Which do you mean: {which}?"
    raise StopError(TaskQuestion(text, phrase, options))


def _known(home: Home, phrase: Phrase) -> tuple[str, ...]:
    """The objects of a home that a phrase can mean."""
    things = phrase.sort in THINGS
    return tuple(name for name in home.items if home.could_mean(phrase.name, name)) if things else ()


def _refuse(constraint: Constraint, clause: Clause) -> None:
    text = f"I cannot take '{constraint.text}' into account when I {clause.verb} something. I did nothing."
    raise StopError(Refusal(RefusalCode.NO_SKILL, text))


def _is_room(home: Home, constraint: Constraint) -> bool:
    """Whether a constraint says in which room a place is."""
    known = home.places.get(constraint.to.name) if constraint.to is not None else None
    return known is not None and known.is_room and constraint.text.split()[0] in ("in", "of", "inside", "at", "from")


def in_room(home: Home, phrase: Phrase, places: Sequence[Place]) -> list[Place]:
    """The places that are in the rooms which a phrase names.

    Raises:
        StopError: none of them is.
    """
    left = list(places)
    for constraint in phrase.constraints:
        if not _is_room(home, constraint) or constraint.to is None or not left:
            continue
        named = constraint.to.name
        rooms = {place.name for place in home.places.values() if named in (place.name, *place.also)}
        left = [place for place in left if place.room in rooms or place.name in rooms]
        if not left:
            text = f"I know no {phrase.name} '{constraint.text}'. I did nothing."
            raise StopError(Refusal(RefusalCode.UNKNOWN_NAME, text))
    return left


def _only_one(home: Home, phrase: Phrase) -> bool:
    """Whether a home knows a single object or place that a phrase can mean."""
    if phrase.sort is Sort.PLACE:
        named = (
            place for place in home.places.values() if place.name.endswith(phrase.name) or phrase.name in place.also
        )
        return len(list(named)) == 1
    if phrase.sort is Sort.PERSON:
        return phrase.name in home.people
    return sum(home.could_mean(phrase.name, name) for name in home.items) == 1

"""A verb and its phrases → clauses: which phrase is the object, the source, the target and the person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.words import Lexeme

RESULT, NAME = "the result", "what is your name?"
"""Content of a clause that tells what was found out just before, and the question for a name."""

_PEOPLE = (Sort.PERSON, Sort.POSED)
_ABOUT_PEOPLE = (Verb.FOLLOW, Verb.GUIDE, Verb.ANSWER, Verb.POSE)


@dataclass(frozen=True)
class Said:
    """A verb and what follows it: pairs of a preposition's sort and a phrase, and the lexemes."""

    verb: Verb
    phrases: Sequence[tuple[str, Phrase]]
    items: Sequence[Lexeme]


def clauses_of(said: Said, thing: Phrase | None, person: Phrase | None) -> list[Clause]:
    """The clauses that a verb and its phrases say.

    Args:
        said: verb and phrases, pronouns resolved.
        thing: the object that was spoken of last.
        person: the person who was spoken of last.
    """
    verb, things, people = said.verb, list[Phrase](), list[Phrase]()
    source = target = person_at = None
    last: Phrase | None = None
    spare = list[Phrase]()
    for prep, phrase in said.phrases:
        if phrase.sort in (Sort.THING, Sort.CATEGORY) or (phrase.sort is Sort.PRONOUN and phrase.name != "there"):
            things.append(phrase)
            last = phrase
        elif phrase.sort in _PEOPLE:
            people.append(phrase)
            last = phrase
        elif phrase.sort is Sort.PLACE or phrase.name == "there":
            at_person = last is not None and last.sort in _PEOPLE and (last.name != OPERATOR or verb in _ABOUT_PEOPLE)
            if prep == "to" and verb is not Verb.COUNT:
                target = phrase
            elif at_person and verb is not Verb.PLACE and verb is not Verb.COUNT:
                person_at = phrase
            elif prep == "from":
                source = phrase
            else:
                spare.append(phrase)
    first = things[0] if things else None
    whom = people[0] if people else None
    others = [each for each in people if each.name != OPERATOR]
    match verb:
        case Verb.BRING | Verb.TAKE:
            if source is None and spare:
                source = spare[0]
            if first is None and others and (target or len(spare)):
                return [Clause(Verb.GUIDE, person=others[0], person_at=person_at, target=target or spare[-1])]
            if first is None and whom is not None and others and not things:
                first = thing
            if target is not None and not others:
                return [Clause(Verb.PLACE, first or thing, source, target)]
            if verb is Verb.TAKE and whom is None:
                return [Clause(verb, each, source) for each in things or _one(thing)]
            recipient = others[0] if others else Phrase(Sort.PERSON, OPERATOR)
            return [Clause(Verb.BRING, each, source, None, recipient, person_at) for each in things or _one(thing)]
        case Verb.PLACE:
            where = spare[:1] if target is not None else spare[1:] if source is None and len(spare) > 1 else spare[:]
            if target is None and spare:
                target = where[-1] if where else spare[-1]
                source = source or (spare[0] if len(spare) > 1 else None)
            elif spare and source is None:
                source = spare[0]
            if target is None and (others or any(p.name == OPERATOR for p in people)):
                return [Clause(Verb.BRING, first or thing, source, None, people[0], person_at)]
            return [Clause(verb, each, source, target) for each in things or _one(thing)]
        case Verb.FIND:
            if others and first is None:
                return [Clause(verb, person=others[0], person_at=person_at or target or source or _first(spare))]
            return [Clause(verb, each, source or _first(spare) or target) for each in things or _one(thing)]
        case Verb.COUNT:
            place = source or _first(spare) or target or person_at
            return [Clause(verb, first, place, person=None if first else (others[0] if others else None))]
        case Verb.FOLLOW | Verb.GUIDE:
            subject = others[0] if others else whom or person
            place = target or (spare[-1] if spare else None)
            if verb is Verb.GUIDE and place is None and person_at is not None:
                place, person_at = person_at, None
            return [Clause(verb, person=subject, person_at=person_at or source, target=place)]
        case Verb.GO:
            if others:
                return [Clause(Verb.FIND, person=others[0], person_at=person_at or target or _first(spare))]
            place = target or _first(spare) or person_at
            if place is None and whom is not None:
                return [Clause(Verb.FIND, person=whom)]
            return [Clause(verb, target=place)] if place is not None else []
        case Verb.ANSWER:
            return [
                Clause(
                    verb, person=whom or person or Phrase(Sort.PERSON, OPERATOR), person_at=person_at or _first(spare)
                )
            ]
        case Verb.OPEN | Verb.CLOSE | Verb.TURN_ON | Verb.TURN_OFF:
            place = target or _first(spare) or source
            return [Clause(verb, thing=None if place else first, target=place)] if place or first else []
        case _:
            return [Clause(verb, each, source or _first(spare), target) for each in things or _one(thing)]


def _one(phrase: Phrase | None) -> list[Phrase]:
    return [phrase] if phrase is not None else []


def _first(phrases: Sequence[Phrase]) -> Phrase | None:
    return phrases[0] if phrases else None

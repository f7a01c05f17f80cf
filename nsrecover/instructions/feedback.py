"""What a person says about a result, or in the middle of a sentence → the task as it was meant.

An answer is taken apart like a plain command: parts with prepositions, nouns and names change the slots of the clauses
that fit them. Nothing is changed where a word has no role; then the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.goals import ground
from nsrecover.instructions.plain.about import Unread, Unserved
from nsrecover.instructions.plain.parts import Part, Words
from nsrecover.instructions.plain.words import WORDS, Lexicon
from nsrecover.instructions.reading import THINGS, Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.task import Choices, Question, Refusal, Task

_PATTERNS = {name: re.compile("".join(pattern.split("\n"))) for name, pattern in WORDS["corrections"].items()}
_OPENINGS, _DENIED, _ONE, _IN_SENTENCE = (_PATTERNS[name] for name in ("openings", "denied", "one", "in sentence"))
_ENDINGS = re.compile(
    r"[ ,.!?]*\b(?:instead|please|though|thanks|thank you|i said|i meant|of course|of that|if you please)?[ ,.!?]*$"
)
_MORE = re.compile(r"^(?:you forgot|(?:i )?also|and also|as well as|plus)\b ?|[ ,]*(?:\btoo|\bas well|\balso)$")
_THERE = re.compile(r"\bthere\b(?: too| as well| also)?")
_PLACED = re.compile(r"^(?:it|that|them) (?=(?:on|in|at|to|into|onto|from) )")
_IT = re.compile(r"\b(?:it|that|them)\b")


class Reader(Protocol):
    """Reads the sentences of a home; see `Understanding`."""

    home: Home

    @property
    def lexicon(self) -> Lexicon:
        """The words of the grammar and of the home."""
        ...

    def task(self, sentence: str, choices: Choices | None = None) -> Task | Question | Refusal:
        """What a sentence asks for."""
        ...


def read_with_correction(understanding: Reader, sentence: str, choices: Choices) -> Task | Question | None:
    """The task of a sentence in which a person corrects oneself: "take it to Charlie, no, to Ashley".

    Returns:
        The corrected task, or the question that it leads to; None if the sentence has no correction that is understood.
    """
    found = list(_IN_SENTENCE.finditer(sentence.lower()))
    if not found:
        return None
    begun = understanding.task(sentence[: found[0].start()], choices)
    for k, mark in enumerate(found):
        end = found[k + 1].start() if k + 1 < len(found) else len(sentence)
        if not isinstance(begun, Task):
            return None
        other = corrected(understanding, begun, sentence[mark.end() : end], choices)
        if not isinstance(other, Task):
            return other
        begun = replace(other, sentence=sentence)
    return begun if isinstance(begun, Task) else None


def corrected(understanding: Reader, task: Task, answer: str, choices: Choices) -> Task | Question | None:
    """The task as a person has corrected it.

    Args:
        understanding: of the home's sentences.
        task: what was understood before.
        answer: what the person said.
        choices: phrase -> what it means, by answers to earlier questions.

    Returns:
        The other task, or a question about it; None if the answer is not understood, or changes nothing.
    """
    text = " ".join(Words.of(answer, understanding.lexicon).words).replace(" ,", ",").replace(" .", ".")
    wrong = re.fullmatch(r"(?:no[ ,.]*)?(?:that is the |it was the |the )?wrong (?P<name>[a-z ]+)", text)
    if wrong is not None:
        clauses: Sequence[Clause] | None = _other_of(understanding.home, task.clauses, wrong["name"].split()[-1])
        return _grounded(understanding, task, clauses, choices)
    text = _ENDINGS.sub("", _OPENINGS.sub("", text))
    text = _ENDINGS.sub("", _OPENINGS.sub("", _DENIED.sub(" ", f" {text}").strip(" ,.;!")))
    text = _PLACED.sub("", text)
    if not text:
        return None
    again = _commanded(understanding, task, text)
    if again is not None:
        return again
    return _grounded(understanding, task, _edited(understanding, task.clauses, text), choices)


def _grounded(
    understanding: Reader, task: Task, clauses: Sequence[Clause] | None, choices: Choices
) -> Task | Question | None:
    if not clauses or tuple(clauses) == task.clauses:
        return None
    found = ground(Reading(task.sentence, tuple(clauses)), understanding.home, choices)
    return found if isinstance(found, Task | Question) else None


def _commanded(understanding: Reader, task: Task, text: str) -> Task | Question | None:
    """The task of an answer that is a command of its own, "it" being what the task is about."""
    begins = Words.of(text, understanding.lexicon)
    if not (begins.words and begins.verb(begins.opened(0))):
        return None
    thing = next((clause.thing for clause in reversed(task.clauses) if clause.thing is not None), None)
    place = next((clause.target for clause in reversed(task.clauses) if clause.target is not None), None)
    named = _IT.sub(f"the {thing.text}", text, count=1) if thing is not None else text
    named = _THERE.sub(f"on the {place.text}", named, count=1) if place is not None else named
    found = understanding.task(named)
    return found if isinstance(found, Task | Question) else None


def _edited(understanding: Reader, clauses: Sequence[Clause], text: str) -> list[Clause] | None:
    """Clauses with the slots changed that the parts of an answer name; None if a word has no role."""
    home = understanding.home
    more = _MORE.search(text)
    if more is not None:
        text = _MORE.sub("", text)
    one = _ONE.match(text) or re.match(r"^the (?P<word>other)(?: one)?$", text)
    if one is not None and (named := _alternative(home, clauses, one["word"])) is not None:
        return _with(clauses, Part("np", text, Phrase(Sort.THING, named)), home)
    words = Words.of(text, understanding.lexicon)
    at = re.match(r"^(?:it|that) (?:is|was) ", text)
    try:
        parts = words.parts(2 if at else 0)
    except (Unread, Unserved):
        return None
    if parts is None or parts[1] < len(words.words) or not parts[0]:
        return None
    found: Sequence[Clause] | None = clauses
    for part in parts[0]:
        known = Part("from", part.text, part.phrase) if at and part.kind == "at" else part
        if more is not None and known.kind == "np" and known.phrase is not None and known.phrase.sort in THINGS:
            last = next((each for each in reversed(clauses) if each.thing is not None), None)
            if last is None:
                return None
            found = [*(found or ()), replace(last, thing=known.phrase, source=None)]
            continue
        found = _with(found, known, home) if found is not None else None
    return list(found) if found is not None else None


def _with(clauses: Sequence[Clause], part: Part, home: Home) -> list[Clause] | None:
    """Clauses with the last slot changed that a part fits; None if it fits none."""
    phrase = part.phrase
    if part.kind == "to_me":
        phrase = Phrase(Sort.PERSON, OPERATOR)
    if phrase is None or phrase.constraints or part.kind not in ("np", "and", "to", "at", "from", "for", "to_me"):
        return None
    changed = list(clauses)
    for k in range(len(changed) - 1, -1, -1):
        clause = _changed(changed[k], part.kind, phrase)
        if clause is not None:
            changed[k] = clause
            old = clauses[k].thing
            if part.kind in ("np", "and") and phrase.sort in THINGS and old is not None:
                changed = [replace(each, thing=phrase) if each.thing == old else each for each in changed]
            return changed
    return None


def _changed(clause: Clause, kind: str, phrase: Phrase) -> Clause | None:
    """A clause with another object, place or person; None if it has no slot for that."""
    moves = clause.verb in (Verb.PLACE, Verb.BRING, Verb.TAKE)
    if phrase.sort in THINGS:
        return replace(clause, thing=phrase) if clause.thing is not None and kind in ("np", "and") else None
    if phrase.sort in (Sort.PERSON, Sort.POSED):
        if moves and clause.thing is not None and kind != "from":
            return replace(clause, verb=Verb.BRING, person=phrase, person_at=None, target=None)
        return replace(clause, person=phrase) if clause.person is not None and kind != "from" else None
    if phrase.sort is not Sort.PLACE:
        return None
    if kind == "from":
        if clause.person is not None and clause.thing is None:
            return replace(clause, person_at=phrase)
        return replace(clause, source=phrase) if clause.thing is not None or clause.source is not None else None
    if clause.target is not None:
        return replace(clause, target=phrase)
    if kind == "to" and moves:
        return replace(clause, verb=Verb.PLACE, target=phrase, person=None, person_at=None)
    return replace(clause, source=phrase) if clause.thing is not None else None


def _alternative(home: Home, clauses: Sequence[Clause], word: str) -> str | None:
    """The object of the same kind that a word tells from the one before, or the only other one; None if none is."""
    for clause in reversed(clauses):
        thing = clause.thing
        if thing is None:
            continue
        kind = home.kind(thing.name)
        alike = [item for item in home.items.values() if item.kind == kind]
        others = [item.name for item in alike if item.name != thing.name]
        if word == "other":
            return others[0] if len(others) == 1 and thing.name in home.items else None
        told = [item.name for item in alike if word in item.name.split()[:-1] or word in item.notes]
        if len(told) == 1:
            return told[0]
    return None


def _other_of(home: Home, clauses: Sequence[Clause], noun: str) -> list[Clause] | None:
    """Clauses with the only other place or object that a noun may name; None if there is none, or there are several."""
    for k in range(len(clauses) - 1, -1, -1):
        clause = clauses[k]
        for slot in ("target", "source", "thing"):
            phrase = getattr(clause, slot)
            if phrase is None or not phrase.name.endswith(noun):
                continue
            known = [*home.items] if slot == "thing" else [*home.furniture]
            others = [name for name in known if name.split()[-1] == noun and name != phrase.name]
            if len(others) != 1:
                return None
            other = Phrase(phrase.sort, others[0])
            made = {
                "target": replace(clause, target=other),
                "source": replace(clause, source=other),
                "thing": replace(clause, thing=other),
            }
            return [*clauses[:k], made[slot], *clauses[k + 1 :]]
    return None

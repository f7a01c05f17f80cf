"""Which words of a sentence select or forbid something that no skill serves: nothing is done before they are clear.

The grammar turns a sentence into clauses and may leave words out. This gate does not use its rules: it looks through
the words of the sentence once more, for those that say which object or person is meant, where exactly, or what is not
meant, and asks that each of them is part of what is going to be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import NAME, RESULT
from nsrecover.instructions.sentences.lexing import MARKS, lexed
from nsrecover.instructions.sentences.reading import Clause, Reading, Sort, Verb
from nsrecover.instructions.sentences.words import GRAMMAR, Lexeme, Lexicon, listed, tokens
from nsrecover.instructions.task import Refusal, RefusalCode

ALIKE = 0.7
"""Similarity of a word and of what it is taken for, below which nothing is done (`difflib` ratio)."""

_NAMED = ("thing", "category", "place", "person", "whose", "verb")
_NOUNS = ("thing", "category", "place", "person", "people", "pronoun")
_BEFORE_NOUNS = ("article", "possessive", "whose", "unknown", "number")
_MOVES = (Verb.BRING, Verb.TAKE, Verb.PLACE, Verb.DISCARD)
_CONSTRAINTS = {kind: frozenset(listed(words)) for kind, words in GRAMMAR["constraints"].items()}
_SUPERLATIVE = re.compile(r"[a-z]{2,}(?:i?est)")
_SIDE = re.compile(
    r"\b(?:to|on|from|at|pointing|points|raising|raised|lifting|waving with) (?:the |his |her |their |your |my )?"
    r"(?:left|right)\b"
)
_ARM = re.compile(r"\b(?:left|right) (?:arm|hand|side|one|leg)\b")
_ORDINAL = re.compile(r"\b(?:the|a) (?:second|third|fourth|fifth|sixth|next to last|last|middle) (?!time|thing|of)\w+")
_DENIED = re.compile(r"\b(?:but not|and not|not the|not a|not an|not that|except|excluding)\b")
_CORRECTED = re.compile(
    r"(?:^|[,.;!?] ?|\bactually |\boh )(?:no|nope|wait|sorry|scratch that|correction|i mean|i meant)"
    r"(?= ?[,.;!?]| not\b| wait\b| the\b| to\b| a\b)"
)


def unserved(reading: Reading, lexicon: Lexicon) -> Refusal | None:
    """Return why a reading must not be acted on: a constraint of the sentence that it does not have.

    Args:
        reading: of the sentence.
        lexicon: the words that it was read with.

    Returns:
        The refusal, which names the words; None if nothing was found.
    """
    sought = next((clause.content for clause in reading.clauses if _asks_for(clause)), None)
    if sought is not None:
        return Refusal(RefusalCode.NO_SKILL, f"I have no skill to find out '{sought}'. I did nothing.")
    items = _free(reading, lexicon)
    for said in _constraints(items, reading):
        text = f"I cannot take '{said}' into account. I did nothing; say it in other words."
        return Refusal(RefusalCode.NO_SKILL, text)
    if reading.not_understood:
        words = ", ".join(f"'{word}'" for word in reading.not_understood)
        return Refusal(RefusalCode.UNKNOWN_NAME, f"I do not know {words}. I did nothing; say it in other words.")
    for said, meant in reading.corrected:
        if SequenceMatcher(None, said, meant).ratio() < ALIKE and any(said in item.said for item in items):
            text = f"I do not know '{said}'; did you mean '{meant}'? I did nothing."
            return Refusal(RefusalCode.UNKNOWN_NAME, text)
    return None


def _asks_for(clause: Clause) -> bool:
    """Whether what is to be told is a question, which no skill answers."""
    if clause.verb is not Verb.TELL or clause.content in (RESULT, NAME, ""):
        return False
    if any(clause.content.startswith(known) for known in _CONSTRAINTS["answered"]):
        return False
    first = clause.content.split()[0]
    to_operator = clause.person is not None and clause.person.name == OPERATOR
    return first in _CONSTRAINTS["question"] or (to_operator and first in _CONSTRAINTS["subject"])


def _free(reading: Reading, lexicon: Lexicon) -> list[Lexeme]:
    """The lexemes of a sentence without those that are only told or asked."""
    items = [
        item
        for item in lexed(tokens(reading.sentence), lexicon).items
        if item.said not in MARKS or item.said in ",.;!?"
    ]
    for clause in reading.clauses:
        words = [word for word in clause.content.split() if word not in MARKS]
        span = _span([item.said for item in items], words) if words else None
        if span is not None:
            items = items[: span[0]] + items[span[1] :]
    return items


def _span(said: Sequence[str], words: Sequence[str]) -> tuple[int, int] | None:
    """The first and the last but one index of the lexemes that some words are."""
    for start in range(len(said)):
        left = list(words)
        for end in range(start, len(said)):
            if said[end] in MARKS:
                continue
            parts = said[end].split()
            if left[: len(parts)] != parts:
                break
            left = left[len(parts) :]
            if not left:
                return start, end + 1
    return None


def _constraints(items: Sequence[Lexeme], reading: Reading) -> Iterator[str]:
    """Words that select or forbid something, and are not in what is going to be done."""
    phrases = [phrase for clause in reading.clauses for phrase in clause.phrases]
    served = {word for phrase in phrases for word in phrase.text.split()}
    named = {word for phrase in phrases for word in phrase.name.split()}
    repaired = [said for said, _ in reading.corrected]
    unnamed = any(_is_unnamed(clause) for clause in reading.clauses)
    text = " ".join(item.said for item in items if item.sort != "pose")
    for item in items:
        if item.sort in (*_NAMED, "pose") and item.said not in repaired:
            continue
        for word in item.said.split():
            kinds = ("clothes", "other", "manner", *(["gender"] if unnamed else []))
            chosen = word in _CONSTRAINTS["size"] or _is_superlative(word)
            if (chosen and word not in named) or (
                word not in served and any(word in _CONSTRAINTS[kind] for kind in kinds)
            ):
                yield item.said
    for pattern in (_SIDE, _ARM, _ORDINAL, _DENIED):
        if found := pattern.search(text):
            yield found[0]
    yield from _relations(items, reading)
    yield from _corrections(items, reading, text)


def _is_unnamed(clause: Clause) -> bool:
    """Whether a clause is about people who are known by nothing but their pose."""
    person = clause.person
    counted = clause.verb is Verb.COUNT and clause.thing is None
    return counted or (person is not None and (person.sort is Sort.POSED or person.name == "person"))


def _is_superlative(word: str) -> bool:
    return bool(_SUPERLATIVE.fullmatch(word)) and word not in _CONSTRAINTS["no superlative"]


def _relations(items: Sequence[Lexeme], reading: Reading) -> Iterator[str]:
    """Where something is by another object, or is put beside or under a place."""
    targets = {
        clause.target.name for clause in reading.clauses if clause.verb is Verb.PLACE and clause.target is not None
    }
    moved = {clause.thing.name for clause in reading.clauses if clause.thing is not None and clause.verb in _MOVES}
    for k, item in enumerate(items):
        if item.sort not in ("at", "from", "to"):
            continue
        after = next((each for each in items[k + 1 :] if each.sort not in _BEFORE_NOUNS), None)
        if after is not None and after.sort == "thing" and after.value in moved:
            yield f"{item.said} the {after.said}"  # where it is or goes to is no place of the home
        after = next((each for each in items[k + 1 :] if each.sort in _NOUNS), None)
        if item.said not in _CONSTRAINTS["relation"]:
            continue
        if after is not None and (after.sort in ("thing", "category") or after.value in targets):
            yield f"{item.said} the {after.said}" if after.sort != "pronoun" else item.said


def _corrections(items: Sequence[Lexeme], reading: Reading, text: str) -> Iterator[str]:
    """A correction in the sentence that the clauses do not have."""
    found = _CORRECTED.search(text)
    if found is None:
        return
    names = {phrase.name for clause in reading.clauses for phrase in clause.phrases}
    names |= {word for clause in reading.clauses for phrase in clause.phrases for word in phrase.words}
    place, last = 0, None
    for item in items:
        place += len(item.said) + 1
        if place > found.end() and item.sort in _NOUNS and item.value:
            last = item
    if last is None or last.value not in names:
        yield text[found.start() :].strip(" ,.;!?")

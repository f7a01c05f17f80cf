"""Lexemes → phrases for objects, places and people, each with the preposition before it."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.reading import Phrase, Sort
from nsrecover.instructions.words import Lexeme

_NOUNS = ("thing", "category", "place", "person")
_ENDS = frozenset(("way", "time", "favor", "favour", "moment", "minute", "house", "home", "day", "morning", "evening"))
_PREPOSITIONS = ("from", "to", "at", "preposition")


def phrases_of(items: Sequence[Lexeme]) -> tuple[list[tuple[str, Phrase]], list[tuple[str, bool]]]:
    """The phrases among some lexemes.

    Returns:
        Pairs of a preposition's sort (empty without one) and a phrase, in order; and the words that belong to none,
        each with whether it stands where a noun should.
    """
    found, unknown = list[tuple[str, Phrase]](), list[tuple[str, bool]]()
    named = False  # whether an article or preposition waits for its noun
    prep, definite, owner, words, pose = "", True, "", list[str](), ""
    i = 0
    while i < len(items):
        item = items[i]
        if item.sort in (*_PREPOSITIONS, "article", "whose"):
            named = True
        elif item.sort in (*_NOUNS, "people", "me", "pronoun", "verb", "pose", "that") or item.text in _ENDS:
            named = False
        if item.sort in _PREPOSITIONS:
            prep, definite, owner = item.sort if item.text != "of" else prep, True, ""
        elif item.sort == "article":
            definite = item.value == "True"
        elif item.sort == "whose":
            owner = item.value
        elif item.sort == "pose" and not words and (of := _posed(found)) is not None:
            last = found[of][1]
            if last.name == "person":
                found[of] = (found[of][0], Phrase(Sort.POSED, item.value, last.definite, plural=last.plural))
        elif item.sort == "pose":
            pose = item.value
        elif item.sort == "people":
            sort = Sort.POSED if pose else Sort.PERSON
            found.append((prep, Phrase(sort, pose or "person", definite, owner, tuple(words), item.plural)))
            prep, definite, owner, words, pose = "", True, "", [], ""
        elif item.sort == "me":
            if prep or not i or item.text != "i":
                found.append((prep, Phrase(Sort.PERSON, OPERATOR)))
            prep = ""
        elif item.sort in _NOUNS:
            found.append((prep, Phrase(Sort(item.sort), item.value, definite, owner, tuple(words), item.plural)))
            prep, definite, owner, words = "", True, "", []
        elif item.text == "there" and i + 1 < len(items) and items[i + 1].sort in ("at", "article", "from"):
            pass  # "how many are there on the table"
        elif item.sort == "pronoun":
            found.append((prep, Phrase(Sort.PRONOUN, item.value)))
            prep = ""
        elif item.sort == "that":
            following = items[i + 1] if i + 1 < len(items) else None
            if following is not None and following.sort in ("me", "person") and found:
                note, i = _note(items, i + 1)
                last = found[-1][1]
                found[-1] = (
                    found[-1][0],
                    Phrase(last.sort, last.name, last.definite, last.owner, (*last.words, note), last.plural),
                )
                continue
            if following is not None and following.sort in _NOUNS:
                definite = True
            elif following is None or following.sort in ("mark", "conjunction"):
                found.append((prep, Phrase(Sort.PRONOUN, "it")))
                prep = ""
        elif item.sort in ("unknown", "verb"):
            if item.sort == "unknown" or words or owner:
                words.append(item.text)
        elif item.sort in ("mark", "conjunction"):
            unknown += [(word, named) for word in words]
            words, prep, named = [], "", False
        elif item.sort == "filler" and item.text == "there" and prep == "to":
            found.append(("to", Phrase(Sort.PRONOUN, "there")))
        i += 1
    return found, unknown + [(word, named) for word in words]


def _posed(found: Sequence[tuple[str, Phrase]]) -> int | None:
    """The index of the person to whom a pose belongs that stands behind, also behind the person's place."""
    for i in (-1, -2):
        if len(found) >= -i and found[i][1].sort in (Sort.PERSON, Sort.POSED):
            return i
        if len(found) >= -i and found[i][1].sort is not Sort.PLACE:
            return None
    return None


def _note(items: Sequence[Lexeme], i: int) -> tuple[str, int]:
    """A relative clause as text, and where it ends."""
    words = []
    while i < len(items) and items[i].sort not in ("mark", "conjunction", "verb"):
        if items[i].sort in ("at", "from") and any(item.sort == "place" for item in items[i + 1 : i + 3]):
            break
        words.append(items[i].text)
        i += 1
    return " ".join(word for word in words if word not in ("i", "we")), i

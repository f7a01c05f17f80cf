"""Sentence → lexemes: the longest entries of the lexicon, with unknown words repaired where something is close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.instructions.sentences.words import Lexeme, Lexicon

MARKS = frozenset('.,;:!?"')
_NO_PART = ("article", "from", "to", "at", "for", "with", "me", "i", "possessive", "verb", "aux", "of", "conj")


@dataclass(frozen=True)
class Lexed:
    """The lexemes of some words.

    Attributes:
        items: in order.
        corrected: pairs of words and what they were taken for.
    """

    items: tuple[Lexeme, ...]
    corrected: tuple[tuple[str, str], ...]


def lexed(words: Sequence[str], lexicon: Lexicon) -> Lexed:
    """The lexemes of the words of a sentence."""
    items, corrected, i = list[Lexeme](), list[tuple[str, str]](), 0
    while i < len(words):
        found, used = _longest(words, i, lexicon)
        if found is None and words[i] not in MARKS:
            found, used = _repaired(words, i, lexicon, corrected)
        used = used if found else 1
        items.append(replace(found or _other(words[i]), said=" ".join(words[i : i + used])))
        i += used
    return Lexed(tuple(items), tuple(corrected))


def _longest(words: Sequence[str], i: int, lexicon: Lexicon) -> tuple[Lexeme | None, int]:
    for size in range(min(lexicon.longest, len(words) - i), 0, -1):
        found = lexicon.entries.get(" ".join(words[i : i + size]))
        if found is not None:
            return found, size
    return None, 1


def _repaired(
    words: Sequence[str], i: int, lexicon: Lexicon, corrected: list[tuple[str, str]]
) -> tuple[Lexeme | None, int]:
    """The entry that words from an unknown one on are taken for; a misheard word may have fallen apart."""
    word = words[i]
    if word.endswith("'s"):
        close = lexicon.repaired(word[:-2])
        owner = lexicon.entries.get(f"{close}'s") if close else None
        if owner is not None:
            corrected.append((word, owner.text))
            return owner, 1
    for size in (3, 2, 1):
        part = words[i : i + size]
        if (
            len(part) < size
            or any(each in MARKS or each[0].isdigit() for each in part)
            or (size == 1 and lexicon.known(word))
        ):
            continue
        sorts = [lexicon.entries[each].sort for each in part if each in lexicon.entries]
        if size > 1 and any(sort in _NO_PART for sort in sorts):
            continue
        whole = size > 1 and all(lexicon.known(each) for each in part)
        close = lexicon.written_apart(part) if whole else lexicon.repaired(" ".join(part))
        if close is not None and (size == 1 or size - 1 <= close.count(" ") + 1):
            corrected.append((" ".join(part), close))
            return lexicon.entries[close], size
    return None, 1


def _other(word: str) -> Lexeme:
    """A word that no entry has: a mark, a number, or unknown."""
    if word in MARKS:
        return Lexeme("mark", word)
    return Lexeme("number" if word[0].isdigit() else "unknown", word)

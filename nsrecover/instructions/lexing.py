"""Sentence → lexemes: the longest entries of the lexicon, with unknown words repaired where something is close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.instructions.words import (
    ARTICLES,
    AT,
    FILLERS,
    FROM,
    ME,
    POSSESSIVE,
    PREPOSITIONS,
    PRONOUNS,
    TO,
    Lexeme,
    Lexicon,
)

MARKS = frozenset('.,;:!?"')


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
        if found is None and not lexicon.known(words[i]) and words[i] not in MARKS:
            found, used = _repaired(words, i, lexicon, corrected)
        used = used if found else 1
        items.append(replace(found or _function_word(words[i]), said=" ".join(words[i : i + used])))
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
        if len(part) < size or any(each in MARKS for each in part):
            continue
        if size > 1 and any(each in ARTICLES or each in PREPOSITIONS or each in ME for each in part):
            continue
        close = lexicon.repaired(" ".join(part))
        if close is not None and (size == 1 or size - 1 <= close.count(" ") + 1):
            corrected.append((" ".join(part), close))
            return lexicon.entries.get(close) or _function_word(close), size
    return None, 1


def _function_word(word: str) -> Lexeme:
    """A word that no entry has: an article, preposition, pronoun, mark, filler, or unknown."""
    for sort, known in (
        ("mark", MARKS), ("conjunction", ("and", "then", "so", "because", "since", "but")), ("not", ("not", "never")),
        ("whose", POSSESSIVE), ("me", ME), ("from", FROM), ("to", TO), ("at", AT), ("that", ("that", "which", "who")),
        ("article", ARTICLES), ("pronoun", PRONOUNS), ("preposition", PREPOSITIONS), ("filler", FILLERS),
    ):  # fmt: skip
        if word in known:
            value = POSSESSIVE.get(word, "") or PRONOUNS.get(word, "") or str(ARTICLES.get(word, ""))
            return Lexeme(sort, word, value)
    return Lexeme("filler" if word.isdigit() else "unknown", word)

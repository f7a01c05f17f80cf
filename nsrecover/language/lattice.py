"""Words of a sentence → lattice: known words and misspelt ones as edges, one word at a time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from nsrecover.language.chart import Grammar, Lattice, Meaning
from nsrecover.language.tables import WORDS

SIMILAR = 0.82
"""Similarity (`difflib` ratio) from which an unknown word may be a misspelt known one."""
_MISSPELT_COST, _UNKNOWN_COST, _TEXT_COST, _PLAIN_COST = 2.5, 4.0, 1.6, 1.3
_SHORTEST_MISSPELT = 4
_FIXED = frozenset(
    ("not", "nor", "neither", "either", "none", "both", "three", "four", "five", "seven", "eight", "nine")
)
"""Words that an unknown word is never taken for."""
_ACTING = frozenset(("verb", "split"))
_NAMING = _ACTING | {"thing", "category", "place", "person", "number"}
_TELLING = (
    "not", "no", "never", "only", "except", "unless", "until", "if", "instead", "nothing", "without", "and", "or",
    "but", "please", "so", "could", "can", "would", "should", "must", "may", "might", "shall", "let",
    "there", "here", "it", "them", "him", "her",
)  # fmt: skip
"""Words that no mere reason has."""


_CONTRACTIONS = tuple(
    (re.compile("|".join(rf"(?<![\w'])(?:{each})(?![\w'])" for each in written.split("|\\b"))), meant)
    for written, meant in WORDS["contractions"].items()
)


_STUTTER = re.compile(r"\b(the|a|an|my|your|to|in|on|at|from|i|you|and|it)(?:,? \1\b)+")


def tokens(sentence: str) -> tuple[str, ...]:
    """The words of a sentence in lower case, contractions written out; marks are words of their own."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", sentence).lower()
    text = re.sub(r"\s+'(?=\w+\b)", "'", text.replace("\u2019", "'").replace("`", "'"))
    text = re.sub(r"\s*(?:\.\.+|\u2026|\s[-\u2013\u2014]+\s|\u2014|--)\s*", " , ", text)
    for pattern, meant in _CONTRACTIONS:
        text = pattern.sub(meant, text)
    text = _STUTTER.sub(r"\1", text)
    return tuple(re.findall(r"[^\W_]+(?:['#-][^\W_]+)*|[.,;:!?()]", text))


class Vocabulary:
    """What words and phrases can mean: the closed words of a grammar, and what is added.

    Args:
        grammar: of the sentences.
        skipped: phrases that change nothing, wherever they stand.
        open_classes: classes of which an unknown word may be a misspelt member.
    """

    def __init__(self, grammar: Grammar, skipped: Iterable[str] = (), open_classes: Iterable[str] = ()) -> None:
        self.function_words, self.alone = grammar.words, grammar.alone
        self.skipped, self.open_classes = frozenset(skipped), frozenset(open_classes)
        self._entries: dict[str, dict[tuple[str, ...], list[tuple[str, Meaning, float]]]] = {}
        self._parts: set[str] = set()
        for name, value, texts in grammar.closed:
            self.add(texts, name, value or None)

    def add(self, texts: Iterable[str], name: str, value: Meaning = None, cost: float = 1.0) -> None:
        """Add phrases of a lexical class; each stands for itself if no value is given."""
        for text in texts:
            words = tuple(text.split())
            self._entries.setdefault(words[0], {}).setdefault(words, []).append(
                (name, text if value is None else value, cost)
            )
            self._parts.update(words)

    def knows(self, word: str) -> bool:
        """Whether a word is part of any entry, of the grammar, or a mark."""
        return word in self._parts or word in self.function_words or not word[0].isalnum()

    def lattice(self, words: tuple[str, ...], every: str = "", plain: str = "") -> Lattice:
        """The lattice of a sentence; words that mean nothing by themselves have the class `unknown`.

        Args:
            words: of the sentence.
            every: a class that each word has besides, for free text; empty for none.
            plain: a class of the words that name and change nothing; empty for none.
        """
        edges: list[dict[str, list[tuple[int, Meaning, float]]]] = [{} for _ in words]
        for i, word in enumerate(words if every else ()):
            if word[0].isalnum() or word in ",:":
                edges[i][every] = [(i + 1, word, _TEXT_COST)]
            else:
                edges[i]["mark"] = [(i + 1, word, _TEXT_COST)]
            if plain and word[0].isalnum() and word not in _TELLING:
                kinds = {name for name, _, _ in self._entries.get(word, {}).get((word,), ())} & _NAMING
                if kinds <= _ACTING:
                    edges[i]["does" if kinds else plain] = [(i + 1, word, _PLAIN_COST)]
        for i, word in enumerate(words):
            spelt = [(word, 0.0)] if self.knows(word) else [(one, _MISSPELT_COST) for one in self._similar(word)]
            for each, more in spelt:
                for entry, meanings in self._entries.get(each, {}).items():
                    if words[i + 1 : i + len(entry)] == entry[1:]:
                        for name, value, cost in meanings:
                            if not more or name in self.open_classes:
                                edges[i].setdefault(name, []).append((i + len(entry), value, cost + more))
            if word[0].isalnum() and word not in self.alone and (word,) not in self._entries.get(word, {}):
                edges[i].setdefault("unknown", []).append((i + 1, word, _UNKNOWN_COST))
        return Lattice(words, tuple(edges), tuple(self._skips(words, i) for i in range(len(words))))

    def know(self, words: Iterable[str]) -> None:
        """Add frequent words that mean nothing, and are not misspelt ones."""
        self._parts.update(words)

    def spelt(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words with the misspelt ones replaced by what they are most like."""
        return tuple(word if self.knows(word) else next(iter(self._similar(word)), word) for word in words)

    def corrected(self, words: tuple[str, ...], reading: object) -> Iterator[tuple[str, str]]:
        """The misspelt words of a sentence that a reading has taken for others, with those."""
        text = repr(getattr(reading, "clauses", reading))
        for word in words:
            if not self.knows(word) and f"'{word}'" not in text and f" {word}'" not in text:
                yield from ((word, each) for each in self._similar(word)[:1])

    def _skips(self, words: tuple[str, ...], i: int) -> tuple[int, ...]:
        return tuple(i + n for n in range(1, 6) if i + n <= len(words) and " ".join(words[i : i + n]) in self.skipped)

    def _similar(self, word: str) -> list[str]:
        """Known words that an unknown one may be meant for."""
        if len(word) < _SHORTEST_MISSPELT or not word.isalpha():
            return []
        near = [each for each in self._entries if each[0] == word[0] and each not in _FIXED and len(each) > 2]
        swapped = [each for each in near if len(each) == len(word) and sorted(each) == sorted(word)]
        return swapped or difflib.get_close_matches(word, near, n=2, cutoff=SIMILAR)

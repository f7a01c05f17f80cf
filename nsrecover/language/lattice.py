"""Words of a sentence → lattice: known words and misspelt ones as edges, one word at a time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from nsrecover.language.chart import Grammar, Lattice

SIMILAR = 0.8
"""Similarity (`difflib` ratio) from which an unknown word may be a misspelt known one."""
_MISSPELT_COST, _UNKNOWN_COST = 2.5, 4.0
_SHORTEST_MISSPELT = 4
_FIXED = frozenset(
    ("not", "nor", "neither", "either", "none", "both", "three", "four", "five", "seven", "eight", "nine")
)
"""Words that an unknown word is never taken for."""


_CONTRACTIONS = tuple(
    (re.compile(pattern), meant)
    for pattern, meant in (
        (r"\bcan ?(?:'?t|not)\b", "can not"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|could|would|should|must|need)(?:n't|nt)\b", r"\1 not"),
        (r"\blet'?s\b", "let us"),
        (r"\b(it|that|what|where|there|who|how|here|he|she|someone|somebody|everyone)(?:'s)\b", r"\1 is"),
        (r"\b(what|where|there|that)s\b", r"\1 is"),
        (r"\bi'?m\b", "i am"),
        (r"(?<=[a-z])'re\b", " are"),
        (r"(?<=[a-z])'ve\b", " have"),
        (r"(?<=[a-z])'ll\b", " will"),
        (r"(?<=[a-z])'d\b", " would"),
    )
)


def tokens(sentence: str) -> tuple[str, ...]:
    """The words of a sentence in lower case, contractions written out; marks are words of their own."""
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", sentence).lower().replace("\u2019", "'")
    for pattern, meant in _CONTRACTIONS:
        text = pattern.sub(meant, text)
    return tuple(re.findall(r"[^\W_]+(?:['#-][^\W_]+)*|[.,;:!?()]", text))


class Vocabulary:
    """What words and phrases can mean: the closed words of a grammar, and what is added.

    Args:
        grammar: of the sentences.
        skipped: phrases that change nothing, wherever they stand.
        open_classes: classes of which an unknown word may be a misspelt member.
    """

    def __init__(self, grammar: Grammar, skipped: Iterable[str] = (), open_classes: Iterable[str] = ()) -> None:
        self.function_words, self.skipped, self.open_classes = (
            grammar.words,
            frozenset(skipped),
            frozenset(open_classes),
        )
        self._entries: dict[str, dict[tuple[str, ...], list[tuple[str, Any, float]]]] = {}
        self._parts: set[str] = set()
        for name, value, texts in grammar.closed:
            self.add(texts, name, value or None)

    def add(self, texts: Iterable[str], name: str, value: Any = None, cost: float = 1.0) -> None:
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

    def lattice(self, words: tuple[str, ...], every: str = "") -> Lattice:
        """The lattice of a sentence; words that mean nothing by themselves have the class `unknown`.

        Args:
            words: of the sentence.
            every: a class that each word has besides, for free text; empty for none.
        """
        edges: list[dict[str, list[tuple[int, Any, float]]]] = [{} for _ in words]
        for i, word in enumerate(words if every else ()):
            if word not in ("(", ")"):
                edges[i][every] = [(i + 1, word, 1.0)]
        for i, word in enumerate(words):
            spelt = [(word, 0.0)] if self.knows(word) else [(one, _MISSPELT_COST) for one in self._similar(word)]
            for each, more in spelt:
                for entry, meanings in self._entries.get(each, {}).items():
                    if words[i + 1 : i + len(entry)] == entry[1:]:
                        for name, value, cost in meanings:
                            if not more or name in self.open_classes:
                                edges[i].setdefault(name, []).append((i + len(entry), value, cost + more))
            if word[0].isalnum() and word not in self.function_words and (word,) not in self._entries.get(word, {}):
                edges[i].setdefault("unknown", []).append((i + 1, word, _UNKNOWN_COST))
        return Lattice(words, tuple(edges), tuple(self._skips(words, i) for i in range(len(words))))

    def _skips(self, words: tuple[str, ...], i: int) -> tuple[int, ...]:
        return tuple(i + n for n in range(1, 6) if i + n <= len(words) and " ".join(words[i : i + n]) in self.skipped)

    def _similar(self, word: str) -> list[str]:
        """Known words that an unknown one may be meant for."""
        if len(word) < _SHORTEST_MISSPELT or not word.isalpha():
            return []
        near = [each for each in self._entries if each[0] == word[0] and each not in _FIXED and len(each) > 2]
        return difflib.get_close_matches(word, near, n=2, cutoff=SIMILAR)

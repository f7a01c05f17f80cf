"""Words of several classes, told apart by their neighbours: nouns, verbs, and "have" as an auxiliary verb."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.instructions.sentences.elements import NOUNS, Element
from nsrecover.instructions.sentences.words import Lexeme, Lexicon


class Homographs:
    """Decides what words of several classes are.

    Args:
        items: the lexemes of a sentence.
        lexicon: for words that are nouns and verbs.
    """

    def __init__(self, items: Sequence[Lexeme], lexicon: Lexicon) -> None:
        self.items, self.lexicon = items, lexicon

    def _sort(self, i: int) -> str:
        return self.items[i].sort if 0 <= i < len(self.items) else "mark"

    def _text(self, i: int) -> str:
        return self.items[i].text if 0 <= i < len(self.items) else ""

    def _said(self, k: int) -> str:
        return self.items[k].said if 0 <= k < len(self.items) else ""

    def _as_verb(self, i: int, before: Sequence[Element]) -> Lexeme | None:
        """The verb that a noun is at the beginning of a clause: "bin the orange"."""
        item = self.items[i]
        if item.sort not in (*NOUNS, "pose", "filler", "word") or item.said not in self.lexicon.verbs:
            return None
        first = all(each.kind in ("filler", "conj", "aux", "you", "mark") for each in before[-2:])
        first = first or (bool(before) and before[-1].kind == "mark")
        after = self._sort(i + 1)
        if (
            first
            and before
            and before[-1].kind == "aux"
            and before[-1].text in ("is", "are", "am", "was", "were", "be")
        ):
            return None
        starts = after in ("article", "possessive", "me", "whose") or (
            after == "pronoun" and self._text(i + 1) in ("it", "them", "him", "her")
        )
        to = bool(before) and before[-1].kind == "to" and item.sort in ("category", "thing")
        return self.lexicon.verbs[item.said] if (first or to) and starts else None

    def _is_verbal(self, i: int) -> bool:
        """Whether a noun is a verb: "to drink", "I always drink"."""
        item = self.items[i]
        if item.sort not in ("category", "thing") or item.said not in self.lexicon.verbs:
            return False
        j = i - 1
        while self._sort(j) == "filler" or self._text(j) in ("always", "usually", "often"):
            j -= 1
        return j >= 0 and (
            self._sort(j) in ("i", "you") or self._text(j) in ("to", "will", "would", "can", "could", "must")
        )

    def _is_auxiliary(self, i: int) -> bool:
        """Whether "have" belongs to another verb: "I have lost it", "have you seen it"."""
        j = i + 1
        if self._sort(j) in ("you", "people"):
            j += 1
        while self._sort(j) in ("filler", "not"):
            j += 1
        if self._sort(j) == "aux":
            return True
        return self._sort(j) == "verb" and "past" in self.items[j].forms and self.items[j].text != "have"

    def _noun_position(self, i: int) -> bool:
        """Whether a determiner or an owner stands before a word."""
        j = i - 1
        while j >= 0 and self._sort(j) in ("unknown", "filler"):
            j -= 1
        if self._text(j) == "her":
            return self._sort(i) == "word" or self._text(i) == "question"
        return bool(
            self._sort(j) in ("possessive", "whose")
            or self._text(j) in ("a", "an", "the", "any", "another", "some", "no")
        )

"""The parts of a plain clause: noun phrases, prepositional phrases, manners and particles, in order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nsrecover.instructions.plain.nouns import Nouns
from nsrecover.instructions.plain.words import PREPOSITIONS, SPEECH, UNSERVED, VERBS, WORDS, Lexicon, listed, tokens
from nsrecover.instructions.reading import Phrase, Sort

_MANNERS, _FILLERS = frozenset(listed(WORDS["manners"])), frozenset(listed(WORDS["fillers"]))
_PARTICLES, _TO_ME = frozenset(listed(WORDS["particles"])), frozenset(listed(WORDS["back_to_me"]))
_OPENINGS = frozenset(listed(WORDS["openings"]))
_HARD = frozenset(listed(WORDS["hard verbs"]))
"""Verbs that are never part of a noun phrase."""
_ELSEWHERE, LYING = frozenset(listed(WORDS["elsewhere"])), frozenset(listed(WORDS["lying"]))
_THERE = ("over there", "there")
_LONGEST = 6
_CONJUNCTIONS = ("and", ",", "then", ".", "!", "?", ";")
AUXILIARY = tuple(listed(WORDS["auxiliary"]))
_SUBJECTS = tuple(listed(WORDS["clause subjects"]))
_SIDE = re.compile(
    r"(?:on|at|to) (?:the|my|your|his|her|its) (?:left|right)(?: hand)?(?: side)?(?! (?:hand|side|of)\b)(?![a-z-])"
)
_DETERMINED = frozenset(listed(WORDS["determined"]))


@dataclass(frozen=True)
class Part:
    """A part of a clause.

    Attributes:
        kind: np, to, at, from, near, through, with, for, side, manner, particle, to_me.
        text: as it was said.
        phrase: of a noun phrase, with or without a preposition.
    """

    kind: str
    text: str
    phrase: Phrase | None = None


@dataclass
class Words:
    """The words of a sentence, and what begins at each.

    Attributes:
        words: in lower case; marks are words.
        lexicon: of the home.
        corrected: words that were taken for others.
        failed: the last word that had no role, as an index.
    """

    words: list[str]
    lexicon: Lexicon
    corrected: list[tuple[str, str]] = field(default_factory=list)
    failed: int = 0

    @classmethod
    def of(cls, sentence: str, lexicon: Lexicon) -> Words:
        """The words of a sentence, contractions written out."""
        words, corrected = lexicon.repaired(tokens(sentence))
        return cls(lexicon.rephrased(" ".join(words)).split(), lexicon, corrected)

    def longest(self, i: int, known: Mapping[str, object] | frozenset[str]) -> str:
        """The longest text of a table that begins at a word; empty if none does."""
        for size in range(min(_LONGEST, len(self.words) - i), 0, -1):
            text = " ".join(self.words[i : i + size])
            if text in known:
                return text
        return ""

    def text(self, i: int, end: int) -> str:
        """Some of the words."""
        return " ".join(self.words[i:end])

    @cached_property
    def ends(self) -> list[bool]:
        """Whether a clause begins at each word, although nothing separates it from the one before."""
        return [self._begins(i) for i in range(len(self.words))]

    def _begins(self, i: int) -> bool:
        if self.longest(i, _OPENINGS) or self.longest(i, _FILLERS) in ("please", "maybe", "listen"):
            return True
        verb = self.longest(i, VERBS) or self.longest(i, SPEECH) or self.longest(i, UNSERVED)
        before = self.words[i - 1] if i else ""
        if i and self.text(i - 1, i + 1) in self.lexicon.entries:
            return False  # "remote control"
        if not verb or before in _DETERMINED - {"me", "it", "them"} or before in PREPOSITIONS:
            return False
        after = self.words[i + verb.count(" ") + 1] if i + verb.count(" ") + 1 < len(self.words) else ""
        goes = VERBS.get(verb) == "go" and PREPOSITIONS.get(after) == "to"
        return (
            after in _DETERMINED
            or verb.split()[0] in _HARD
            or i == 0
            or goes
            or verb in ("turn left", "turn right", "turn on", "turn off")
        )

    @cached_property
    def nouns(self) -> Nouns:
        """Reads noun phrases."""
        single = {text for text in PREPOSITIONS if " " not in text}
        manners = {text for text in _MANNERS if " " not in text} - {"left", "right", "fast"}
        single |= {text.split()[0] for text in (*PREPOSITIONS, *_PARTICLES)} | _DETERMINED | _HARD
        stops = {*single, *manners, *_CONJUNCTIONS, *AUXILIARY, *_SUBJECTS, *_ELSEWHERE, *listed(WORDS["noun ends"])}
        stops |= {text.split()[0] for text in LYING}
        harmless, no_nouns = (frozenset(listed(WORDS[name])) for name in ("harmless", "no_nouns"))
        return Nouns(self.lexicon, frozenset(stops), harmless, no_nouns)

    def clause_begins(self, i: int) -> bool:
        """Whether a new clause or sentence begins at a word."""
        if self.text(i, i + 1) in ("it", "they", "this") and self.text(i + 1, i + 2) in AUXILIARY:
            return True
        if self.text(i, i + 1) == "there" and self._apart(i):
            return False
        return i >= len(self.words) or self.ends[i] or self.words[i] in _CONJUNCTIONS or self.words[i] in _SUBJECTS

    def _apart(self, i: int) -> bool:
        """Whether no verb follows a word, as in "put it there"."""
        return self.text(i + 1, i + 2) not in AUXILIARY

    def end(self, i: int) -> int:
        """The index of the mark or conjunction that ends what begins at a word."""
        ends = (".", "!", "?", ";", ",", "so", "but")
        return next((k for k in range(i, len(self.words)) if self.words[k] in ends), len(self.words))

    def end_of_statement(self, i: int, runs_on: bool = False) -> int:
        """The index at which a statement ends: a mark, or an "and", "so" or "please" before a clause.

        Args:
            i: where it begins.
            runs_on: whether a command may follow without any of these.
        """
        for k in range(i + 1, end := self.end(i)):
            after = self.opened(k)
            if (after != k and self.clause_begins(after)) or (runs_on and self.ends[k]):
                return k
        return end

    def verb(self, i: int) -> str:
        """The verb of a command at a word; empty without one."""
        return max(self.longest(i, VERBS), self.longest(i, UNSERVED), key=len)

    def acts(self, i: int) -> bool:
        """Whether a verb of any kind begins at a word."""
        return any(self.longest(i, each) for each in (VERBS, SPEECH, UNSERVED))

    def manner(self, i: int) -> str:
        """How something is to be done, if words for that begin at a word."""
        return self.longest(i, _MANNERS)

    def goes_on(self, i: int) -> bool:
        """Whether a goal begins at a word: "and then in the bathroom"."""
        return PREPOSITIONS.get(self.longest(i, PREPOSITIONS)) in ("to", "at")

    def skipped(self, i: int) -> int:
        """The index behind words that say nothing."""
        while i < len(self.words):
            text = self.longest(i, _FILLERS)
            if not text:
                return i
            i += text.count(" ") + 1
        return i

    def opened(self, i: int) -> int:
        """The index behind conjunctions, politeness and forms of address before a command."""
        while i < len(self.words):
            after = self.skipped(i)
            if after < len(self.words) and self.words[after] in (*_CONJUNCTIONS, ":", "so", "but"):
                after += 1
            opening = self.longest(after, _OPENINGS)
            after += opening.count(" ") + 1 if opening else 0
            if after == i:
                return i
            i = after
        return i

    def parts(self, i: int) -> tuple[list[Part], int] | None:
        """The parts of a clause from a word on, and the index behind them; None if a word fits nowhere."""
        found: list[Part] = []
        while i < len(self.words):
            if found and self.words[i] in ("maybe", "listen"):
                break
            after = self.skipped(i)
            if after > i:
                i = after
                continue
            if self.words[i] == "and" or self.words[i] == ",":
                more = self._another(i + 1, found)
                if more is None:
                    break
                found.append(more[0])
                i = more[1]
                continue
            if found and self.clause_begins(i):
                break
            part = self.part(i, bool(found))
            if part is None:
                self.failed = max(self.failed, i)
                return (found, i) if found and self.clause_begins(i) else None
            found.append(part[0])
            i = part[1]
        return found, i

    def _another(self, i: int, found: Sequence[Part]) -> tuple[Part, int] | None:
        """A further noun phrase behind "and"."""
        if (
            not found
            or i >= len(self.words)
            or self.clause_begins(i)
            or self.opened(i) != i
            or found[-1].phrase is None
        ):
            return None
        if self.acts(i) or self.longest(i, PREPOSITIONS):
            return None
        noun = self.noun(i)
        if noun is not None and self.words[i] not in _DETERMINED and not self.known(noun[0]):
            return None
        kind = found[-1].kind if found[-1].kind in ("with", "near") else "and"
        return (Part(kind, self.text(i, noun[1]), noun[0]), noun[1]) if noun is not None else None

    def part(self, i: int, later: bool) -> tuple[Part, int] | None:
        """The part that begins at a word, and the index behind it; None if none does.

        Args:
            i: the index of the word.
            later: whether other parts come before it.
        """
        rest = " ".join(self.words[i : i + _LONGEST])
        side = _SIDE.match(rest)
        if side is not None:
            return Part("side", side[0]), i + side[0].count(" ") + 1
        to_me = self.longest(i, _TO_ME)
        manner = self.longest(i, _MANNERS)
        there = next((text for text in _THERE if rest.startswith(text)), "")
        if there and later and self._apart(i):
            return Part("to", there, Phrase(Sort.PRONOUN, "there")), i + there.count(" ") + 1
        known = re.match(r"(?:that|which|who) i (?!left on|left in)", rest)
        if known is not None and later:
            end = self.end(i)
            named = any(self.lexicon.entries.get(word) for word in self.words[i:end])
            return None if named else (Part("known", self.text(i, end)), end)
        lies = re.match(r"(?:that|which|who) (?:is|are) ", f"{rest} ")
        size = 2 if lies is not None else len(self.longest(i, LYING).split())
        if size:
            size += len(self.longest(i + size, LYING).split())
            said = self.part(i + size, True) if later and self.longest(i + size, PREPOSITIONS) else None
            return (replace(said[0], kind="from" if said[0].kind == "at" else said[0].kind), said[1]) if said else None
        preposition = self.longest(i, PREPOSITIONS)
        if preposition:
            behind = i + preposition.count(" ") + 1
            noun = self.noun(behind) or (
                (Phrase(Sort.PERSON, "you"), behind + 1) if self.text(behind, behind + 1) == "you" else None
            )
            if noun is not None and not (to_me and len(to_me) > len(preposition)):
                return Part(PREPOSITIONS[preposition], self.text(i, noun[1]), noun[0]), noun[1]
        if to_me in ("back", "over") and self.longest(i + 1, PREPOSITIONS):
            return Part("particle", to_me), i + 1
        if to_me:
            return Part("to_me", to_me), i + to_me.count(" ") + 1
        if manner and (manner not in ("left", "right", "a little") or later is False or i + 1 >= len(self.words)):
            return Part("manner", manner), i + manner.count(" ") + 1
        if self.words[i] in _PARTICLES:
            return Part("particle", self.words[i]), i + 1
        noun = self.noun(i)
        return (Part("np", self.text(i, noun[1]), noun[0]), noun[1]) if noun is not None else None

    def known(self, phrase: Phrase) -> bool:
        """Whether the home has a word for what a phrase names."""
        return phrase.sort is not Sort.THING or phrase.name in self.lexicon.entries

    def noun(self, i: int) -> tuple[Phrase, int] | None:
        """The noun phrase at a word, and the index behind it."""
        found = self.nouns.read(self.words, i, self.ends)
        return (found.phrase, found.end) if found is not None else None

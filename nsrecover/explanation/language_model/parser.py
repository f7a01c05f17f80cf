"""Parser of English sentences about a failure: it accounts for every word of a sentence, or rejects it.

The parser is sound by construction: a sentence counts as understood only if rules account for every character of it.
Whatever no rule knows (a hedge, a negation, an unknown object, a look-alike letter) makes the sentence unreadable, and
an unreadable sentence never counts as true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nsrecover.explanation.language_model.sentence_rules import SLOTS, Claim, Position, RuleMatch, SentenceRule, Topic
from nsrecover.explanation.language_model.vocabulary import LONGEST, MaskedText, RewordingVocabulary

_ATTEMPTS = 20_000
"""Number of rules that are tried on one sentence before the search is given up."""

_BREAK = re.compile(
    r"(?P<cause> (?:because|since|as) |, (?:because|since|as) )"
    r"|(?:,? ?- |[,;:] ?| )(?:and |but |while |whereas |with |which |that )+"
    r"(?P<then>then |finally |next |after that,? )?"
    r"(?P<so>so |therefore |as a result,? )?(?:now |also |still )?"
    r"|[,;:] ?(?P<then2>then |finally |next |after that,? |lastly,? )?(?P<so2>so |therefore |as a result,? )?"
    r"(?:now |also |still )?"
)
_PRONOUN = re.compile(r"(it|they|both of them|both)(?= )")
_SUBJECT = re.compile(rf"({SLOTS['objects']})(?= )")
_SO = re.compile(r"(?:so|therefore|thus|hence|as a result|consequently),? ")


@dataclass(frozen=True)
class Parser:
    """Parses sentences of one domain.

    Attributes:
        vocabulary: names and quotations in the sentences.
        rules: the ways to say something.
    """

    vocabulary: RewordingVocabulary
    rules: tuple[SentenceRule, ...]

    @cached_property
    def by_position(self) -> dict[Position, list[SentenceRule]]:
        """The rules for each position in a sentence."""
        return {position: [rule for rule in self.rules if rule.role.position is position] for position in Position}

    def parse(self, sentence: str) -> tuple[tuple[Claim, ...], ...]:
        """Return the claims of a sentence, once for every way to understand it; empty if the rules do not cover it."""
        if len(sentence) > LONGEST:
            return ()
        masked = self.vocabulary.mask(sentence)
        if masked is None:
            return ()
        body = masked.text.removesuffix(".").rstrip()
        return tuple(dict.fromkeys(_Attempt(self, MaskedText(body, masked.tokens, masked.objects)).parses()))


class _Attempt:
    """Depth-first search over the rules for the parses of one sentence."""

    def __init__(self, parser: Parser, masked: MaskedText) -> None:
        self._parser, self._masked, self._text = parser, masked, masked.text
        self._left = _ATTEMPTS

    def parses(self) -> Iterator[tuple[Claim, ...]]:
        start = _SO.match(self._text)
        if start:
            yield from self._clause(start.end(), (), (Topic.CONSEQUENCE, Topic.REMEDY))
        yield from self._opening(0, ())

    def _matches(self, kind: Position, start: int) -> Iterator[tuple[SentenceRule, re.Match[str]]]:
        for rule in self._parser.by_position[kind]:
            self._left -= 1
            match = rule.pattern.match(self._text, start) if self._left > 0 else None
            if match:
                yield rule, match
                # The second object may belong to the next clause: `lost the red cube and the blue cube was shifted`.
                for cut in re.finditer(r",? and |, ", match[0]):
                    shorter = rule.pattern.match(self._text, start, start + cut.start())
                    if shorter and shorter.end() == start + cut.start():
                        yield rule, shorter

    def _opening(self, position: int, known: tuple[Claim, ...]) -> Iterator[tuple[Claim, ...]]:
        yield from self._clause(position, known)
        for opening, match in self._matches(Position.OPENING, position):
            end = _after_comma(self._text, match.end())
            if end > position:
                yield from self._opening(end, (*known, *opening.claims(RuleMatch(match, (), self._masked))))

    def _clause(
        self, position: int, known: tuple[Claim, ...], topics: Sequence[Topic] = ()
    ) -> Iterator[tuple[Claim, ...]]:
        """Parse a clause with its own subject, of these topics only if any are given."""
        yield from self._statement(Position.CLAUSE, position, (), known, topics)
        for subjects, end in self._subjects(position):
            yield from self._statement(Position.PREDICATE, end, subjects, known, topics)

    def _subjects(self, position: int) -> Iterator[tuple[tuple[str, ...], int]]:
        named = _SUBJECT.match(self._text, position)
        if named:
            yield self._masked.of_kind(named[1], "n"), named.end() + 1
        pronoun = _PRONOUN.match(self._text, position)
        if pronoun:
            # A pronoun is accepted only where it is unambiguous.
            excluded = self._parser.vocabulary.never_pronoun
            mentioned = tuple(name for name in self._masked.mentioned(position) if name not in excluded)
            count = len(mentioned)
            if count == (1 if pronoun[1] == "it" else 2) or (count > 2 and pronoun[1] == "they"):
                yield mentioned, pronoun.end() + 1

    def _statement(
        self,
        kind: Position,
        position: int,
        subjects: tuple[str, ...],
        known: tuple[Claim, ...],
        topics: Sequence[Topic] = (),
    ) -> Iterator[tuple[Claim, ...]]:
        """Parse a clause or the predicate of known subjects, and what follows it."""
        for rule, match in self._matches(kind, position):
            if not topics or rule.role.topic in topics:
                claims = rule.claims(RuleMatch(match, subjects, self._masked))
                yield from self._after(match.end(), subjects, (*known, *claims), rule.role.topic)

    def _after(
        self, position: int, subjects: tuple[str, ...], known: tuple[Claim, ...], topic: Topic
    ) -> Iterator[tuple[Claim, ...]]:
        """Parse what follows a clause: the end of the sentence, a modifier, or another clause."""
        if position == len(self._text):
            yield known
            return
        for found, match in self._matches(Position.MODIFIER, position):
            if match.end() > position and (not found.role.after or topic in found.role.after):
                claims = found.claims(RuleMatch(match, subjects, self._masked))
                yield from self._after(match.end(), subjects, (*known, *claims), topic)
        link = _BREAK.match(self._text, position)
        if link is None or link.end() == position:
            return
        if link["cause"]:
            # It is known that events made the step fail, but not that one event caused another.
            if topic is Topic.FAILURE:
                yield from self._clause(link.end(), known, (Topic.EVENT,))
            return
        topics: tuple[Topic, ...] = ()
        if link["so"] or link["so2"]:
            topics = (Topic.CONSEQUENCE, Topic.REMEDY)
        elif link["then"] or link["then2"]:
            topics = (Topic.REMEDY,)
        yield from self._clause(link.end(), known, topics)
        if subjects:
            yield from self._statement(Position.PREDICATE, link.end(), subjects, known, topics)


def _after_comma(text: str, position: int) -> int:
    match = re.compile(r"[,:]? ").match(text, position)
    return match.end() if match else position

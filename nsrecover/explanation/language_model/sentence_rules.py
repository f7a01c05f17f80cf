"""Rules of the sentence parser: a pattern of words, and the claims that a text with these words makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, product

from nsrecover.core.explanation import Fact
from nsrecover.explanation.language_model.vocabulary import MARK, MaskedText
from nsrecover.util.english import DETERMINERS, NUMBERS
from nsrecover.util.python310 import StrEnum

_ARTICLE = rf"(?:(?:{'|'.join(DETERMINERS)}) )?"
_NAME = rf"{_ARTICLE}{MARK}\d+n"
_NUMBER = rf"(?:\d+|{'|'.join(NUMBERS[1:])})"
SLOTS = {
    "object": _NAME,
    "objects": rf"(?:both )?{_NAME}(?:, {_NAME})*(?:,? and {_NAME})?",
    "number": _NUMBER,
    "steps": rf"steps? {_NUMBER}(?:(?:, {_NUMBER})*,? (?:and|to|through) {_NUMBER})?",
    "action": rf"{MARK}\d+a",
    "quote": rf"{MARK}\d+q(?:(?:, | and |, and ){MARK}\d+q)*",
}
"""Kind of a slot -> pattern of the text that can fill it."""

EACH, ALL = "each subject", "subjects"
"""Arguments of `claims`: one claim per subject of the clause, or one claim about all of them."""


class Topic(StrEnum):
    """Topic of a clause; it decides which clauses may give the reason for which others."""

    FAILURE = "failure"
    EVENT = "event"
    CONSEQUENCE = "consequence"
    REMEDY = "remedy"
    DETAIL = "detail"


class Position(StrEnum):
    """Position in a sentence at which a rule applies.

    An opening comes before the first clause, a predicate follows the subjects of its clause, and a modifier follows a
    clause.
    """

    OPENING = "opening"
    CLAUSE = "clause"
    PREDICATE = "predicate"
    MODIFIER = "modifier"


@dataclass(frozen=True)
class Claim:
    """A statement that a text makes.

    Attributes:
        options: the claim is true if one of these facts is.
    """

    options: frozenset[Fact]

    def __str__(self) -> str:
        return " or ".join(sorted(map(str, self.options)))


@dataclass(frozen=True)
class RuleMatch:
    """The words that a rule matched. `match[name]` is the text of a slot or group, empty if it took no part.

    Attributes:
        match: of the pattern of the rule.
        subjects: names of the objects that the clause is about.
        masked: the text that the words are in.
    """

    match: re.Match[str]
    subjects: tuple[str, ...]
    masked: MaskedText

    def __getitem__(self, slot: str) -> str:
        return (self.match.groupdict().get(slot) or "").strip()

    def tokens(self, slot: str, kind: str) -> tuple[str, ...]:
        """Return the names (kind `n`), actions (`a`) or quotations (`q`) in a slot, as the vocabulary writes them."""
        return self.masked.of_kind(self[slot], kind)

    def number(self, slot: str) -> str:
        """Return the number in a slot, in digits."""
        return _digits(self[slot])

    def range(self, slot: str) -> tuple[int, int] | None:
        """Return the first and last step of a slot `steps`; None if the steps are not consecutive."""
        found = [int(_digits(word)) for word in re.findall(_NUMBER, self[slot].split(" ", 1)[1])]
        listed = " to " not in self[slot] and " through " not in self[slot]
        if listed and found != list(range(found[0], found[-1] + 1)):
            return None
        return found[0], found[-1]

    def values(self, argument: str) -> list[tuple[str, ...]]:
        """Return the alternatives for an argument of `claims`, each as arguments of a fact."""
        slot = argument.removeprefix("each ")
        if slot in ("subject", "subjects"):
            found = self.subjects
        elif len(slot) > 1:
            return [(argument,)]
        elif slot == "n":
            return [(self.number(slot),)]
        else:
            found = self.tokens(slot, slot if slot in "aq" else "n")
        return [found] if slot == argument else [(value,) for value in found]


ClaimMaker = Callable[[RuleMatch], Iterable[Claim]]


@dataclass(frozen=True)
class SentenceRole:
    """Place of a rule in a sentence, and its topic.

    Attributes:
        position: position in a sentence at which the rule applies.
        topic: topic of the clause.
        after: for a modifier, the topics of the clauses that it can follow.
    """

    position: Position
    topic: Topic = Topic.DETAIL
    after: tuple[Topic, ...] = ()


@dataclass(frozen=True)
class SentenceRule:
    """A way to say something.

    Attributes:
        role: position in a sentence, and topic.
        pattern: of the words, in lower case, with stand-ins.
        claims: makes the claims of a match.
    """

    role: SentenceRole
    pattern: re.Pattern[str]
    claims: ClaimMaker


RuleTable = Mapping[SentenceRole, Mapping[str, ClaimMaker]]
"""Role -> pattern of the words -> maker of the claims of a match. In the patterns, `<object:x>`, `<objects:x>`,
`<number:n>`, `<steps:s>`, `<action:a>` and `<quote:q>` are slots for such a thing, named after the colon."""


def rules_of(*tables: RuleTable) -> tuple[SentenceRule, ...]:
    """Return the rules of tables."""
    ways = chain.from_iterable(table.items() for table in tables)
    return tuple(SentenceRule(role, _compiled(pattern), makes) for role, way in ways for pattern, makes in way.items())


def claims(name: str, *arguments: str) -> ClaimMaker:
    """Return a maker of the claims `name(arguments...)`.

    Args:
        name: predicate of the facts.
        arguments: each `EACH`, `ALL`, a slot of one letter (its content, possibly several names), `each x` (one claim
            per name in the slot x), or a word that is taken literally.
    """
    return lambda match: [
        claim(name, *chain.from_iterable(row)) for row in product(*(match.values(argument) for argument in arguments))
    ]


def claim(name: str, *arguments: str) -> Claim:
    """Return the claim of a single fact."""
    return Claim(frozenset({Fact(name, arguments)}))


def each(*names: str) -> ClaimMaker:
    """Return a maker of the claims that one of the predicates holds for every subject."""
    return lambda match: [Claim(frozenset(Fact(name, (who,)) for name in names)) for who in match.subjects]


def no_claims(match: RuleMatch) -> Iterable[Claim]:
    """Return no claims, for words that add nothing."""
    return ()


def _compiled(pattern: str) -> re.Pattern[str]:
    filled = re.sub(r"<(\w+):(\w+)>", lambda slot: rf"(?P<{slot[2]}>{SLOTS[slot[1]]})", pattern)
    return re.compile(rf"(?:{filled})(?![\w-])")


def _digits(word: str) -> str:
    """Return a number word or digits as digits without leading zeros."""
    return str(NUMBERS.index(word)) if word in NUMBERS else str(int(word))

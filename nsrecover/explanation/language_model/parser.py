"""Reading English back: a sentence is understood word by word, or not at all.

Sound by construction: a sentence counts as read only if rules account for every character of it, so whatever a rule
does not know (a hedge, a negation, an object nobody has, a look-alike letter) makes it unreadable, never true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from nsrecover.core.explanation import Fact

MARK = "\uf8ff"
"""Starts a stand-in for a name, an action or a quotation; no text that holds it is read."""

LONGEST = 800
"""Sentences of more characters are not read."""

_ATTEMPTS = 20_000
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ARTICLE = r"(?:(?:the|a|an|my|your|his|her|our|their) )?"
_NAME = rf"{_ARTICLE}{MARK}\d+n"
_NUMBER = rf"(?:\d+|{'|'.join(_NUMBERS[1:])})"
_SLOTS = {
    "object": _NAME,
    "objects": rf"(?:both )?{_NAME}(?:, {_NAME})*(?:,? and {_NAME})?",
    "number": _NUMBER,
    "steps": rf"steps? {_NUMBER}(?:(?:, {_NUMBER})*,? (?:and|to|through) {_NUMBER})?",
    "action": rf"{MARK}\d+a",
    "quote": rf"{MARK}\d+q(?:(?:, | and |, and ){MARK}\d+q)*",
}
_PLAIN = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": ",", "\u00a0": " "}
)
_SHORT = {"can't": "cannot", "won't": "will not", "it's": "it is", "they're": "they are", "that's": "that is"}


class Topic(StrEnum):
    """What a clause is about: which clauses may give a reason for which others hangs on it."""

    FAILURE = "failure"
    EVENT = "event"
    CONSEQUENCE = "consequence"
    REMEDY = "remedy"
    DETAIL = "detail"


class Position(StrEnum):
    """Where in a sentence a rule applies."""

    OPENING = "opening"
    CLAUSE = "clause"
    PREDICATE = "predicate"
    MODIFIER = "modifier"


@dataclass(frozen=True)
class Claim:
    """Something a text says.

    Attributes:
        options: it is so if one of these is.
    """

    options: frozenset[Fact]

    def __str__(self) -> str:
        return " or ".join(sorted(map(str, self.options)))


@dataclass(frozen=True)
class RuleMatch:
    """The words that a rule matched, for the rule to say what they claim.

    Attributes:
        match: of the rule's pattern.
        subjects: names of the objects that the clause is about.
        masked: the text it is in.
    """

    match: re.Match[str]
    subjects: tuple[str, ...]
    masked: Masked

    def __getitem__(self, slot: str) -> str:
        return (self.match.groupdict().get(slot) or "").strip()

    def names(self, slot: str) -> tuple[str, ...]:
        """The objects of a slot."""
        return self.masked.names(self[slot])

    def tokens(self, slot: str, kind: str) -> tuple[str, ...]:
        """The actions (`a`) or quotations (`q`) of a slot, as they are written."""
        return tuple(self.masked.tokens[int(number)] for number in re.findall(rf"{MARK}(\d+){kind}", self[slot]))

    def number(self, slot: str) -> str:
        """A number in digits."""
        return digits(self[slot])

    def range(self, slot: str) -> tuple[int, int] | None:
        """First and last step of a slot `steps`; None if the steps do not follow one another."""
        found = [int(digits(word)) for word in re.findall(_NUMBER, self[slot].split(" ", 1)[1])]
        told_apart = " to " not in self[slot] and " through " not in self[slot]
        if told_apart and found != list(range(found[0], found[-1] + 1)):
            return None
        return found[0], found[-1]


ClaimMaker = Callable[[RuleMatch], Iterable[Claim]]


@dataclass(frozen=True)
class Rule:
    """A way to say something.

    Attributes:
        place: where in a sentence.
        pattern: of the words, lower case, with stand-ins.
        says: what it claims then.
        kind: what it is about.
        only_after: for a modifier, kinds of clauses that it can follow; any if empty.
    """

    place: Position
    pattern: re.Pattern[str]
    says: ClaimMaker
    kind: Topic = Topic.DETAIL
    only_after: frozenset[Topic] = frozenset()


def rule(
    place: Position, pattern: str, says: ClaimMaker, kind: Topic = Topic.DETAIL, only_after: Sequence[Topic] = ()
) -> Rule:
    """A rule.

    Args:
        place: where in a sentence it applies.
        pattern: in it `<object:x>`, `<objects:x>`, `<number:x>`, `<steps:x>`, `<action:x>` and `<quote:x>` stand for
            such a thing, called x.
        says: what it claims then.
        kind: what it is about.
        only_after: for a modifier, kinds of clauses that it can follow; any if empty.
    """
    filled = re.sub(r"<(\w+):(\w+)>", lambda slot: rf"(?P<{slot[2]}>{_SLOTS[slot[1]]})", pattern)
    return Rule(place, re.compile(rf"(?:{filled})(?![\w-])"), says, kind, frozenset(only_after))


def digits(word: str) -> str:
    """A number word or digits, in digits without leading zeros."""
    return str(_NUMBERS.index(word)) if word in _NUMBERS else str(int(word))


def claim(predicate: str, *arguments: str) -> Claim:
    """A claim of one fact."""
    return Claim(frozenset({Fact(predicate, arguments)}))


def each(*predicates: str) -> ClaimMaker:
    """Says that one of the predicates is so of every subject."""
    return lambda said: [Claim(frozenset(Fact(p, (name,)) for p in predicates)) for name in said.subjects]


@dataclass(frozen=True)
class Masked:
    """A text with stand-ins for what is data in it.

    Attributes:
        text: lower case, one space between words.
        tokens: what the stand-ins stand for, by number.
        objects: for each token, names of the objects in it.
    """

    text: str
    tokens: tuple[str, ...]
    objects: tuple[tuple[str, ...], ...]

    def names(self, part: str) -> tuple[str, ...]:
        """The objects named in a part of the text, in order."""
        return tuple(self.tokens[int(number)] for number in re.findall(rf"{MARK}(\d+)n", part))

    def mentioned(self, end: int) -> tuple[str, ...]:
        """Every object mentioned before a position, each once."""
        numbers = re.findall(rf"{MARK}(\d+)[na]", self.text[:end])
        return tuple(dict.fromkeys(name for number in numbers for name in self.objects[int(number)]))


@dataclass(frozen=True)
class Vocabulary:
    """What is data in a text about one scene.

    Attributes:
        names: of the objects.
        quotes: sentences that may be quoted as they are.
        aside: objects that a pronoun never means (the table).
    """

    names: tuple[str, ...]
    quotes: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        # Longest first, so that `red cube` is not found inside `dark red cube`.
        names = "|".join(_spaced(name) for name in sorted(self.names, key=len, reverse=True))
        quotes = "|".join(_spaced(text) for text in sorted(self.quotes, key=len, reverse=True))
        parts = [
            rf"(?P<q>{quotes})" if quotes else "",
            rf"(?P<a>\b\w+\((?:{names})(?:, ?(?:{names}))*\))" if names else "",
        ]
        parts += [rf"(?P<n>{names})" if names else ""]
        found = "|".join(part for part in parts if part)
        return re.compile(rf"(?<![\w-])(?:{found})(?![\w-])", re.IGNORECASE) if found else None

    def names_in(self, text: str) -> frozenset[str]:
        """The objects that a text names, also inside actions."""
        masked = self.mask(text)
        return frozenset(masked.mentioned(len(masked.text))) if masked is not None else frozenset()

    def mask(self, text: str) -> Masked | None:
        """Stand-ins for names, actions and quotations; None if what is left holds anything but plain characters."""
        tokens: list[str] = []
        objects: list[tuple[str, ...]] = []
        known = {" ".join(name.lower().split()): name for name in (*self.names, *self.quotes)}

        def stand_in(match: re.Match[str]) -> str:
            kind = match.lastgroup or "n"
            written = " ".join(match[0].lower().split())
            if kind == "a":
                operator, inner = written[:-1].split("(", 1)
                parts = tuple(known[part] for part in _arguments(inner, known))
                tokens.append(f"{operator}({', '.join(parts)})")
                objects.append(parts)
            else:
                tokens.append(known[written])
                objects.append((known[written],) if kind == "n" else ())
            return f"{MARK}{len(tokens) - 1}{kind}"

        if MARK in text:
            return None
        masked = self._pattern.sub(stand_in, text) if self._pattern else text
        plain = " ".join(masked.translate(_PLAIN).lower().split())
        for short, full in _SHORT.items():
            plain = re.sub(rf"(?<!\w){short}(?!\w)", full, plain)
        plain = re.sub(r"(?<=[a-z])n't(?!\w)", " not", plain).replace("`", "").replace("*", "")
        if not plain.replace(MARK, "").isascii():
            return None
        return Masked(plain, tuple(tokens), tuple(objects))


def _spaced(name: str) -> str:
    return r"\s+".join(re.escape(part) for part in name.split()) or r"(?!)"


def _arguments(inner: str, known: dict[str, str]) -> list[str]:
    """Names of an action's arguments; a name may have a comma in it."""
    parts, current = [], ""
    for piece in inner.split(","):
        current = f"{current},{piece}" if current else piece.strip()
        if current.strip() in known:
            parts.append(current.strip())
            current = ""
    return parts


_BREAK = re.compile(
    r"(?P<cause> (?:because|since|as) |, (?:because|since|as) )"
    r"|(?:,? ?- |[,;:] ?| )(?:and |but |while |whereas |with |which |that )+"
    r"(?P<then>then |finally |next |after that,? )?"
    r"(?P<so>so |therefore |as a result,? )?(?:now |also |still )?"
    r"|[,;:] ?(?P<then2>then |finally |next |after that,? |lastly,? )?(?P<so2>so |therefore |as a result,? )?"
    r"(?:now |also |still )?"
)
_PRONOUN = re.compile(r"(it|they|both of them|both)(?= )")
_SUBJECT = re.compile(rf"({_SLOTS['objects']})(?= )")
_SO = re.compile(r"(?:so|therefore|thus|hence|as a result|consequently),? ")
_IDLE = re.compile(r"(?:unfortunately|sorry|also|in addition|now|moreover|note that|it seems that)?,? ?")


@dataclass(frozen=True)
class Parser:
    """Understands sentences of one domain.

    Attributes:
        vocabulary: what is data.
        rules: what can be said.
    """

    vocabulary: Vocabulary
    rules: tuple[Rule, ...]
    _by_place: dict[Position, list[Rule]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for place in Position:
            self._by_place[place] = [each for each in self.rules if each.place is place]

    def read(self, sentence: str) -> tuple[tuple[Claim, ...], ...]:
        """Every way to understand a sentence; none if there is a word in it that no rule accounts for.

        Args:
            sentence: one sentence, whoever wrote it.
        """
        if len(sentence) > LONGEST:
            return ()
        masked = self.vocabulary.mask(sentence)
        if masked is None:
            return ()
        body = masked.text.removesuffix(".").rstrip()
        return tuple(dict.fromkeys(_Attempt(self, Masked(body, masked.tokens, masked.objects)).parses()))

    def of_place(self, place: Position) -> list[Rule]:
        """The rules that apply somewhere in a sentence."""
        return self._by_place[place]


class _Attempt:
    """One sentence being read: a depth-first search over rules."""

    def __init__(self, reader: Parser, masked: Masked) -> None:
        self._reader, self._masked, self._text = reader, masked, masked.text
        self._left = _ATTEMPTS

    def parses(self) -> Iterator[tuple[Claim, ...]]:
        start = _SO.match(self._text)
        if start:
            yield from self._clause(start.end(), (), (Topic.CONSEQUENCE, Topic.REMEDY))
        yield from self._opening(0, ())

    def _matches(self, place: Position, position: int) -> Iterator[tuple[Rule, re.Match[str]]]:
        for each_rule in self._reader.of_place(place):
            self._left -= 1
            match = each_rule.pattern.match(self._text, position) if self._left > 0 else None
            if match:
                yield each_rule, match
                # A list of objects at the end may really be shorter: `lost the red cube and the blue cube was shifted`.
                for cut in re.finditer(r",? and |, ", match[0]):
                    shorter = each_rule.pattern.match(self._text, position, position + cut.start())
                    if shorter and shorter.end() == position + cut.start():
                        yield each_rule, shorter

    def _opening(self, position: int, told: tuple[Claim, ...]) -> Iterator[tuple[Claim, ...]]:
        yield from self._clause(position, told)
        for opening, match in self._matches(Position.OPENING, position):
            end = _after_comma(self._text, match.end())
            if end > position:
                yield from self._opening(end, (*told, *opening.says(RuleMatch(match, (), self._masked))))

    def _clause(
        self, position: int, told: tuple[Claim, ...], kinds: Sequence[Topic] = ()
    ) -> Iterator[tuple[Claim, ...]]:
        """A clause with its own subject; of some kinds only, if any are given."""
        for found, match in self._matches(Position.CLAUSE, position):
            if not kinds or found.kind in kinds:
                claims = tuple(found.says(RuleMatch(match, (), self._masked)))
                yield from self._after(match.end(), (), (*told, *claims), found.kind)
        for subjects, end in self._subjects(position):
            yield from self._predicate(end, subjects, told, kinds)

    def _subjects(self, position: int) -> Iterator[tuple[tuple[str, ...], int]]:
        named = _SUBJECT.match(self._text, position)
        if named:
            yield self._masked.names(named[1]), named.end() + 1
        pronoun = _PRONOUN.match(self._text, position)
        if pronoun:
            # Read only where nothing else can be meant.
            aside = self._reader.vocabulary.aside
            mentioned = tuple(name for name in self._masked.mentioned(position) if name not in aside)
            if (
                (len(mentioned) == 1)
                if pronoun[1] == "it"
                else (len(mentioned) > 1 and pronoun[1] == "they") or (len(mentioned) == 2)
            ):
                yield mentioned, pronoun.end() + 1

    def _predicate(
        self, position: int, subjects: tuple[str, ...], told: tuple[Claim, ...], kinds: Sequence[Topic] = ()
    ) -> Iterator[tuple[Claim, ...]]:
        for found, match in self._matches(Position.PREDICATE, position):
            if not kinds or found.kind in kinds:
                claims = tuple(found.says(RuleMatch(match, subjects, self._masked)))
                yield from self._after(match.end(), subjects, (*told, *claims), found.kind)

    def _after(
        self, position: int, subjects: tuple[str, ...], told: tuple[Claim, ...], kind: Topic
    ) -> Iterator[tuple[Claim, ...]]:
        """Behind a whole clause: its end, more about it, or another clause."""
        if position == len(self._text):
            yield told
            return
        for found, match in self._matches(Position.MODIFIER, position):
            if match.end() > position and (not found.only_after or kind in found.only_after):
                claims = tuple(found.says(RuleMatch(match, subjects, self._masked)))
                yield from self._after(match.end(), subjects, (*told, *claims), kind)
        link = _BREAK.match(self._text, position)
        if link is None or link.end() == position:
            return
        if link["cause"]:
            # That one event brought about another is known of none; that the step failed of them is.
            kinds: tuple[Topic, ...] = (Topic.EVENT,) if kind is Topic.FAILURE else (Topic.DETAIL,)
            if kind is Topic.FAILURE:
                yield from self._clause(link.end(), told, kinds)
            return
        if link["so"] or link["so2"]:
            kinds = (Topic.CONSEQUENCE, Topic.REMEDY)
        elif link["then"] or link["then2"]:
            kinds = (Topic.REMEDY,)
        else:
            kinds = ()
        yield from self._clause(link.end(), told, kinds)
        if subjects:
            yield from self._predicate(link.end(), subjects, told, kinds)


def _after_comma(text: str, position: int) -> int:
    match = re.compile(r"[,:]? ").match(text, position)
    return match.end() if match else position


def sentences_of(text: str, vocabulary: Vocabulary, most: int = 40) -> tuple[str, ...]:
    """A text cut into sentences, not inside names, without the bullets and numbers of lists.

    Args:
        text: whoever wrote it.
        vocabulary: what is data in it.
        most: sentences beyond these are left out.
    """
    names = sorted((*vocabulary.names, *vocabulary.quotes), key=len, reverse=True)
    ends = "|".join([*(_spaced(name) for name in names), r"(?<=[.!?])\s+(?P<cut>)|\n+(?P<line>)"])
    found, start = [], 0
    for match in re.finditer(ends, text, flags=re.IGNORECASE):
        if match["cut"] is not None or match["line"] is not None:
            found.append(text[start : match.end()])
            start = match.end()
        if len(found) >= most:
            break
    else:
        found.append(text[start:])
    cut = (re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", each_one).strip() for each_one in found)
    return tuple(each_one for each_one in cut if each_one)

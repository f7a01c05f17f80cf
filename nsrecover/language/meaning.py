"""What a sentence says, before it is looked up in a home: clauses with phrases for their objects, places and people."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.util.python310 import StrEnum


class Verb(StrEnum):
    """What a clause wants done."""

    BRING = "bring"
    TAKE = "take"
    PLACE = "place"
    FIND = "find"
    COUNT = "count"
    FOLLOW = "follow"
    GUIDE = "guide"
    TELL = "tell"
    ASK = "ask"
    ANSWER = "answer"
    GO = "go"
    OPEN = "open"
    CLOSE = "close"
    TURN_ON = "turn on"
    TURN_OFF = "turn off"
    POSE = "see the pose of"
    ASK_WHERE = "ask where"


class Sort(StrEnum):
    """What sort of thing a phrase names."""

    THING = "thing"
    CATEGORY = "category"
    PLACE = "place"
    PERSON = "person"
    POSED = "posed person"
    PRONOUN = "pronoun"


THINGS = (Sort.THING, Sort.CATEGORY)
PEOPLE = (Sort.PERSON, Sort.POSED)
SWITCHED = (Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)
RESULT, NAME = "the result", "what is your name?"
"""What is told, if it is what was found out; and the question for a name."""


class ConstraintKind(StrEnum):
    """What a word or phrase says besides which noun is meant."""

    QUALITY = "quality"
    ORDER = "order"
    SIZE = "size"
    GENDER = "gender"
    CLOTHING = "clothing"
    SIDE = "side"
    RELATION = "relation"
    OTHER = "other"
    MANNER = "manner"
    PATH = "path"


@dataclass(frozen=True)
class Constraint:
    """What is said about an object, a place, a person or an action, whether or not a skill serves it.

    Attributes:
        kind: what it is about.
        text: as it was said.
        to: the noun phrase that it relates to, as in "next to the radio"; None without one.
    """

    kind: ConstraintKind
    text: str
    to: Phrase | None = None


@dataclass(frozen=True)
class Phrase:
    """A phrase for an object, place or person.

    Attributes:
        sort: what it names.
        name: the word of the home: a noun, category, place or person; for a person known by the pose, the pose.
        definite: whether one certain object is meant ("the", "my"), not any ("a", "some").
        owner: the person whom it belongs to; "operator" for "my"; empty if not said.
        words: further words before or after it, such as "red", "bought the other day".
        plural: whether several are meant.
        count: how many are meant, as it was said: "two", "both", "all"; empty if that is not said.
        constraints: what else is said about it.
        prep: the preposition before a place, as it was said.
        known: whether the home or the domain names it.
    """

    sort: Sort
    name: str
    definite: bool = True
    owner: str = ""
    words: tuple[str, ...] = ()
    plural: bool = False
    count: str = ""
    constraints: tuple[Constraint, ...] = ()
    prep: str = field(default="", compare=False)
    known: bool = field(default=True, compare=False)

    @property
    def text(self) -> str:
        """The phrase without article."""
        return " ".join((*self.words, self.name))

    def limited(self, *constraints: Constraint) -> Phrase:
        """The phrase with further constraints."""
        return replace(self, constraints=(*self.constraints, *constraints))


@dataclass(frozen=True)
class Clause:
    """One thing to do.

    Attributes:
        verb: what to do.
        thing: the object.
        source: where the object or person is.
        target: where to bring, put, guide or go.
        person: whom to bring, ask, tell, follow, guide or find.
        person_at: where that person is.
        content: what to tell or ask.
        negated: whether it is said not to do it.
        constraints: how it is to be done.
        instead: another object that would do as well.
        either: whether that is said to be so, as with "either"; a mere "or" is to be asked about.
    """

    verb: Verb
    thing: Phrase | None = None
    source: Phrase | None = None
    target: Phrase | None = None
    person: Phrase | None = None
    person_at: Phrase | None = None
    content: str = ""
    negated: bool = False
    constraints: tuple[Constraint, ...] = ()
    instead: Phrase | None = None
    either: bool = True

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of the clause."""
        found = (self.thing, self.source, self.target, self.person, self.person_at)
        return tuple(phrase for phrase in found if phrase is not None)


@dataclass(frozen=True)
class Reading:
    """What a sentence says.

    Attributes:
        sentence: as given.
        clauses: what to do, in order.
        corrected: pairs of words and what they were taken for.
        operator_at: where the operator says to be later ("I will be at the sofa"); None if nothing is said.
        background: statements that change nothing, as they were said.
    """

    sentence: str
    clauses: tuple[Clause, ...]
    corrected: tuple[tuple[str, str], ...] = ()
    operator_at: Phrase | None = None
    background: tuple[str, ...] = ()


THE_OPERATOR = Phrase(Sort.PERSON, OPERATOR)

"""What a sentence becomes: a task with stages, one question, or one answer why it is not done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsrecover.core.facts import StateFact
from nsrecover.language.meaning import Clause, Phrase
from nsrecover.util.python310 import StrEnum

Choices = Mapping[Phrase, "str | tuple[str, ...]"]
"""Phrase -> what a person has said that it means: one thing, or each of several."""


class RefusalCode(StrEnum):
    """Why a sentence leads to no action."""

    EMPTY = "empty"
    TOO_LONG = "too_long"
    NOT_UNDERSTOOD = "not_understood"
    UNKNOWN_NAME = "unknown_name"
    NO_SKILL = "no_skill"
    DANGEROUS = "dangerous"
    HOSTILE = "hostile"
    CONTRADICTION = "contradiction"
    IMPOSSIBLE = "impossible"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Refusal:
    """One answer to a sentence that leads to no action.

    Attributes:
        code: the reason.
        text: for the person who gave the command.
    """

    code: RefusalCode
    text: str


@dataclass(frozen=True)
class TaskQuestion:
    """One short question without whose answer the outcome would be open.

    Attributes:
        text: the question.
        phrase: the phrase that is not clear.
        options: what it may mean; empty if any place of the home may be the answer.
    """

    text: str
    phrase: Phrase
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """A part of a task that is planned on its own, after the parts before it.

    Attributes:
        goal: conditions of the service domain.
        things: object -> room or place to which its search is limited; empty for the whole home.
        people: person -> the same.
        places: places that the goal is about.
        more: further objects of the scene -> traits: what is said, asked, counted.
        static: facts that never change.
        reports: whether what it tells is what was found out before.
    """

    goal: tuple[StateFact, ...]
    things: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)
    places: tuple[str, ...] = ()
    more: Mapping[str, frozenset[str]] = field(default_factory=dict)
    static: tuple[StateFact, ...] = ()
    reports: bool = False


@dataclass(frozen=True)
class Task:
    """What a robot is to do.

    Attributes:
        sentence: as given.
        stages: in order.
        operator_at: where the operator is going to be; empty if nothing is said.
        notes: how ambiguity that does not change the outcome was resolved, and which words were left out.
        clauses: what was understood: who, what with all that is said about it, where from, where to, content, in order.
    """

    sentence: str
    stages: tuple[Stage, ...]
    operator_at: str = ""
    notes: tuple[str, ...] = ()
    clauses: tuple[Clause, ...] = ()

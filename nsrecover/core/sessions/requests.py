"""What a session asks its driver to do, and the answers of people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Decided, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT_co
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.python310 import StrEnum


class Question(StrEnum):
    """What a person is asked to decide."""

    APPROVE = "approve"
    """Whether to take a recovery."""
    GIVE_UP = "give_up"
    """Whether to do the rest of a task of which a part is lost for good."""


class Answer(StrEnum):
    """A person's answer to a question."""

    YES = "yes"
    NO = "no"
    """Of a recovery a veto: another way is searched for. Of a rest: ask for help."""
    LOOK_AGAIN = "look_again"
    """The person has changed the scene: observe it and judge it again."""


def decided_by(answer: object) -> Decided:
    """Return a checked answer with whose it is.

    Args:
        answer: a `Decided`, an `Answer`, or a truth value for yes and no.

    Raises:
        InvalidConfiguration: it is no answer.
    """
    given, by = (answer.answer, answer.by) if isinstance(answer, Decided) else (answer, "")
    if isinstance(given, bool):
        given = Answer.YES if given else Answer.NO
    if given not in tuple(Answer):
        raise InvalidConfiguration(f"expected an answer ({', '.join(Answer)}) or a truth value, found {given!r}")
    return Decided(str(given), by)


@dataclass(frozen=True)
class Decision(Generic[SceneT_co]):
    """A question to a person.

    Attributes:
        question: what is asked.
        recovery: the recovery that it is about.
        plan: the plan so far.
        text: the question in words.
    """

    question: Question
    recovery: Recovery[SceneT_co]
    plan: Plan
    text: str


@dataclass(frozen=True)
class Unusable:
    """Stands for an observation that could not be made.

    Attributes:
        problem: why.
    """

    problem: str


@dataclass(frozen=True)
class Act:
    """Carry out an action, then report an observation (`observed`), or that the robot failed to end it (`failed`)."""

    code: ClassVar[str] = "act"
    final: ClassVar[bool] = False
    action: Action


@dataclass(frozen=True)
class Interrupt:
    """Stop the action that runs and bring the robot out of the way, then report an observation (`observed`).

    Attributes:
        action: what runs.
        name: the object that is not where it is in successful actions.
    """

    code: ClassVar[str] = "interrupt"
    final: ClassVar[bool] = False
    action: Action
    name: str


@dataclass(frozen=True)
class Look:
    """Observe the scene; nothing may be executed before.

    Attributes:
        names: what should be seen, the most important first; empty: from the same place.
    """

    code: ClassVar[str] = "look"
    final: ClassVar[bool] = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask(Generic[SceneT_co]):
    """Ask a person, then report the answer (`answered`)."""

    code: ClassVar[str] = "ask"
    final: ClassVar[bool] = False
    decision: Decision[SceneT_co]


@dataclass(frozen=True)
class Done:
    """The plan is done, and every part of its goal was seen to hold that no person has given up."""

    code: ClassVar[str] = "done"
    final: ClassVar[bool] = True


@dataclass(frozen=True)
class Stopped:
    """The session has ended before its goal was seen to hold, and asks for help.

    Attributes:
        why: the stable code.
        reason: the reason in words.
    """

    code: ClassVar[str] = "stopped"
    final: ClassVar[bool] = True
    why: StopCode
    reason: str


Request = Act | Interrupt | Look | Ask[SceneT_co] | Done | Stopped
"""What a session asks for; `final` says whether it was the last one."""


AnyDecision = Decision[Any]
"""A question to a person, about scenes of any type."""

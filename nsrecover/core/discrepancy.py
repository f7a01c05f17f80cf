"""Discrepancies: the result of comparing an imagined with an observed scene."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from nsrecover.core.actions import Action
from nsrecover.core.explanation import Fact
from nsrecover.core.scene import Box, FloatArray, SceneGraph


class Phase(StrEnum):
    """When a discrepancy was noticed: before an action was run, or after it."""

    BEFORE = "before"
    AFTER = "after"


class CodeWithMeaning(StrEnum):
    """Base of enumerations whose members have a stable code and a `meaning`, which is also their docstring."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Return a member with its code and its docstring."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = member.__doc__ = meaning
        return member


class Cause(CodeWithMeaning):
    """What happened to a deviating object.

    The codes are stable, and the same in Python, JSON and every adapter; docs/causes.md lists them.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    MOVED = "moved", "It stands elsewhere, though nothing was to touch it."
    MISSING = "missing", "It is not to be seen any more."
    NOT_LIFTED = "not_lifted", "It was to be moved and still is where it was."
    DROPPED = "dropped", "It was lifted but fell: before it reached its place, or from there."
    MISPLACED = "misplaced", "It was set down elsewhere than in its place."
    TOPPLED = "toppled", "It fell from what it stood on, or over where it stood."
    SWAPPED = "swapped", "It and another object took each other's place."
    HELPED = "helped", "It already is where a later step of the plan would put it."
    BLOCKING = "blocking", "It was put where a later step has to put another object, or on top of what has to move."


@dataclass(frozen=True)
class Deviation:
    """An object that is not as expected.

    Attributes:
        name: the object.
        cause: what happened to it.
        probability: P(as expected), from the discriminator.
        distance_m: between the expected and the observed box centre (inf if it is missing).
        expected: box in the imagined scene.
        observed: box in the seen scene; None if it is missing.
        other: the object that explains the cause (swap partner, what it lies on now), if there is one.
        subgoal: for `helped`, the number of plan steps after which this is right.
    """

    name: str
    cause: Cause
    probability: float
    distance_m: float
    expected: Box
    observed: Box | None
    other: str | None = None
    subgoal: int | None = None


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """The comparison of the expected with the observed scene; true in a condition if something is wrong.

    Attributes:
        step: number of the action in the plan (from 0) before or after which it was made.
        phase: before or after that action.
        action: the action.
        expected: the imagined scene.
        observed: the seen scene.
        probabilities: (N,) P(as expected) for each object.
        total: D = N - sum of the probabilities (Kalithasan et al., section IV-C).
        threshold: probability under which an object counts as wrong.
        deviations: the objects that are wrong, and how.
        unmet: what keeps the preconditions of the action from holding (only before an action).
    """

    step: int
    phase: Phase
    action: Action
    expected: SceneGraph
    observed: SceneGraph
    probabilities: FloatArray
    total: float
    threshold: float
    deviations: tuple[Deviation, ...]
    unmet: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.deviations or self.unmet)

    @property
    def deviating(self) -> tuple[str, ...]:
        """Names of the deviating objects, in scene order."""
        return tuple(each.name for each in self.deviations)

"""Discrepancies: the result of comparing an imagined with an observed scene."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from nsrecover.core.actions import Action
from nsrecover.core.explanation import Fact
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.core.sensing import SensorFinding


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


class Verdict(StrEnum):
    """The result of a comparison. The codes are stable."""

    AS_EXPECTED = "as_expected"
    """Nothing deviates, and what the action was to move has been seen in its place."""
    DEVIATING = "deviating"
    """Something deviates, or a precondition of the action does not hold."""
    CANNOT_TELL = "cannot_tell"
    """Nothing that is seen deviates, and what matters is not seen: `Discrepancy.missing_to_tell` says what."""


class UnseenReason(CodeWithMeaning):
    """Why nothing can be said of an object. The codes are stable.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    OCCLUDED = "occluded", "Something stands in front of its place, or its place is outside every image."
    NO_MASK = "no_mask", "Something is in its place, but no mask shows it."
    NO_DEPTH = "no_depth", "No camera has depth readings at its place."
    MERGED_MASKS = "merged_masks", "A mask at its place shows another object, too."
    LOOKS_DISAGREE = "looks_disagree", "The observations disagree on whether it is in its place."


@dataclass(frozen=True)
class Unseen:
    """An object of which nothing can be said; it is assumed to be where it is expected.

    Attributes:
        name: the object.
        reason: why it is not seen.
        other: the object whose mask is at its place, if there is one.
        moved: whether an action was to move it, and it has not been seen since.
    """

    name: str
    reason: UnseenReason
    other: str | None = None
    moved: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """The comparison of the expected with the observed scene; true in a condition if something is wrong.

    False in a condition does not mean that all is well: the `verdict` may be that nobody can tell. Ask `as_expected`
    before going on.

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
        unseen: objects that are not seen and may be in their places, whether they matter or not. What no action was to
            move since it was seen last is taken to be where it was.
        missing_to_tell: what is missing for a verdict: those of `unseen` that the action was to move, or that the next
            action needs and an earlier one was to move; and the cameras that fail.
        sensors: what is wrong with cameras, whether it matters for the verdict or not.
        newcomers: objects that are neither in the first scene nor in the plan, such as a hand, and those that the
            detector does not name, such as masks that show nothing. They may be in the way, but they never deviate, and
            a recovery must not move them.
        looks: number of observations that the verdict is based on.
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
    unseen: tuple[Unseen, ...] = ()
    missing_to_tell: tuple[Unseen | SensorFinding, ...] = ()
    sensors: tuple[SensorFinding, ...] = ()
    newcomers: tuple[str, ...] = ()
    looks: int = 1

    def __bool__(self) -> bool:
        return self.verdict is Verdict.DEVIATING

    @property
    def verdict(self) -> Verdict:
        """Whether the scene is as expected, deviates, or cannot be judged."""
        if self.deviations or self.unmet:
            return Verdict.DEVIATING
        return Verdict.CANNOT_TELL if self.missing_to_tell else Verdict.AS_EXPECTED

    @property
    def as_expected(self) -> bool:
        """Whether nothing deviates and everything that matters was seen."""
        return self.verdict is Verdict.AS_EXPECTED

    @property
    def deviating(self) -> tuple[str, ...]:
        """Names of the deviating objects, in scene order."""
        return tuple(each.name for each in self.deviations)

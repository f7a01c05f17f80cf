"""Discrepancies: the result of comparing an imagined with an observed scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.explanation import Fact
from nsrecover.core.scene import Box, FloatArray, SceneT_co
from nsrecover.core.sensing import SensorFinding
from nsrecover.util.python310 import Self, StrEnum


class Phase(StrEnum):
    """When a discrepancy was noticed: before an action was run, or after it."""

    BEFORE = "before"
    AFTER = "after"


class CodeWithMeaning(StrEnum):
    """Base of enumerations whose members have a stable code and a `meaning`, which is also their docstring."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
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

    MOVED = "moved", "It is elsewhere, although no action should have moved it."
    MISSING = "missing", "It can no longer be seen anywhere."
    REPLACED = "replaced", "An object that was not there before is in its place, and it can no longer be seen anywhere."
    NOT_LIFTED = "not_lifted", "The action should have moved it, and it still is where it was."
    NOT_DONE = "not_done", "The action should have changed it, and it is as it was before."
    DROPPED = "dropped", "It was lifted but fell: before it reached its place, or from there."
    MISPLACED = "misplaced", "The action put it somewhere else than in its place."
    TOPPLED = "toppled", "It fell from what it stood on, or over where it stood."
    SWAPPED = "swapped", "It and another object took each other's place."
    MISTAKEN = "mistaken", "The action changed it instead of the object that it should have changed."
    HELPED = "helped", "It already is as a later step of the plan makes it."
    BLOCKING = "blocking", "It is in the way of a later step of the plan."
    TURNED = "turned", "It is in its place, but turned about the vertical, although no action should have turned it."
    LEANING = "leaning", "It is in its place, but leans: its top is tilted."
    LYING = "lying", "It is in its place, but on another side: its top is higher or lower than it should be."
    CHANGED = "changed", "It is in another state, although no action should have changed it."


UNDONE = frozenset({Cause.NOT_LIFTED, Cause.NOT_DONE})
"""Causes of what an action should have changed and did not."""
STANCES = frozenset({Cause.TURNED, Cause.LEANING, Cause.LYING})
"""Causes of what is in its place and does not stand as it did."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ValueT_co = TypeVar("ValueT_co", covariant=True, default=Box)
else:
    from typing import TypeVar

    ValueT_co = TypeVar("ValueT_co", covariant=True)


@dataclass(frozen=True)
class Deviation(Generic[ValueT_co]):
    """An object that is not as expected; its values are boxes, or facts of a symbolic domain.

    Attributes:
        name: the object.
        cause: what happened to it.
        probability: P(as expected).
        distance_m: between the expected and the observed box centre; inf if it is missing, or of facts.
        expected: box in the imagined scene, or facts about it that should hold and do not.
        observed: box in the observed scene, or facts about it that hold and should not; None if it is missing.
        other: the object that explains the cause (swap partner, what it lies on now, what it was taken for), if any.
        subgoal: for `helped`, the number of plan steps after which this is right.
        since: number of the action (from 0) after which it was noticed first; None: before the first, or not known.
        uncertain_m: how far the observed centre may be off along the line of sight (95 %), metres, if all cameras look
            from one side; else 0.
    """

    name: str
    cause: Cause
    probability: float
    distance_m: float
    expected: ValueT_co
    observed: ValueT_co | None
    other: str | None = None
    subgoal: int | None = None
    since: int | None = None
    uncertain_m: float = 0.0


class Verdict(StrEnum):
    """The result of a comparison. The codes are stable."""

    AS_EXPECTED = "as_expected"
    """Nothing deviates, and what the action should have moved has been seen in its place."""
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
    NO_DEPTH = "no_depth", "No camera has enough depth readings of it, or at its place."
    MERGED_MASKS = "merged_masks", "A mask at its place shows another object, too."
    NO_CAMERA = "no_camera", "Every camera has moved or is covered."
    LOOKS_DISAGREE = "looks_disagree", "The observations disagree on whether it is in its place."


@dataclass(frozen=True)
class Unseen:
    """An object of which nothing can be said; it is assumed to be where it is expected.

    Attributes:
        name: the object.
        reason: why it is not seen.
        other: the object whose mask is at its place, if there is one.
        moved: whether an action should have moved it, and it has not been seen since.
    """

    name: str
    reason: UnseenReason
    other: str | None = None
    moved: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class Unknown:
    """A property that matters and is unknown; `property` is a state variable, or `PLACE`."""

    name: str
    property: str

    def __str__(self) -> str:
        return f"{self.name}: {self.property}"


class PlanFault(CodeWithMeaning):
    """Faults of a plan before its execution. The codes are stable.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    WRONG_OBJECT = "wrong_object", "With another object in one step, or from it on, the plan works."
    WRONG_ORDER = "wrong_order", "With one step at another place, the plan works."
    MISSING_STEP = "missing_step", "With further steps at one place, the plan works."
    DESTROYS = "destroys", "A step makes the goal unreachable."
    UNREACHABLE = "unreachable", "No plan reaches the goal from the scene as it is."
    FAILS = "fails", "A step cannot be done, or the goal does not hold in the end, and no small change helps."


@dataclass(frozen=True)
class PlanProblem:
    """A fault of a plan.

    Attributes:
        fault: the stable code.
        step: number of the step that it is about, from 0.
        steps: steps that are missing there; for `wrong_order` the step that is misplaced.
        objects: for `wrong_object` the wrong and the right one.
        unmet: conditions that are not met because of it: of the step, or else of the goal.
    """

    fault: PlanFault
    step: int
    steps: tuple[Action, ...] = ()
    objects: tuple[str, ...] = ()
    unmet: tuple[Fact, ...] = ()


AnyDeviation = Deviation[Any]
"""A deviation of a box or of facts."""


@dataclass(frozen=True, eq=False)
class Discrepancy(Generic[SceneT_co]):
    """The comparison of the expected with the observed scene.

    It has three verdicts, so it has no truth value: ask `as_expected` before going on, or `deviates`.

    Attributes:
        step: number of the action in the plan (from 0) before or after which it was made.
        phase: before or after that action.
        action: the action.
        expected: the imagined scene.
        observed: the observed scene; of facts what is seen and what is remembered.
        deviations: the objects that are wrong, and how.
        unmet: what keeps the preconditions of the action from holding; after an action, of one that could not be done.
        missing_to_tell: what is missing for a verdict: unseen objects that the action should have moved, or that the
            next action needs; unknown properties; and the cameras that fail.
        looks: number of observations that the verdict is based on.
        probabilities: (N,) P(as expected) for each object of a scene graph.
        threshold: probability under which an object counts as wrong.
        unseen: objects that are not seen and may be in their places, whether they matter or not. What no action should
            have moved since it was seen last is assumed to be where it was.
        sensors: what is wrong with cameras, whether it matters for the verdict or not.
        newcomers: objects that are neither in the first scene nor in the plan, such as a hand, and those that the
            detector does not name, such as masks that show nothing. They may be in the way, but they never deviate, and
            a recovery must not move them.
        plan_problem: why the rest of a symbolic plan does not lead to its goal (before an action), or what of the goal
            does not hold (after the last one).
        before: of boxes, the scene before the action (only after an action); its effect may be relative to that.
    """

    step: int
    phase: Phase
    action: Action
    expected: SceneT_co
    observed: SceneT_co
    deviations: tuple[AnyDeviation, ...] = ()
    unmet: tuple[Fact, ...] = ()
    missing_to_tell: tuple[Unseen | Unknown | SensorFinding, ...] = ()
    looks: int = 1
    probabilities: FloatArray = field(default_factory=lambda: np.zeros(0, np.float32))
    threshold: float = 0.5
    unseen: tuple[Unseen, ...] = ()
    sensors: tuple[SensorFinding, ...] = ()
    newcomers: tuple[str, ...] = ()
    plan_problem: PlanProblem | None = None
    before: SceneT_co | None = None

    def __bool__(self) -> bool:
        raise TypeError(
            "expected as_expected, deviates or verdict of a discrepancy, found its truth value; it has three verdicts: "
            "as expected, deviating, cannot tell"
        )

    @property
    def verdict(self) -> Verdict:
        """Whether the scene is as expected, deviates, or cannot be judged."""
        if self.deviations or self.unmet or self.plan_problem:
            return Verdict.DEVIATING
        return Verdict.CANNOT_TELL if self.missing_to_tell else Verdict.AS_EXPECTED

    @property
    def as_expected(self) -> bool:
        """Whether nothing deviates and everything that matters was seen."""
        return self.verdict is Verdict.AS_EXPECTED

    @property
    def deviates(self) -> bool:
        """Whether something deviates, or a precondition of the action does not hold."""
        return self.verdict is Verdict.DEVIATING

    @property
    def deviating(self) -> tuple[str, ...]:
        """Names of the deviating objects, in scene order."""
        return tuple(each.name for each in self.deviations)

    @property
    def chances(self) -> dict[str, float]:
        """P(as expected) of every object, in scene order; empty for scenes of facts."""
        return dict(zip(getattr(self.observed, "names", ()), self.probabilities.tolist(), strict=False))

    @property
    def total(self) -> float:
        """D = N - sum of the probabilities (Kalithasan et al., section IV-C)."""
        return float(len(self.probabilities) - self.probabilities.sum())


AnyDiscrepancy = Discrepancy[Any]
"""A comparison of scenes of any type."""

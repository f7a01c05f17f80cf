"""What can be found to be wrong with a run, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nsrecover.domains.base import Fact
from nsrecover.explanation.logs.records import Step


class RootCause(StrEnum):
    """Why a run failed."""

    DROPPED = "dropped"
    MISSED_GRASP = "missed_grasp"
    ACTION_FAILED = "action_failed"
    MISPLACED = "misplaced"
    CAME_UNDONE = "came_undone"
    NEVER_OPENED = "never_opened"
    MISSING_STEP = "missing_step"
    WRONG_ORDER = "wrong_order"
    WRONG_ACTION = "wrong_action"
    WRONG_OBJECT = "wrong_object"
    UNDONE_BY_PLAN = "undone_by_plan"
    ALREADY_FILLED = "already_filled"
    ALREADY_RUNNING = "already_running"
    MISTAKEN_OBJECT = "mistaken_object"
    AMBIGUOUS_NAME = "ambiguous_name"
    OCCUPIED = "occupied"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    NONE = "none"


class Kind(StrEnum):
    """What failed: carrying the task out, or the picture of the scene it was planned on."""

    EXECUTION = "execution"
    PLANNING = "planning"
    NONE = "none"


KINDS: Mapping[RootCause, Kind] = {
    **dict.fromkeys(RootCause, Kind.EXECUTION),
    # The steps would do in the scene that the planner had in mind; in this one they mean or meet something else.
    **dict.fromkeys(
        (RootCause.MISTAKEN_OBJECT, RootCause.AMBIGUOUS_NAME, RootCause.OCCUPIED, RootCause.BLOCKED), Kind.PLANNING
    ),
    RootCause.NONE: Kind.NONE,
}
"""The kind that people who annotated such logs give a cause: everything that was dropped, missed, left out, done too
early or done with the wrong thing counts as execution; planning is what rests on a wrong picture of the scene."""


@dataclass(frozen=True)
class Finding:
    """What went wrong.

    Attributes:
        cause: the root cause.
        times: when, as written in the log; the most telling first.
        objects: what it happened to first, then what explains it (what was taken instead, what is in the way, ...).
        step: the step that failed, or at which it went wrong.
        steps: the same, where several went wrong in the same way.
        missing: steps that the plan lacks.
        earlier: the step that went before its time, undid something or lost something.
        unmet: what is not so that should be.
        where: where the thing was seen afterwards.
        liquid: what a vessel was filled with.
    """

    cause: RootCause
    times: tuple[str, ...]
    objects: tuple[str, ...]
    step: Step | None = None
    steps: tuple[Step, ...] = ()
    missing: tuple[Step, ...] = ()
    earlier: Step | None = None
    unmet: Fact | None = None
    where: str = ""
    liquid: str = ""

    @property
    def kind(self) -> Kind:
        """Execution or planning."""
        return KINDS[self.cause]


@dataclass(frozen=True)
class Checked:
    """A subgoal with its verdict.

    Attributes:
        time: of its end, as written.
        step: the action, with the objects that were acted on.
        planned: the same as the plan has it, which may be less definite.
        satisfied: whether it holds.
        why: the observation that decides, in words.
        instead: what was acted on by mistake.
        event: index of its key frame among the events.
    """

    time: str
    step: Step
    planned: Step
    satisfied: bool
    why: str
    instead: str | None
    event: int = field(compare=False)

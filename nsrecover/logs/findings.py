"""Root causes of failed runs, and checked subgoals, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.util.python310 import StrEnum


class RootCause(StrEnum):
    """Why a run failed."""

    DROPPED = "dropped"
    MISSED_GRASP = "missed_grasp"
    ACTION_FAILED = "action_failed"
    MISPLACED = "misplaced"
    NEVER_OPENED = "never_opened"
    MISSING_STEP = "missing_step"
    WRONG_ORDER = "wrong_order"
    WRONG_ACTION = "wrong_action"
    WRONG_OBJECT = "wrong_object"
    WRONG_PLACE = "wrong_place"
    UNDONE_BY_PLAN = "undone_by_plan"
    ALREADY_FILLED = "already_filled"
    ALREADY_RUNNING = "already_running"
    MISTAKEN_OBJECT = "mistaken_object"
    AMBIGUOUS_NAME = "ambiguous_name"
    OCCUPIED = "occupied"
    BLOCKED = "blocked"
    UNSUITABLE = "unsuitable"
    UNKNOWN = "unknown"
    NONE = "none"


class FailureKind(StrEnum):
    """What failed: the execution of the task, or the scene model that the plan was made with."""

    EXECUTION = "execution"
    PLANNING = "planning"
    NONE = "none"


_PLANNING = (RootCause.MISTAKEN_OBJECT, RootCause.AMBIGUOUS_NAME, RootCause.OCCUPIED, RootCause.BLOCKED)
"""Causes that annotators of such logs count as planning: the steps would succeed in the scene that the planner assumed.
What was dropped, missed, omitted, done too early or with the wrong object counts as execution."""


@dataclass(frozen=True)
class Finding:
    """What went wrong.

    Attributes:
        cause: the root cause.
        times: when, as written in the log; the most important first.
        objects: the affected object first, then what explains it (the object taken instead, the obstacle, ...).
        step: the step that failed.
        missing: steps that the plan lacks.
        earlier: the earlier step that came too early, undid something or lost an object.
        unmet: the condition that does not hold.
        where: where the object was seen afterwards.
        liquid: what a vessel was filled with.
        reason: why an object is not suitable; `holds` if the success condition holds in spite of the failure.
        since: when it was last seen right and first seen wrong; empty if that is not known.
        clear: whether nothing was seen in the way.
    """

    cause: RootCause
    times: tuple[str, ...]
    objects: tuple[str, ...]
    step: Action | None = None
    missing: tuple[Action, ...] = ()
    earlier: Action | None = None
    unmet: StateFact | None = None
    where: str = ""
    liquid: str = ""
    reason: str = ""
    since: tuple[str, ...] = ()
    clear: bool = False

    @property
    def kind(self) -> FailureKind:
        """Execution or planning; none if the run succeeded."""
        if self.cause is RootCause.NONE:
            return FailureKind.NONE
        # A machine that was to run with its door open is one, too.
        open_door = self.cause is RootCause.WRONG_ORDER and self.unmet is not None and self.unmet[0] == "closed"
        return FailureKind.PLANNING if self.cause in _PLANNING or open_door else FailureKind.EXECUTION


@dataclass(frozen=True)
class Checked:
    """A subgoal, checked against the observation at its end.

    Attributes:
        time: of its end, as written.
        step: the action, with the objects that were acted on.
        planned: the action as the plan has it, which may leave open which object is meant.
        satisfied: whether the subgoal holds.
        why: the observation that decides, as text.
        instead: the object that was acted on by mistake.
        event: index of the event at which it was tried.
        told: whether the log has a line about its end.
    """

    time: str
    step: Action
    planned: Action
    satisfied: bool
    why: str
    instead: str | None
    event: int = field(compare=False)
    told: bool = True

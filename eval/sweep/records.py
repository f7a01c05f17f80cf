"""Records of episodes: all data for the tables, one row of rows.jsonl each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nsrecover.core import EpisodeStatus, RecoveryStatus


def succeeded(record: EpisodeRecord) -> bool:
    """Whether an episode succeeded: it reached its goal, or asked for help if there is no recovery."""
    return record.completed if record.recoverable else record.decided_right


def failure_of(record: EpisodeRecord) -> Failure | None:
    """Return why an episode failed; None if it succeeded."""
    if succeeded(record):
        return None
    if record.status == CRASHED:
        return Failure.CRASHED
    if not record.recoverable:
        return Failure.WENT_ON
    if record.lost:
        return Failure.LOST
    if record.status == EpisodeStatus.ASKED_FOR_HELP:
        return _asked_in_vain(record)
    gone = set(record.deviations)
    if gone & set(record.unnoticed):
        return Failure.NOT_NOTICED
    answered = {recovery.after for recovery in record.recoveries}
    if any(
        action.noticed and gone & set(action.wrong) and k not in answered for k, action in enumerate(record.actions, 1)
    ):
        return Failure.LEFT
    if any(gone & set(recovery.astray) for recovery in record.recoveries):
        return Failure.WRONG_WAY
    # a consequence of another deviation
    return Failure.NOT_NOTICED if record.unnoticed else Failure.DRIFT


def _asked_in_vain(record: EpisodeRecord) -> Failure:
    """Return why it asked for help although a recovery exists."""
    last = record.recoveries[-1] if record.recoveries else None
    if last is None or last.found:
        return Failure.KEPT_FAILING
    if not last.wrong and not last.errors:
        return Failure.FALSE_ALARM
    if last.status == RecoveryStatus.BUDGET_EXHAUSTED:
        return Failure.OUT_OF_BUDGET
    return Failure.GIVEN_UP


CRASHED = "crashed"
"""Status of an episode that could not continue, next to those of `nsrecover.core.episode.EpisodeStatus`."""


class Failure(StrEnum):
    """Reason of a failed episode."""

    LOST = "lost"
    """An object was truly gone or out of reach when an error was noticed: no recovery existed."""
    NOT_NOTICED = "not_noticed"
    """An object deviates at the end because of an unnoticed error, or as a consequence of one."""
    FALSE_ALARM = "false_alarm"
    """It asked for help without an error."""
    GIVEN_UP = "given_up"
    """It found no recovery although one exists."""
    OUT_OF_BUDGET = "out_of_budget"
    """The search stopped before it found a recovery."""
    KEPT_FAILING = "kept_failing"
    """It asked for help after too many recoveries."""
    LEFT = "left"
    """It noticed the error and did not correct it."""
    WRONG_WAY = "wrong_way"
    """A recovery does not reach its subgoal even when the ideal executor carries it out."""
    DRIFT = "drift"
    """Deviations below the tolerance have added up."""
    WENT_ON = "went_on"
    """It continued although no recovery exists."""
    CRASHED = "crashed"
    """The run could not continue."""


@dataclass(frozen=True)
class ActionRecord:
    """Executed action.

    Attributes:
        action: the action.
        step: its number in the original plan, from 0; None within a recovery.
        faults: kinds of the faults that struck.
        wrong: objects that deviate from the result of the ideal executor: name -> deviation.
        looked: whether the planner observed the scene afterwards.
        noticed: whether it reports an error.
        culprits: objects that it blames -> cause.
        notes: of the simulator.
    """

    action: str
    step: int | None
    faults: tuple[str, ...]
    wrong: Mapping[str, str]
    looked: bool
    noticed: bool
    culprits: Mapping[str, str]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class OptimumRecord:
    """True optimum at an error (`eval.common.optimum`).

    Attributes:
        cost: fewest actions of the recovery and the rest of the plan.
        actions: of these, the actions of the recovery.
        to_subgoal: fewest actions to the chosen state; None if it cannot be reached.
    """

    cost: int
    actions: int
    to_subgoal: int | None = None


@dataclass(frozen=True)
class RecoveryRecord:
    """Alarm of a planner, and its recovery.

    Attributes:
        after: number of actions executed before it.
        step: number of the action in the original plan, from 0; None within a recovery.
        phase: before or after that action.
        errors: N_err, errors since the last recovery; 0 for a false alarm.
        faults: kinds of the faults among them.
        wrong: truly deviating objects: name -> deviation.
        culprits: blamed objects -> cause.
        violated: preconditions that do not hold, as the planner says.
        lost: objects that are gone or out of reach -> which.
        status: of planning (`nsrecover.core.recovery.RecoveryStatus`).
        actions: of the recovery.
        subgoal: number of original steps done at the subgoal; None within an earlier recovery.
        cost: of the recovery and the rest of the plan; None if none was found.
        proven: whether the planner has proven that no cheaper recovery exists.
        expansions: nodes of the search.
        seconds: wall time of planning.
        cpu_s: processor time of planning.
        reason: why there is no recovery, in words.
        blamed: objects that cause this.
        right: whether the ideal executor reaches the subgoal with it; None if no recovery was found.
        astray: objects that deviate from the subgoal then.
        best: the optimum; None if there is no recovery.
    """

    after: int
    step: int | None
    phase: str
    errors: int
    faults: tuple[str, ...]
    wrong: Mapping[str, str]
    culprits: Mapping[str, str]
    violated: tuple[str, ...]
    lost: Mapping[str, str]
    status: str
    actions: tuple[str, ...]
    subgoal: int | None
    cost: float | None
    proven: bool
    expansions: int
    seconds: float
    cpu_s: float
    reason: str
    blamed: tuple[str, ...]
    right: bool | None
    astray: Mapping[str, str]
    best: OptimumRecord | None

    @property
    def found(self) -> bool:
        """Whether the planner found a recovery."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)


@dataclass(frozen=True)
class EpisodeRecord:
    """Record of an episode under a planner.

    Attributes:
        dataset: of the episode.
        episode: its number there.
        objects: number of objects.
        length: actions of the plan.
        scheduled: the most faults at a step.
        recoverable: whether a recovery exists, by the dataset.
        actions: all executed actions.
        recoveries: all alarms with a planned recovery.
        status: at the end, as the planner says (`nsrecover.core.episode.EpisodeStatus`), or `CRASHED`.
        reason: why it did not complete, as the planner says.
        deviations: objects more than 2 cm from their place in the fault-free run, or on another support.
        unmet: promised relations that do not hold at the end.
        unnoticed: objects with unnoticed deviations.
        seconds: wall time of the episode, rendering and judging included.
        cpu_s: processor time of the same.
        planning_s: wall time of all planning.
        planning_cpu_s: processor time of all planning.
        planner: name of the planner.
        seed: of the dataset.
        extra: columns that others have added.
    """

    dataset: str
    episode: int
    objects: int
    length: int
    scheduled: int
    recoverable: bool
    actions: tuple[ActionRecord, ...]
    recoveries: tuple[RecoveryRecord, ...]
    status: str
    reason: str
    deviations: Mapping[str, str]
    unmet: tuple[str, ...]
    unnoticed: tuple[str, ...]
    seconds: float
    cpu_s: float
    planning_s: float
    planning_cpu_s: float
    planner: str = ""
    seed: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lost(self) -> bool:
        """Whether truly no recovery existed at some alarm; other planners may avoid such states."""
        return any(recovery.lost for recovery in self.recoveries) or not self.recoverable

    @property
    def completed(self) -> bool:
        """Whether the goal was reached: every object is where the fault-free run puts it."""
        return self.status == EpisodeStatus.COMPLETED and not self.deviations

    @property
    def false_completion(self) -> bool:
        """Whether it says that the plan is done, and an object is not where the fault-free run puts it."""
        return self.status == EpisodeStatus.COMPLETED and bool(self.deviations)

    @property
    def promised(self) -> bool:
        """Whether the plan was executed to its end and all promised relations hold."""
        return self.status == EpisodeStatus.COMPLETED and not self.unmet

    @property
    def decided_right(self) -> bool:
        """Whether it asked for help if, and only if, no recovery exists."""
        return self.status != CRASHED and (self.status == EpisodeStatus.ASKED_FOR_HELP) != self.recoverable

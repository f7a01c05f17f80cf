"""Episodes of the agent: one record for each turn of its loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT_co
from nsrecover.util.python310 import StrEnum


class Fate(StrEnum):
    """What was decided about a recovery. The codes are stable."""

    PROPOSED = "proposed"
    """Nothing: the run stopped there, or is a recording."""
    VETOED = "vetoed"
    """A person vetoed it."""
    ACCEPTED = "accepted"
    """The robot follows it; `Episode.carried_out` says how far it came."""


@dataclass(frozen=True)
class Decided:
    """What a person decided about a turn.

    Attributes:
        answer: a `nsrecover.core.sessions.requests.Answer`, or `stop`.
        by: the person's name; empty if it is not known.
    """

    answer: str
    by: str = ""


@dataclass(frozen=True, eq=False)
class StepRecord(Generic[SceneT_co]):
    """One turn of the main loop, for reports and explanations.

    Attributes:
        action: the executed action; None if the check before it failed, so that it was not executed, and if its
            result was judged again.
        recovering: whether the action belongs to a recovery and not to the original plan.
        graph: the scene afterwards.
        discrepancy: the comparison that was made.
        recovery: the recovery, if one was needed.
        explanation: the explanation, if something was wrong.
        plan: the plan at that time.
        time_s: time of the observation, by the world's clock.
        fate: what was decided about `recovery`.
        vetoed: the recoveries that a person vetoed before `recovery` was found.
        decided: what people decided, in their order.
    """

    action: Action | None
    recovering: bool
    graph: SceneT_co
    discrepancy: Discrepancy[SceneT_co]
    plan: Plan
    recovery: Recovery[SceneT_co] | None = None
    explanation: Explanation | None = None
    time_s: float = 0.0
    fate: Fate = Fate.PROPOSED
    vetoed: tuple[Recovery[SceneT_co], ...] = ()
    decided: tuple[Decided, ...] = ()


class EpisodeStatus(StrEnum):
    """How an episode ended, judged by the robot."""

    RUNNING = "running"
    """It has not ended."""
    COMPLETED = "completed"
    ASKED_FOR_HELP = "asked_for_help"
    REVIEWED = "reviewed"
    """A recording of another executor was reviewed; no recovery was executed."""


class StopCode(StrEnum):
    """Why a session ended before its plan was done. The codes are stable."""

    STOPPED = "stopped"
    """The driver or a person ended it."""
    EXECUTION_FAILED = "execution_failed"
    """The robot reported that it did not end an action."""
    NO_OBSERVATION = "no_observation"
    """None of several observations could be used."""
    CANNOT_TELL = "cannot_tell"
    """Something that the next action needs cannot be seen."""
    NO_WAY_BACK = "no_way_back"
    """There is no way back to the plan, or none was found in time."""
    REPEATED = "repeated"
    """The same error occurred again and again with the same recovery."""
    TOO_MANY = "too_many"
    """There were too many recoveries."""
    VETOED = "vetoed"
    """A person vetoed every recovery."""
    GOAL_UNSEEN = "goal_unseen"
    """Every action is done, and a part of the goal could not be seen afterwards."""
    GOAL_MISSED = "goal_missed"
    """Every action is done, and a part of the goal does not hold."""


@dataclass(frozen=True, eq=False)
class Episode(Generic[SceneT_co]):
    """One episode of the agent.

    Attributes:
        plan: the original plan.
        status: how it ended.
        reason: text of why it stopped; empty if completed.
        start: the first scene.
        records: every turn of the loop.
        start_s: time of the first observation, by the world's clock.
        why: the stable code of why it stopped; None if it did not ask for help.
    """

    plan: Plan
    status: EpisodeStatus
    reason: str
    start: SceneT_co
    records: tuple[StepRecord[SceneT_co], ...]
    start_s: float = 0.0
    why: StopCode | None = None

    @property
    def given_up(self) -> tuple[tuple[str, ...], ...]:
        """Conditions of a symbolic goal that were lost for good, and that a person agreed to give up."""
        return tuple(
            fact for each in self.records if each.recovery and each.fate is Fate.ACCEPTED for fact in each.recovery.lost
        )

    def carried_out(self, number: int) -> tuple[int, ...]:
        """Which actions of the recovery of a turn were executed, as their numbers in it; none if it was not followed.

        A later recovery may rejoin the plan inside this one; what is executed of it then counts.

        Args:
            number: of the turn in `records`, from 0.
        """
        record, done = self.records[number], set[int]()
        if record.recovery is None or record.fate is not Fate.ACCEPTED:
            return ()
        left: list[int | None] = list(range(len(record.recovery.actions)))
        left.extend([None] * (len(record.plan) - record.recovery.resumes_at(len(record.plan))))
        for later in self.records[number + 1 :]:
            step = later.discrepancy.step
            own = left[step] if step < len(left) else None  # at the end only the goal is looked at
            if later.action is not None and own is not None:
                done.add(own)
            if later.fate is Fate.ACCEPTED and later.recovery is not None:
                left = later.recovery.in_place_of(left)
        return tuple(sorted(done))


AnyRecord = StepRecord[Any]
"""One turn, of scenes of any type."""


AnyEpisode = Episode[Any]
"""An episode of scenes of any type."""

"""What the agent did: one record for each turn of its loop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph


@dataclass(frozen=True, eq=False)
class StepRecord:
    """One turn of the main loop, for reports and explanations.

    Attributes:
        action: what was done; None if it was not run because the check before it failed.
        recovering: whether the action belongs to a recovery and not to the original plan.
        graph: the scene afterwards.
        discrepancy: the comparison that was made.
        recovery: the way back, if one was needed.
        explanation: the words, if something was wrong.
        plan: the plan as it stood when the turn was taken.
        time_s: when the scene was looked at, by the world's clock.
    """

    action: Action | None
    recovering: bool
    graph: SceneGraph
    discrepancy: Discrepancy
    plan: Plan
    recovery: Recovery | None = None
    explanation: Explanation | None = None
    time_s: float = 0.0


class EpisodeStatus(StrEnum):
    """How an episode ended, in the robot's own judgement."""

    COMPLETED = "completed"
    ASKED_FOR_HELP = "asked_for_help"
    REVIEWED = "reviewed"
    """Somebody else carried it out; the recording was gone through afterwards, and no recovery was run."""


@dataclass(frozen=True, eq=False)
class Episode:
    """What the agent did.

    Attributes:
        plan: the original plan.
        status: how it ended.
        reason: why it stopped, in words (empty if completed).
        start: the first scene.
        records: every turn of the loop.
        start_s: when the first scene was looked at, by the world's clock.
    """

    plan: Plan
    status: EpisodeStatus
    reason: str
    start: SceneGraph
    records: tuple[StepRecord, ...]
    start_s: float = 0.0

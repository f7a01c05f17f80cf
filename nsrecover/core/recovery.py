"""The way back to the plan, as the planner returns it: codes and facts; `nsrecover.explanation` has the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nsrecover.core.actions import Action
from nsrecover.core.scene import SceneT_co
from nsrecover.util.python310 import StrEnum

Step = TypeVar("Step")


class RecoveryStatus(StrEnum):
    """How a search for a recovery ended."""

    RECOVERED = "recovered"
    ALREADY_AT_SUBGOAL = "already_at_subgoal"
    IMPOSSIBLE = "impossible"
    BUDGET_EXHAUSTED = "budget_exhausted"


class ReasonCode(StrEnum):
    """Why there is no recovery, or why a search stopped before the proof. The codes are stable."""

    MISSING_OBJECTS = "missing_objects"
    """Objects that the plan needs are gone."""
    OUT_OF_REACH = "out_of_reach"
    """Objects that have to move are out of the robot's reach."""
    NO_ROOM = "no_room"
    """Objects have to get out of the way and there is no free place for them."""
    BLOCKED_OUT_OF_REACH = "blocked_out_of_reach"
    """Objects in the way are out of the robot's reach."""
    BLOCKED_BY_NEWCOMER = "blocked_by_newcomer"
    """Objects in the way appeared during the run, so the robot does not touch them."""
    PRECONDITION_UNMET = "precondition_unmet"
    """Every object is in place, and a precondition of the next action does not hold."""
    NO_SEQUENCE = "no_sequence"
    """No sequence of actions leads back."""
    UNACHIEVABLE = "unachievable"
    """No action can achieve some facts of the goal."""
    CONFLICTING_GOALS = "conflicting_goals"
    """Facts of the goal exclude each other: none is lost alone, and no reachable state has all of them."""
    NODE_BUDGET = "node_budget"
    """The search stopped: the node budget was used up."""
    TIME_BUDGET = "time_budget"
    """The search stopped: the time was used up."""
    CANCELLED = "cancelled"
    """The search stopped: the caller cancelled it."""


@dataclass(frozen=True)
class Improvement:
    """A way that the anytime search found, cheaper than all before it.

    Attributes:
        seconds: wall time since the search began.
        expansions: nodes expanded until then.
        cost: of the way and of the rest of the plan.
    """

    seconds: float
    expansions: int
    cost: float


@dataclass(frozen=True, eq=False)
class Recovery(Generic[SceneT_co]):
    """The way back to the plan.

    Attributes:
        status: how the search ended.
        actions: what to do to reach the subgoal (empty if already there, or if there is no way).
        graphs: the imagined scene after each of `actions`.
        subgoal: number of plan steps that are done once `actions` are; the plan goes on from there.
        rest: the imagined scene after each action of the plan that is left then.
        staying: displaced objects that stay where they are, because no later action needs them elsewhere.
        cost: cost of `actions` plus the cost of the rest of the plan.
        proven_optimal: no recovery in the search model is cheaper by more than the planner's tolerance.
        expansions: search nodes expanded.
        seconds: wall time of the search.
        reason_code: why there is no way, or why the search stopped before the proof; None if neither applies.
        blamed: the objects that `reason_code` is about.
        note: text of a planner that has no code for its reason; replaces the text of `reason_code`.
        lower_bound: no recovery in the search model costs less.
        lost: conditions of a symbolic goal that this recovery gives up; if there is no way, those that nothing can
            achieve any longer.
        closest: if there is no way, the way to as much of the goal as can be reached; to be confirmed by a person.
        improvements: every way that the search found, each cheaper than the one before; the last one is this recovery.
        exchanged: object of the plan, and the one that takes its part from now on, in the goal, too.
    """

    status: RecoveryStatus
    actions: tuple[Action, ...] = ()
    graphs: tuple[SceneT_co, ...] = ()
    subgoal: int | None = None
    rest: tuple[SceneT_co, ...] = ()
    staying: tuple[str, ...] = ()
    cost: float = float("inf")
    proven_optimal: bool = False
    expansions: int = 0
    seconds: float = 0.0
    reason_code: ReasonCode | None = None
    blamed: tuple[str, ...] = ()
    note: str = ""
    lower_bound: float = 0.0
    lost: tuple[tuple[str, ...], ...] = ()
    closest: Recovery[SceneT_co] | None = None
    improvements: tuple[Improvement, ...] = ()
    exchanged: tuple[tuple[str, str], ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a way to go on."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)

    def resumes_at(self, num_actions: int) -> int:
        """The step of a plan of that many actions with which the robot goes on after the recovery.

        The number of actions, so nothing is left, if the recovery leads to no subgoal.
        """
        return num_actions if self.subgoal is None else self.subgoal

    def in_place_of(self, steps: Sequence[Step | None]) -> list[Step | None]:
        """What the steps of a plan are called after the recovery has taken the place of the next ones.

        Args:
            steps: names or numbers of the plan's steps.

        Returns:
            None for each action of the recovery, then those of the steps with which the robot goes on.
        """
        return [*(None for _ in self.actions), *steps[self.resumes_at(len(steps)) :]]

    def actions_left(self, num_actions: int) -> int:
        """Number of actions until the end of a plan of that many actions, those of the recovery included."""
        return len(self.actions) + num_actions - self.resumes_at(num_actions)


AnyRecovery = Recovery[Any]
"""A recovery of scenes of any type."""

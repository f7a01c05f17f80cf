"""The way back onto the plan, as the planner returns it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from nsrecover.core.actions import Action
from nsrecover.core.scene import SceneGraph


class RecoveryStatus(StrEnum):
    """How a search for a way back ended."""

    RECOVERED = "recovered"
    ALREADY_AT_SUBGOAL = "already_at_subgoal"
    IMPOSSIBLE = "impossible"
    BUDGET_EXHAUSTED = "budget_exhausted"


@dataclass(frozen=True, eq=False)
class Recovery:
    """The way back onto the plan.

    Attributes:
        status: how the search ended.
        actions: what to do to reach the subgoal (empty if already there, or if there is no way).
        graphs: the imagined scene after each of `actions`.
        subgoal: number of plan steps that are done once `actions` are; the plan goes on from there.
        rest: the imagined scene after each action of the plan that is left then.
        staying: displaced objects that stay where they are, because nothing that follows needs them elsewhere.
        cost: cost of `actions` plus the cost of the rest of the plan.
        proven_optimal: no cheaper way exists in the model.
        expansions: search nodes expanded.
        seconds: wall time of the search.
        reason: in words, why there is no way (or why the search stopped).
        blamed: objects that stand in the way of any recovery, if it is impossible.
    """

    status: RecoveryStatus
    actions: tuple[Action, ...] = ()
    graphs: tuple[SceneGraph, ...] = ()
    subgoal: int | None = None
    rest: tuple[SceneGraph, ...] = ()
    staying: tuple[str, ...] = ()
    cost: float = float("inf")
    proven_optimal: bool = False
    expansions: int = 0
    seconds: float = 0.0
    reason: str = ""
    blamed: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a way to go on."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)

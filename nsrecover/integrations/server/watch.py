"""One plan being watched: what a session does when it is its turn. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.explanation import Explanation
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidPlan
from nsrecover.monitoring.monitor import Monitor
from nsrecover.planning.planner import Rejoin
from nsrecover.system import System


class OutOfTurn(InvalidPlan):
    """Something that the session is not at the point for."""


@dataclass(frozen=True)
class Systems:
    """What sessions are watched with; one of each in memory, for all sessions.

    Attributes:
        learned: checkpoints by name, the default one first.
        boxes_only: for scenes without appearance features.
    """

    learned: dict[str, System]
    boxes_only: System


class Kind(StrEnum):
    """What a session is given to see."""

    IMAGES = "images"
    FEATURES = "scenes with features"
    BOXES = "scenes without features"


@dataclass(frozen=True)
class Look:
    """What came of one observation.

    Attributes:
        phase: before or after an action; None for the first observation.
        action: that action.
        graph: the scene.
        discrepancy: how it differs from what was imagined; None for the first observation.
    """

    phase: Phase | None
    action: Action | None
    graph: SceneGraph
    discrepancy: Discrepancy | None


class Watch:
    """Follows one plan from observation to observation; one call at a time.

    Args:
        systems: what to watch with.
        checkpoint: which of them.
        plan: what will be done.
        rejoin: what counts as being back on the plan.
    """

    def __init__(self, systems: Systems, checkpoint: str, plan: Plan, rejoin: Rejoin) -> None:
        self.checkpoint = checkpoint
        self._learned = replace(systems.learned[checkpoint], rejoin=rejoin)
        self._boxes_only = replace(systems.boxes_only, rejoin=rejoin)
        self._system = self._learned
        self._plan = plan
        self._kind: Kind | None = None
        self._monitor: Monitor[Any] | None = None
        self._found: Discrepancy | None = None
        self._recovery: Recovery | None = None

    @property
    def feature_size(self) -> int | None:
        """Length that appearance features have to have."""
        return self._learned.models.feature_size

    @property
    def plan(self) -> Plan:
        """The plan that is followed now."""
        return self._plan if self._monitor is None else self._monitor.plan

    @property
    def done(self) -> int:
        """How many of its actions are done."""
        return 0 if self._monitor is None else self._monitor.num_executed

    @property
    def started(self) -> bool:
        """Whether there was a first observation."""
        return self._monitor is not None

    @property
    def found(self) -> Discrepancy | None:
        """What the last look found wrong."""
        return self._found

    @property
    def recovery(self) -> Recovery | None:
        """A way back from there that can be followed now."""
        return self._recovery

    def look(self, seen: Observation | SceneGraph, phase: Phase) -> Look:
        """Compare what is to be seen with what should be.

        Args:
            seen: camera images, or a scene of somebody else's perception.
            phase: whether the next action is still to be done, or was done since the last look.

        Raises:
            OutOfTurn: the plan has no further action, or the first observation was of another kind.
            NsrecoverError: the observation cannot be used; nothing has changed then.
        """
        kind = _kind_of(seen)
        if self._monitor is None:
            system = self._boxes_only if kind is Kind.BOXES else self._learned
            self._monitor = system.monitor(self._plan, seen)
            self._system, self._kind = system, kind
            return Look(None, None, self._monitor.graph, None)
        if kind is not self._kind:
            raise OutOfTurn(f"expected {self._kind}, as in the first observation, found {kind}; stay with one kind")
        action = self._monitor.next_action
        if action is None:
            raise OutOfTurn(
                f"expected a plan with an action left, found all {len(self.plan)} done; give a new plan, or follow the "
                "recovery if there is one"
            )
        found = self._monitor.check(seen) if phase is Phase.BEFORE else self._monitor.step(action, seen)
        self._found, self._recovery = found or None, None
        return Look(phase, action, self._monitor.graph, found)

    def recover(
        self,
        budget_s: float,
        cancelled: Callable[[], bool],
        on_improvement: Callable[[Recovery], None],
    ) -> tuple[Recovery, Explanation]:
        """Look for a way back from what the last look found.

        Args:
            budget_s: wall time for it, seconds.
            cancelled: asked now and then; if it says true, the best so far is the answer.
            on_improvement: told of every better way.

        Raises:
            OutOfTurn: nothing is wrong.
        """
        if self._monitor is None or self._found is None:
            raise OutOfTurn("expected a session whose last observation was not as expected, found nothing wrong")
        recovery = self._system.planner.recover(
            self._monitor.graph,
            self._monitor.trace,
            self._found,
            budget_s=budget_s,
            cancelled=cancelled,
            on_improvement=on_improvement,
        )
        self._recovery = recovery if recovery.found else None
        return recovery, self._system.explainer(self._found, recovery)

    def follow(self) -> None:
        """Go on by way of the recovery that was found.

        Raises:
            OutOfTurn: there is none.
        """
        if self._monitor is None or self._recovery is None:
            raise OutOfTurn(
                "expected a recovery that was found since the last observation, found none; ask for one first"
            )
        self._monitor.rejoin(self._recovery)
        self._found = self._recovery = None

    def replan(self, plan: Plan) -> None:
        """Go on with another plan, from the scene as it was seen last.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
        """
        if self._monitor is None:
            self._plan = plan
        else:
            self._monitor.set_plan(plan)
        self._found = self._recovery = None


def _kind_of(seen: Observation | SceneGraph) -> Kind:
    if isinstance(seen, Observation):
        return Kind.IMAGES
    return Kind.FEATURES if seen.visual.shape[1] else Kind.BOXES

"""Monitoring of one plan for a session, independent of HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Phase, Verdict
from nsrecover.core.explanation import Explanation
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidPlan
from nsrecover.monitoring.monitor import Monitor
from nsrecover.planning.planner import Rejoin
from nsrecover.system import System


class OutOfTurn(InvalidPlan):
    """The operation does not fit the state of the session."""


@dataclass(frozen=True)
class Systems:
    """The systems that all sessions share.

    Attributes:
        learned: checkpoints by name, the default one first.
        boxes_only: system for scenes without appearance features.
    """

    learned: dict[str, System]
    boxes_only: System


class InputKind(StrEnum):
    """Kind of the observations of a session."""

    IMAGES = "images"
    FEATURES = "scenes with features"
    BOXES = "scenes without features"


@dataclass(frozen=True)
class StepResult:
    """Result of one observation.

    Attributes:
        phase: before or after an action; None for the first observation.
        action: that action.
        graph: the scene.
        discrepancy: the difference from the expected scene; None for the first observation.
    """

    phase: Phase | None
    action: Action | None
    graph: SceneGraph
    discrepancy: Discrepancy | None


class Watch:
    """Monitors one plan; not thread-safe.

    Args:
        systems: the available systems.
        checkpoint: name of the system to use.
        plan: the plan.
        rejoin: criterion for being back on the plan.
        check_sensors: whether the first camera images are refused if they are implausible.

    Attributes:
        found: the discrepancy of the last observation, if something deviates.
        verdict: of the last observation; None if it was not compared.
        recovery: a recovery from it that can be followed now, if any.
    """

    def __init__(
        self, systems: Systems, checkpoint: str, plan: Plan, rejoin: Rejoin, check_sensors: bool = True
    ) -> None:
        self.checkpoint = checkpoint
        self._learned = systems.learned[checkpoint].rejoining(rejoin)
        self._boxes_only = systems.boxes_only.rejoining(rejoin)
        self._system = self._learned
        self._plan = plan
        self._check_sensors = check_sensors
        self._kind: InputKind | None = None
        self._monitor: Monitor[Any] | None = None
        self.found: Discrepancy | None = None
        self.verdict: Verdict | None = None
        self.recovery: Recovery | None = None

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self._plan if self._monitor is None else self._monitor.plan

    @property
    def done(self) -> int:
        """Number of its actions that are done."""
        return 0 if self._monitor is None else self._monitor.num_executed

    @property
    def started(self) -> bool:
        """Whether there was a first observation."""
        return self._monitor is not None

    def look(self, seen: Observation | SceneGraph, phase: Phase | None) -> StepResult:
        """Compare an observation with the expected scene.

        Args:
            seen: camera images, or a scene of external perception.
            phase: before or after the next action of the plan; None: another observation of the same scene.

        Raises:
            OutOfTurn: the plan has no further action, or the first observation was of another kind.
            NsrecoverError: the observation is invalid; the state is unchanged then.
        """
        kind = _kind_of(seen)
        if self._monitor is None:
            system = self._boxes_only if kind is InputKind.BOXES else self._learned
            self._monitor = system.monitor(self._plan, seen, check_sensors=self._check_sensors)
            self._system, self._kind = system, kind
            return StepResult(None, None, self._monitor.graph, None)
        if kind is not self._kind:
            raise OutOfTurn(f"expected {self._kind}, as in the first observation, found {kind}; stay with one kind")
        action = self._monitor.next_action
        if phase is None:
            if self.verdict is None:
                raise OutOfTurn(
                    "expected an observation after an action before another one of the same scene, found none"
                )
            found = self._monitor.look_again(seen)
            return self._noted(found)
        if action is None:
            raise OutOfTurn(
                f"expected a plan with an action left, found all {len(self.plan)} done; give a new plan, or follow the "
                "recovery if there is one"
            )
        found = self._monitor.check(seen) if phase is Phase.BEFORE else self._monitor.step(action, seen)
        return self._noted(found)

    def _noted(self, found: Discrepancy) -> StepResult:
        self.found, self.verdict, self.recovery = found if found.deviates else None, found.verdict, None
        return StepResult(found.phase, found.action, found.observed, found)

    def explain(self, found: Discrepancy) -> Explanation:
        """Explain a discrepancy without a recovery."""
        return self._system.explainer(found, None)

    def recover(
        self,
        budget_s: float,
        cancelled: Callable[[], bool],
        on_improvement: Callable[[Recovery], None],
    ) -> tuple[Recovery, Explanation]:
        """Search for a recovery from the last discrepancy.

        Args:
            budget_s: planning time, seconds.
            cancelled: called regularly; if it returns true, the best recovery so far is the result.
            on_improvement: called with every better recovery.

        Raises:
            OutOfTurn: nothing deviated in the last observation.
        """
        if self._monitor is None or self.found is None:
            raise OutOfTurn("expected a session whose last observation was not as expected, found nothing wrong")
        recovery = self._system.planner.recover(
            self._monitor.graph,
            self._monitor.trace,
            self.found,
            budget_s=budget_s,
            cancelled=cancelled,
            on_improvement=on_improvement,
        )
        self.recovery = recovery if recovery.found else None
        return recovery, self._system.explainer(self.found, recovery)

    def follow(self) -> None:
        """Continue with the recovery that was found.

        Raises:
            OutOfTurn: there is no recovery.
        """
        if self._monitor is None or self.recovery is None:
            raise OutOfTurn(
                "expected a recovery that was found since the last observation, found none; ask for one first"
            )
        self._monitor.rejoin(self.recovery)
        self.found = self.verdict = self.recovery = None

    def replan(self, plan: Plan) -> None:
        """Continue with another plan from the scene of the last observation.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: the plan names an object that is not in the scene.
        """
        if self._monitor is None:
            self._plan = plan
        else:
            self._monitor.set_plan(plan)
        self.found = self.verdict = self.recovery = None


def _kind_of(seen: Observation | SceneGraph) -> InputKind:
    if isinstance(seen, Observation):
        return InputKind.IMAGES
    return InputKind.FEATURES if seen.visual.shape[1] else InputKind.BOXES

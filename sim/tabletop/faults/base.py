"""The hooks through which a fault acts on the simulated world.

A fault is physics, not a label: it misleads the arm's controller, weakens its grip, or moves objects as an external
agent. Faults hold parameters, not state; their effect depends on the action and the given generator only, so that an
episode can be saved, restored and repeated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nsrecover.core import Action, Cause, Plan
from sim.common.faults import AnyFault
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.phases import SkillPhase
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]


class ErrorClass(StrEnum):
    """The classes of execution errors of Kalithasan et al., section VI-A, and errors without a fault."""

    GRASP = "grasp_failure"
    """The gripper misses or loses the object."""
    OUTCOME = "wrong_outcome"
    """The object is placed wrongly."""
    MOTION = "motion_error"
    """The arm or its load collides with something."""
    AGENT = "outside_agent"
    """An external agent acts on the scene, against the plan or for it."""
    EXPLICIT = "explicit"
    """A disturbance without an agent."""
    NATURAL = "natural"
    """No fault was injected."""


@dataclass(frozen=True, eq=False)
class Moment:
    """An action of a plan at which a fault may strike; samplers of faults choose their parameters from it.

    Attributes:
        step: number of the action in the plan, from 0.
        plan: the whole plan.
        before: true poses before the action.
        after: true poses after the action when nothing goes wrong.
        taken: objects that other faults of the same step already act on.
    """

    step: int
    plan: Plan
    before: PoseEstimates
    after: PoseEstimates
    taken: frozenset[str] = frozenset()

    @property
    def action(self) -> Action:
        """The action."""
        return self.plan[self.step]


@dataclass(frozen=True)
class Fault(AnyFault[Moment]):
    """A fault that does nothing; subclasses override the hooks they need.

    Hooks are called for action `at_step` of the plan only, the first time that it is carried out (see `TabletopWorld`).
    Hooks of several faults run in the order of the faults.

    Attributes:
        error_class: class of the error.
        cause: correct cause in an explanation of the objects that it acts on.
        needs_arm: whether it acts through the arm's motion, so that it needs a world with an arm.
    """

    error_class: ClassVar[ErrorClass]
    cause: ClassVar[Cause]
    needs_arm: ClassVar[bool] = False

    def cause_of(self, name: str, action: Action) -> Cause:
        """Correct cause in an explanation of an object.

        Args:
            name: one of the objects that it acts on directly.
            action: the action of number `at_step`.
        """
        return self.cause

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """The (distorted) estimates that the controller uses; called once, before the arm moves."""
        return estimates

    def goal(self, action: Action, estimates: PoseEstimates, place: tuple[Array, Array]) -> tuple[Array, Array]:
        """Centre (3,) and rotation (3, 3) at which the controller puts the object; called before it is taken.

        Args:
            action: the action.
            estimates: what the controller believes.
            place: centre (3,) and rotation (3, 3) that the action demands.
        """
        return place

    @property
    def moment(self) -> tuple[SkillPhase, float] | None:
        """When `strike` is called: in which phase of the motion, after which share of it; None: never."""
        return None

    def strike(self, context: FaultContext) -> None:
        """Act once, at `moment`; the arm goes on."""

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Act while the arm moves; called every few physics steps.

        Args:
            context: `context.grip.weaken_grip(force_n=..., friction=...)` lasts until the end of the action. Do not use
                the agent from here.
            action: the action.
            phase: what the arm is doing.
            progress: finished share of the phase, 0 to 1. Every phase that takes place is reported at least once with
                progress 0 and once with progress 1.
        """

    def after(self, context: FaultContext, action: Action) -> None:
        """Act when the arm is home again; `context.agent` moves objects without the robot."""

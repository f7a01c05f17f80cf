"""The hooks through which a fault acts on the simulated world.

A fault is physics, not a label: it misleads the arm's controller, weakens its grip, or moves objects by an outside
hand. Faults hold parameters, not state; what they do may depend on the action and the given generator only, so that
an episode can be saved, restored and repeated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.plain import to_plain
from sim.tabletop.phases import SkillPhase
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]


class ErrorClass(StrEnum):
    """The kinds of execution errors that Kalithasan et al., section VI-A, distinguish, and none."""

    GRASP = "grasp_failure"
    """The gripper does not get or loses the object."""
    OUTCOME = "wrong_outcome"
    """The object is put down wrongly."""
    MOTION = "motion_error"
    """The arm or its load runs into something."""
    AGENT = "outside_agent"
    """Somebody else acts on the scene, against the plan or for it."""
    EXPLICIT = "explicit"
    """A disturbance from nowhere."""
    NATURAL = "natural"
    """Nothing was injected."""


@dataclass(frozen=True, eq=False)
class Moment:
    """An action of a plan that something may be injected into: what samplers of faults choose from.

    Attributes:
        step: number of the action in the plan, from 0.
        plan: the whole plan.
        before: true poses before the action.
        after: true poses after the action when nothing goes wrong.
        taken: objects that other faults of the same step act on already.
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
class Fault:
    """A fault that does nothing; subclasses override the hooks they need.

    Hooks are called for one action of the plan only, the one of number `at_step`, the first time that it is carried
    out (see `TabletopWorld`). Hooks of several faults run in the order in which the faults were given.

    Attributes:
        at_step: number of the action in the plan during or after which it strikes, from 0.
        kind: its name in configurations and files.
        error_class: what kind of error it is.
        cause: what an operator should be told about the objects that it acts on.
        needs_arm: whether it acts through the arm's motion, so that it cannot strike where no arm moves.
    """

    kind: ClassVar[str]
    error_class: ClassVar[ErrorClass]
    cause: ClassVar[Cause]
    needs_arm: ClassVar[bool] = False

    at_step: int

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A fault of this kind with random parameters that fits a moment.

        Returns:
            None if there is none: nothing to act on, or all of it is `taken`.
        """
        raise NotImplementedError

    def touched(self, action: Action) -> frozenset[str]:
        """Objects it acts on itself; what else falls because of them is physics.

        Args:
            action: the action of number `at_step`.
        """
        raise NotImplementedError

    def cause_of(self, name: str, action: Action) -> Cause:
        """What an operator should be told about an object.

        Args:
            name: one of the objects that it acts on itself.
            action: the action of number `at_step`.
        """
        return self.cause

    def to_dict(self) -> dict[str, Any]:
        """Its name and parameters as plain data for JSON; `sim.tabletop.faults.fault_from_dict` reads it."""
        return {"fault": self.kind} | {item.name: to_plain(getattr(self, item.name)) for item in fields(self)}

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Called once, before the arm moves: what the controller shall believe. Returns the (distorted) estimates."""
        return estimates

    def goal(self, action: Action, estimates: PoseEstimates, place: tuple[Array, Array]) -> tuple[Array, Array]:
        """Called once, before the object is taken: where the controller shall put it, and how turned.

        Args:
            action: the action.
            estimates: what the controller believes.
            place: centre (3,) and rotation (3, 3) that the action asks for.
        """
        return place

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Called every few physics steps while the arm moves.

        Args:
            context: `context.grip.weaken_grip(force_n=..., friction=...)` lasts until the end of the action. Do not use
                the agent from here.
            action: the action.
            phase: what the arm is doing.
            progress: share of the phase that is done, 0 to 1. Every phase that takes place is reported at least once
                with progress 0 and once with progress 1.
        """

    def after(self, context: FaultContext, action: Action) -> None:
        """Called when the arm is home again; `context.agent` moves objects without the robot."""

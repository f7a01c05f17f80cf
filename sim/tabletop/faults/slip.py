"""The gripper loses the object while it lifts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.phases import SkillPhase


@dataclass(frozen=True)
class Slip(Fault):
    """The fingers lose their force during the lift, and the object slides out of them.

    An object weighs 0.2 to 1.2 newtons; twice the force times the friction (1.5 for a good pad) holds it. The physics
    engine keeps the friction of existing contacts, so for them only the force counts.

    Attributes:
        progress: share of the lift after which it happens, 0 to 1.
        force_n: remaining force of each finger, newtons.
        friction: remaining friction of the pads.
    """

    kind: ClassVar[str] = "slip"
    error_class: ClassVar[ErrorClass] = ErrorClass.GRASP
    cause: ClassVar[Cause] = Cause.NOT_LIFTED

    progress: float = 0.4
    force_n: float = 0.0
    friction: float = 0.0

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A grip that is too weak, early in the lift."""
        if moment.action.arguments[0] in moment.taken:
            return None
        progress, force_n, friction = rng.uniform(0.2, 0.5), rng.uniform(0.0, 0.03), rng.uniform(0.0, 1.5)
        return cls(moment.step, round(float(progress), 3), round(float(force_n), 3), round(float(friction), 2))

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """The fingers lose the object then."""
        return SkillPhase.LIFT, self.progress

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Reduce force and friction of the fingers."""
        if phase is SkillPhase.LIFT and progress >= self.progress:
            context.grip.weaken_grip(self.force_n, self.friction)

"""The gripper loses what it picks up."""

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
    """The fingers lose their hold while they lift, and the object slides out of them.

    An object weighs 0.2 to 1.2 newtons, and what holds it is twice the force times the friction (1.5 of a good pad).
    Where pad and object touch already, only the force counts: the engine keeps the friction of a contact.

    Attributes:
        progress: share of the lift's time after which it happens, 0 to 1.
        force_n: what each finger still presses with, newtons.
        friction: what its pads still have.
    """

    kind: ClassVar[str] = "slip"
    error_class: ClassVar[ErrorClass] = ErrorClass.GRASP
    cause: ClassVar[Cause] = Cause.NOT_LIFTED

    progress: float = 0.4
    force_n: float = 0.0
    friction: float = 0.0

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A grip that is too weak, from the first centimetres of the lift on."""
        if moment.action.arguments[0] in moment.taken:
            return None
        progress, force_n, friction = rng.uniform(0.2, 0.5), rng.uniform(0.0, 0.03), rng.uniform(0.0, 1.5)
        return cls(moment.step, round(float(progress), 3), round(float(force_n), 3), round(float(friction), 2))

    def touched(self, action: Action) -> frozenset[str]:
        """What is picked up."""
        return frozenset(action.arguments[:1])

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Take force and friction from the fingers."""
        if phase is SkillPhase.LIFT and progress >= self.progress:
            context.grip.weaken_grip(self.force_n, self.friction)

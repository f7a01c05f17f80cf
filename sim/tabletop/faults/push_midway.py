"""An impulse hits an object while the arm moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import Moment
from sim.tabletop.faults.push import Push
from sim.tabletop.phases import SkillPhase

PHASES = (SkillPhase.APPROACH, SkillPhase.LIFT, SkillPhase.TRANSPORT)


@dataclass(frozen=True)
class PushMidway(Push):
    """While an action runs, an impulse hits another object, which slides or tumbles.

    Attributes:
        name: the object.
        impulse_n_s: impulse along x, y and z, newton seconds.
        phase: of the motion in which it happens.
        progress: share of the phase after which it happens, 0 to 1.
    """

    kind: ClassVar[str] = "push_midway"
    needs_arm: ClassVar[bool] = True

    phase: str = SkillPhase.TRANSPORT
    progress: float = 0.5

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """As for `Push`, at a random moment before the arm lowers its load; never the object that the arm moves."""
        push = Push.sample(moment, rng)
        if push is None or push.name in moment.action.arguments:
            return None
        phase, progress = str(rng.choice(PHASES)), round(float(rng.uniform(0.1, 0.9)), 2)
        return cls(moment.step, push.name, push.impulse_n_s, phase, progress)

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """When it happens."""
        return SkillPhase(self.phase), self.progress

    def strike(self, context: FaultContext) -> None:
        """Push the object."""
        context.agent.hit(self.name, self.impulse_n_s)

    def act(self, context: FaultContext) -> None:
        """After the action nothing happens any more."""

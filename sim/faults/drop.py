"""The gripper loses what it carries, on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from nsrecover.structs import Action, Cause
from sim.faults.base import ErrorClass, Fault, Moment, SkillPhase

if TYPE_CHECKING:
    from sim.world import TabletopWorld

SHORTEST_M = 0.10
"""On a shorter way an object that is let go could land where it was to go."""


@dataclass(frozen=True)
class Drop(Fault):
    """The fingers go slack while the arm moves sideways, and the object falls from where it is.

    Attributes:
        progress: share of the transport's time after which it happens, 0 to 1.
    """

    kind: ClassVar[str] = "drop"
    error_class: ClassVar[ErrorClass] = ErrorClass.GRASP
    cause: ClassVar[Cause] = Cause.DROPPED

    progress: float = 0.5

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Anywhere on a way that is long enough."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        start, goal = (poses.positions[poses.index(name), :2] for poses in (moment.before, moment.after))
        if float(np.linalg.norm(goal - start)) < SHORTEST_M:
            return None
        return cls(moment.step, round(float(rng.uniform(0.25, 0.65)), 3))

    def touched(self, action: Action) -> frozenset[str]:
        """What is carried."""
        return frozenset(action.arguments[:1])

    def during(self, world: TabletopWorld, action: Action, phase: SkillPhase, progress: float) -> None:
        """Take force and friction from the fingers."""
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            world.weaken_grip(force_n=0.0, friction=0.0)

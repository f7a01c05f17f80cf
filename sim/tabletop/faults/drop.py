"""The gripper loses the object in transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.phases import SkillPhase

SPEED_M_S = 0.6
"""Mean speed that the arm reaches with a load; its joints limit it."""
FALL_S = (0.1, 0.2)
"""Shortest and longest fall from transit height; the object keeps its horizontal speed."""
OFF_M = 0.035
"""Minimum distance between the place where it lands and its goal, unless it rolls."""
GONE_M = 0.03
"""Minimum distance that it is carried before."""


@dataclass(frozen=True)
class Drop(Fault):
    """The fingers lose their force while the arm moves sideways, and the object falls.

    Attributes:
        progress: share of the transport's time after which it happens, 0 to 1.
    """

    kind: ClassVar[str] = "drop"
    error_class: ClassVar[ErrorClass] = ErrorClass.GRASP
    cause: ClassVar[Cause] = Cause.DROPPED

    progress: float = 0.5

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A moment of the transport from which the object does not land at its goal."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        start, goal = (poses.positions[poses.index(name), :2] for poses in (moment.before, moment.after))
        distance = float(np.linalg.norm(goal - start))
        # later drops land at the goal too often
        progress = np.arange(0.15, 0.61, 0.01)
        carried = progress * progress * (3 - 2 * progress) * distance
        nearest, farthest = (carried + 6 * progress * (1 - progress) * SPEED_M_S * seconds for seconds in FALL_S)
        off = (farthest < distance - OFF_M) | (nearest > distance + OFF_M)
        good = progress[(carried > GONE_M) & off]
        return cls(moment.step, round(float(good[int(rng.integers(len(good)))]), 2)) if len(good) else None

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """The fingers lose the object then."""
        return SkillPhase.TRANSPORT, self.progress

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Remove force and friction from the fingers."""
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)

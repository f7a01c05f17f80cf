"""The gripper loses what it carries, on the way."""

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
"""Mean speed that the arm reaches with a load; its joints allow less than it is asked for."""
FALL_S = (0.1, 0.2)
"""Shortest and longest time that an object needs to fall from transit height; it flies on meanwhile."""
OFF_M = 0.035
"""It comes down at least this far before or behind its place, unless it rolls there."""
GONE_M = 0.03
"""It has been carried at least this far."""


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
        """Anywhere on the way from where it does not fly into its place."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        start, goal = (poses.positions[poses.index(name), :2] for poses in (moment.before, moment.after))
        distance = float(np.linalg.norm(goal - start))
        # what is let go later flies into its place too often
        progress = np.arange(0.15, 0.61, 0.01)
        carried = progress * progress * (3 - 2 * progress) * distance
        nearest, farthest = (carried + 6 * progress * (1 - progress) * SPEED_M_S * seconds for seconds in FALL_S)
        off = (farthest < distance - OFF_M) | (nearest > distance + OFF_M)
        good = progress[(carried > GONE_M) & off]
        return cls(moment.step, round(float(good[int(rng.integers(len(good)))]), 2)) if len(good) else None

    def touched(self, action: Action) -> frozenset[str]:
        """What is carried."""
        return frozenset(action.arguments[:1])

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Take force and friction from the fingers."""
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)

"""The gripper closes next to the object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import room_at
from sim.tabletop.placing import boxes
from sim.tabletop.poses import PoseEstimates

ABOVE_M = (0.012, 0.03)
"""Gap between the fingertips and the top of an object that they close above."""
TIP_M = 0.0075
"""Length of the fingers below the tool centre point, which goes to the estimated centre."""
BESIDE_M = (0.035, 0.055)
"""Gap between the object and its estimate, if the fingers come down next to it: more than one finger."""
HAND_M = 0.03
"""Room that the fingers need around the estimated object."""


@dataclass(frozen=True)
class MissedGrasp(Fault):
    """The controller's estimate of the object is wrong; the fingers close next to it or above it.

    Attributes:
        offset_m: estimated minus true place, along x, y and z.
    """

    kind: ClassVar[str] = "missed_grasp"
    error_class: ClassVar[ErrorClass] = ErrorClass.GRASP
    cause: ClassVar[Cause] = Cause.NOT_LIFTED

    offset_m: tuple[float, float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Next to the object if the fingers have room there, otherwise above it."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        row = moment.before.index(name)
        here = boxes(moment.before)
        own, others = here[row], np.delete(here, row, axis=0)
        if own[2] < own[5] and rng.random() < 0.5:
            for _ in range(20):
                axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
                offset = np.zeros(3)
                offset[axis] = sign * (own[3 + axis] + rng.uniform(*BESIDE_M))
                if room_at(own[:2] + offset[:2], own[3:5], others) > HAND_M:
                    return cls(moment.step, _rounded(offset))
        up = own[5] / 2 + TIP_M + rng.uniform(*ABOVE_M)
        return cls(moment.step, _rounded(np.array([0.0, 0.0, up])))

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift the object's estimate."""
        name = action.arguments[0]
        return estimates.shifted(name, self.offset_m) if name in estimates else estimates


def _rounded(offset: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (round(float(value), 4) for value in offset)
    return x, y, z

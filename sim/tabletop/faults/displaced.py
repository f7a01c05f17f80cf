"""An external agent moves an object a little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import bystanders, random_place
from sim.tabletop.faults.one_object import OneObjectFault

FARTHEST_M = 0.25
"""Maximum distance that an object is moved."""


@dataclass(frozen=True)
class Displaced(OneObjectFault):
    """After an action, an external agent moves an object to a place nearby. Nothing may stand on it.

    Attributes:
        name: the object.
        offset_m: displacement along x and y.
    """

    kind: ClassVar[str] = "displaced"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.MOVED
    cause_if_moved: ClassVar[Cause | None] = Cause.MISPLACED

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a free place nearby."""
        for name in rng.permutation(bystanders(moment)).tolist():
            place = random_place(moment, name, rng, (0.05, FARTHEST_M))
            if place is not None:
                x, y = place[:2] - moment.after.positions[moment.after.index(name), :2]
                return cls(moment.step, name, (round(float(x), 4), round(float(y), 4)))
        return None

    def act(self, context: FaultContext) -> None:
        """Lift the object and set it down at the same height."""
        position, _ = context.scene.pose(self.name)
        context.agent.carry(self.name, position + np.array([*self.offset_m, 0.0]))

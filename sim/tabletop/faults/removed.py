"""An object is removed from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import clear_objects
from sim.tabletop.faults.one_object import OneObjectFault


@dataclass(frozen=True)
class Removed(OneObjectFault):
    """After an action, an object is removed from the table for good. Objects that stood on it fall.

    Attributes:
        name: the object.
    """

    kind: ClassVar[str] = "removed"
    error_class: ClassVar[ErrorClass] = ErrorClass.EXPLICIT
    cause: ClassVar[Cause] = Cause.MISSING

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object with nothing on it."""
        free = clear_objects(moment)
        return cls(moment.step, free[int(rng.integers(len(free)))]) if free else None

    def act(self, context: FaultContext) -> None:
        """Remove the object."""
        context.agent.take_away(self.name)

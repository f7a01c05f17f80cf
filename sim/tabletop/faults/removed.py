"""An object is removed from the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import clear_objects


@dataclass(frozen=True)
class Removed(Fault):
    """After an action, an object is removed from the table for good. Objects that stood on it fall.

    Attributes:
        name: the object.
    """

    kind: ClassVar[str] = "removed"
    error_class: ClassVar[ErrorClass] = ErrorClass.EXPLICIT
    cause: ClassVar[Cause] = Cause.MISSING

    name: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object with nothing on it."""
        free = clear_objects(moment)
        return cls(moment.step, free[int(rng.integers(len(free)))]) if free else None

    def touched(self, action: Action) -> frozenset[str]:
        """The object."""
        return frozenset([self.name])

    def after(self, context: FaultContext, action: Action) -> None:
        """Remove the object."""
        if self.name in context.scene.estimates():
            context.agent.take_away(self.name)

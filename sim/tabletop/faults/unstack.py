"""An external agent takes the top object off a structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from nsrecover.domains.tabletop.relations import TABLE
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import clear_objects, random_place, support_of


@dataclass(frozen=True)
class Unstack(Fault):
    """After an action, an external agent puts the highest object of a structure on the table.

    Attributes:
        name: the object. Nothing may stand on it.
        position_m: new place of its centre, x, y and z.
    """

    kind: ClassVar[str] = "unstack"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.MOVED

    name: str
    position_m: tuple[float, float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object that stands on another one, and a free place on the table."""
        stacked = [name for name in clear_objects(moment) if support_of(moment, name) != TABLE]
        for name in rng.permutation(stacked).tolist():
            place = random_place(moment, name, rng)
            if place is not None:
                x, y, z = (float(value) for value in place)
                return cls(moment.step, name, (x, y, z))
        return None

    def touched(self, action: Action) -> frozenset[str]:
        """The object."""
        return frozenset([self.name])

    def cause_of(self, name: str, action: Action) -> Cause:
        """The object that the action has just stacked counts as misplaced."""
        return Cause.MISPLACED if name == action.arguments[0] else self.cause

    def after(self, context: FaultContext, action: Action) -> None:
        """Carry the object down."""
        if self.name in context.scene.estimates():
            context.agent.carry(self.name, self.position_m)

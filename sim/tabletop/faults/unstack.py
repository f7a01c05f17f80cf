"""An external agent takes the top object off a structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from nsrecover.domains.tabletop.relations import TABLE
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import clear_objects, random_place, support_of
from sim.tabletop.faults.one_object import CarryFault


@dataclass(frozen=True)
class Unstack(CarryFault):
    """After an action, an external agent puts the highest object of a structure on the table."""

    kind: ClassVar[str] = "unstack"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.MOVED
    cause_if_moved: ClassVar[Cause | None] = Cause.MISPLACED

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

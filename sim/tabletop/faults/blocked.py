"""An external agent puts an object at the future place of another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import bystanders, in_workspace, remaining_places, room_at, standing_sides
from sim.tabletop.faults.one_object import CarryFault
from sim.tabletop.placing import boxes

ROOM_M = 0.008
"""Minimum gap between the object and its new neighbours."""
AWAY_M = 0.04
"""Minimum distance over which the object is moved."""


@dataclass(frozen=True)
class BlockedPlace(CarryFault):
    """After an action, an external agent puts an object where a later action has to put another one."""

    kind: ClassVar[str] = "blocked_place"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.BLOCKING

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A place that a later action needs and that is free now, for an object that this action does not use."""
        here = boxes(moment.after)
        places = remaining_places(moment)
        options = [(number, name) for number in range(len(places)) for name in bystanders(moment)]
        for i in rng.permutation(len(options)):
            number, name = options[int(i)]
            later, wanted = places[number]
            if name in later.arguments or not in_workspace(wanted, moment.after.table):
                continue
            sides = standing_sides(moment.after, name)
            floor = float(wanted[2] - wanted[5] / 2)
            below = later.arguments[1] if later.operator == "top" else None
            row = moment.after.index(name)
            if below is not None:
                base = here[moment.after.index(below)]
                ready = abs(base[2] + base[5] / 2 - floor) < 0.004 and np.abs(base[:2] - wanted[:2]).max() < 0.01
                if not ready or below in moment.taken or bool(np.any(sides[:2] > 1.7 * base[3:5])):
                    continue
            stay = [j for j, other in enumerate(moment.after.names) if other not in (name, below)]
            level = here[[j for j in stay if here[j, 2] + here[j, 5] / 2 > floor + 0.004]]
            away = float(np.linalg.norm(here[row, :2] - wanted[:2]))
            if away > AWAY_M and room_at(wanted, sides, level) > ROOM_M:
                x, y, z = (round(float(value), 4) for value in (wanted[0], wanted[1], floor + sides[2] / 2))
                return cls(moment.step, name, (x, y, z))
        return None

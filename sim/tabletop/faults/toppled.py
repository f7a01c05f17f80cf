"""An external agent knocks an object over."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import bystanders, in_workspace, obstacles, room_at
from sim.tabletop.faults.one_object import OneObjectFault
from sim.tabletop.placing import boxes

DIRECTIONS = 8
"""Number of directions that are tried."""
ROOM_M = 0.02
"""Minimum gap between the place where an object falls and all other objects."""


@dataclass(frozen=True)
class Toppled(OneObjectFault):
    """After an action, an external agent tips an object over an edge of its base. Nothing may stand on it.

    Attributes:
        name: the object.
        direction: of the fall, about the vertical, radians.
    """

    kind: ClassVar[str] = "toppled"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.TOPPLED
    cause_if_moved: ClassVar[Cause | None] = Cause.DROPPED

    direction: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a direction in which it has room to fall."""
        for name in rng.permutation(bystanders(moment)).tolist():
            box = boxes(moment.after)[moment.after.index(name)]
            others, sides = obstacles(moment, name), np.full(2, float(box[3:].max()))
            first = float(rng.uniform(0.0, 2 * math.pi))
            for turn in range(DIRECTIONS):
                direction = first + 2 * math.pi * turn / DIRECTIONS
                way = np.array([math.cos(direction), math.sin(direction)])
                place = box[:2] + way * (box[3:5].max() + box[5]) / 2
                if in_workspace(place, moment.after.table) and room_at(place, sides, others) > ROOM_M:
                    return cls(moment.step, name, round(direction % (2 * math.pi), 4))
        return None

    def act(self, context: FaultContext) -> None:
        """Knock the object over."""
        context.agent.topple(self.name, self.direction)

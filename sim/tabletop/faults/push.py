"""An impulse hits an object."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import bystanders, in_workspace, obstacles, room_at, standing_sides
from sim.tabletop.faults.one_object import OneObjectFault
from sim.tabletop.shapes import DENSITY_KG_M3

DISTANCE_M = (0.04, 0.10)
"""Distance that an object slides."""
FRICTION = 1.0
"""Friction coefficient of an object on the table."""
GRAVITY_M_S2 = 9.81
ROOM_M = 0.015
"""Minimum gap to all other objects along its path."""


@dataclass(frozen=True)
class Push(OneObjectFault):
    """After an action, an impulse hits an object, which slides or tumbles.

    Attributes:
        name: the object.
        impulse_n_s: impulse along x, y and z, newton seconds.
    """

    kind: ClassVar[str] = "push"
    error_class: ClassVar[ErrorClass] = ErrorClass.EXPLICIT
    cause: ClassVar[Cause] = Cause.MOVED
    cause_if_moved: ClassVar[Cause | None] = Cause.MISPLACED

    impulse_n_s: tuple[float, float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table and a direction in which it stays in reach and hits nothing."""
        for name in rng.permutation(bystanders(moment)).tolist():
            row = moment.after.index(name)
            here, sides = moment.after.positions[row, :2], standing_sides(moment.after, name)
            others = obstacles(moment, name)
            mass = DENSITY_KG_M3 * float(np.prod(moment.after.sizes[row]))
            for _ in range(40):
                angle, distance = rng.uniform(0.0, 2 * math.pi), rng.uniform(*DISTANCE_M)
                way = np.array([math.cos(angle), math.sin(angle)])
                # it may slide 1.5 times as far
                places = here + np.linspace(0.0, 1.5 * distance, 6)[:, None] * way
                if (
                    in_workspace(places[-1], moment.after.table)
                    and min(room_at(place, sides, others) for place in places) > ROOM_M
                ):
                    impulse = mass * math.sqrt(2 * FRICTION * GRAVITY_M_S2 * distance) * way
                    return cls(moment.step, name, (round(float(impulse[0]), 5), round(float(impulse[1]), 5), 0.0))
        return None

    def act(self, context: FaultContext) -> None:
        """Push the object."""
        context.agent.push(self.name, self.impulse_n_s)

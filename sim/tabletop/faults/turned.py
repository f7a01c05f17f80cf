"""An external agent turns an object in its place."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.discrepancy import Cause
from sim.common.rotations import axis_aligned, matrix_of, rotation_about
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import clear_objects, room_at
from sim.tabletop.faults.one_object import OneObjectFault
from sim.tabletop.placing import boxes, extents
from sim.tabletop.truth import ROOM_M

CLEARLY_M = 0.004
"""The object takes at least this much more room than is tolerated."""
GAP_M = 0.003
"""Minimum gap between the turned object and its neighbours."""
TRIES = 20


@dataclass(frozen=True)
class Turned(OneObjectFault):
    """After an action, an external agent turns a brick about the vertical; its centre stays. Nothing may stand on it.

    The brick then takes more room sideways: fingers no longer fit between it and its neighbours, and it stands in
    places that the plan needs.

    Attributes:
        name: the object.
        yaw: its new rotation against the world's axes, after it was squared up, radians.
    """

    kind: ClassVar[str] = "turned"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.MOVED
    cause_if_moved: ClassVar[Cause | None] = Cause.MISPLACED

    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object that takes clearly more room when it is turned by 40 to 90 degrees, and touches nothing then."""
        here = boxes(moment.after)
        for name in rng.permutation(clear_objects(moment)).tolist():
            row = moment.after.index(name)
            flat, size = axis_aligned(matrix_of(moment.after.orientations[row])), moment.after.sizes[row]
            bottom = here[row, 2] - here[row, 5] / 2
            others = np.delete(here, row, axis=0)
            level = others[others[:, 2] + others[:, 5] / 2 > bottom + 0.004]
            for _ in range(TRIES):
                yaw = round(math.radians(rng.uniform(40.0, 90.0)) * float(rng.choice([-1.0, 1.0])), 4)
                sides = extents(rotation_about((0.0, 0.0, 1.0), yaw) @ flat, size)
                wider = float((sides - here[row, 3:]).max()) > ROOM_M + CLEARLY_M
                if wider and room_at(here[row, :2], sides, level) > GAP_M:
                    return cls(moment.step, name, yaw)
        return None

    def act(self, context: FaultContext) -> None:
        """Lift the object, turn it and set it down in its place."""
        position, _ = context.scene.pose(self.name)
        context.agent.carry(self.name, position, yaw=self.yaw)

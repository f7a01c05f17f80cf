"""An external agent puts an object out of the arm's reach."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from nsrecover.core.discrepancy import Cause
from sim.common.cameras import DEFAULT_RIG
from sim.tabletop.faults.base import ErrorClass, Moment
from sim.tabletop.faults.choosing import bystanders, room_at, standing_sides
from sim.tabletop.faults.one_object import CarryFault
from sim.tabletop.placing import boxes

RADIUS_M = (0.85, 1.00)
"""Distance from the robot base: the arm reaches 0.81 m."""
TABLE_X_M = (0.20, 0.98)
"""Part of the table that carries objects: depth."""
TABLE_Y_M = (-0.54, 0.54)
"""The same: breadth."""
IMAGE_EDGE = 4
"""Minimum distance of a visible object from the edge of the image, pixels."""
ROOM_M = 0.03
"""Minimum gap to other objects."""
TRIES = 400


@dataclass(frozen=True)
class OutOfReach(CarryFault):
    """After an action, an external agent puts an object on a far part of the table."""

    kind: ClassVar[str] = "out_of_reach"
    error_class: ClassVar[ErrorClass] = ErrorClass.EXPLICIT
    cause: ClassVar[Cause] = Cause.MOVED
    cause_if_moved: ClassVar[Cause | None] = Cause.DROPPED

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a place that all default cameras see."""
        free = bystanders(moment)
        if not free:
            return None
        name = free[int(rng.integers(len(free)))]
        sides = standing_sides(moment.after, name)
        others = np.delete(boxes(moment.after), moment.after.index(name), axis=0)
        found = None
        for _ in range(TRIES):
            place = np.array([rng.uniform(*TABLE_X_M), rng.uniform(*TABLE_Y_M), sides[2] / 2])
            far = RADIUS_M[0] <= math.hypot(place[0], place[1]) <= RADIUS_M[1]
            if not far or room_at(place, sides, others) < ROOM_M:
                continue
            x, y, z = (round(float(value), 4) for value in place)
            found = cls(moment.step, name, (x, y, z))
            if _seen(place, sides):
                break
        return found


def _seen(centre: npt.NDArray[np.float64], sides: npt.NDArray[np.float64]) -> bool:
    """Whether a box lies completely in the image of every default camera."""
    corners = centre + np.array(list(product((-0.5, 0.5), repeat=3))) * sides
    size = np.array([DEFAULT_RIG.width, DEFAULT_RIG.height])
    for view in DEFAULT_RIG.views:
        camera = view.camera(*(int(value) for value in size))
        turn, eye = camera.world_from_camera[:3, :3], camera.world_from_camera[:3, 3]
        pixels = (corners - eye) @ turn @ camera.intrinsics.T
        pixels = pixels[:, :2] / pixels[:, 2:]
        if bool(np.any(pixels < IMAGE_EDGE) or np.any(pixels > size - IMAGE_EDGE)):
            return False
    return True

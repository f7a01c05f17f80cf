"""The object is placed differently than the action says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from nsrecover.domains.tabletop.relations import TABLE
from sim.common.rotations import rotation_about
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import clear_objects, in_workspace, obstacles, random_place, room_at
from sim.tabletop.placing import boxes, extents
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]
Place = tuple[Array, Array]

TIPS = (0.15, 0.35)
"""Distance of the object's centre beyond the edge of its support, as a share of the object's width."""
ASIDE_M = (0.03, 0.06)
"""Distance between the goal on the table and the actual place."""
ROOM_M = 0.012
"""Minimum gap between an object on the table and all others."""


@dataclass(frozen=True)
class OffsetPlacement(Fault):
    """The object is placed next to its goal: it tips off its support, or stands at a wrong place on the table.

    Attributes:
        offset_m: displacement along x and y.
    """

    kind: ClassVar[str] = "offset_placement"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Beyond the edge of the support, or at a free place on the table."""
        own, here = _placed_box(moment), boxes(moment.after)
        if own is None:
            return None
        others = obstacles(moment, moment.action.arguments[0])
        for _ in range(40):
            if moment.action.operator == "top":
                below = here[moment.after.index(moment.action.arguments[1])]
                axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
                offset = np.zeros(2)
                offset[axis] = sign * (below[3 + axis] / 2 + rng.uniform(*TIPS) * own[3 + axis])
                offset += below[:2] - own[:2]
                fits = True
            else:
                angle, distance = rng.uniform(0.0, 2 * math.pi), rng.uniform(*ASIDE_M)
                offset = distance * np.array([math.cos(angle), math.sin(angle)])
                place = own[:2] + offset
                fits = in_workspace(place, moment.after.table) and room_at(place, own[3:5], others) > ROOM_M
            if fits:
                return cls(moment.step, (round(float(offset[0]), 4), round(float(offset[1]), 4)))
        return None

    def cause_of(self, name: str, action: Action) -> Cause:
        """An object that tips off its support counts as dropped."""
        return Cause.DROPPED if action.operator == "top" else self.cause

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Shift the goal."""
        return place[0] + [*self.offset_m, 0.0], place[1]


@dataclass(frozen=True)
class WrongSupport(Fault):
    """The object is put on another support than the action says.

    Attributes:
        support: the name of another object with nothing on it, or `table`.
        position_m: x and y on the table; unused if the support is an object.
    """

    kind: ClassVar[str] = "wrong_support"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    support: str
    position_m: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Another object, or the table if the action stacks."""
        name = moment.action.arguments[0]
        own, here = _placed_box(moment), boxes(moment.after)
        if own is None:
            return None
        options = [
            other
            for other in clear_objects(moment)
            if other != name and bool(np.all(own[3:5] <= 1.5 * here[moment.after.index(other), 3:5]))
        ]
        if moment.action.operator == "top":
            options.append(TABLE)
        for other in rng.permutation(options).tolist():
            if other != TABLE:
                return cls(moment.step, other)
            place = random_place(moment, name, rng)
            if place is not None:
                return cls(moment.step, TABLE, (float(place[0]), float(place[1])))
        return None

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """The top of the other object, or the place on the table."""
        height = extents(place[1], estimates.sizes[estimates.index(action.arguments[0])])[2]
        if self.support == TABLE:
            return np.array([*self.position_m, height / 2]), place[1]
        if self.support not in estimates or self.support == action.arguments[0]:
            return place
        below = boxes(estimates)[estimates.index(self.support)]
        return np.array([below[0], below[1], below[2] + (below[5] + height) / 2]), place[1]


@dataclass(frozen=True)
class WrongYaw(Fault):
    """The object is put at its goal, but turned.

    Attributes:
        yaw: angle, radians.
    """

    kind: ClassVar[str] = "wrong_yaw"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An angle of 25 to 45 degrees in either direction."""
        if moment.action.arguments[0] in moment.taken:
            return None
        yaw = math.radians(rng.uniform(25.0, 45.0)) * float(rng.choice([-1.0, 1.0]))
        return cls(moment.step, round(yaw, 4))

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Turn the goal about the vertical."""
        return place[0], rotation_about((0.0, 0.0, 1.0), self.yaw) @ place[1]


def _placed_box(moment: Moment) -> Array | None:
    """Box (6,) of the moved object after the action; None if the object is gone or another fault acts on it."""
    name = moment.action.arguments[0]
    available = name in moment.after and name not in moment.taken
    return boxes(moment.after)[moment.after.index(name)] if available else None

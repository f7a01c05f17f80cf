"""What is carried is put down in another way than the action says."""

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
"""How far beyond the edge of what it is put on an object's centre is, as a share of the object's breadth."""
ASIDE_M = (0.03, 0.06)
"""How far off an object on the table is put."""
ROOM_M = 0.012
"""Gap to everything else that an object on the table keeps nevertheless."""


@dataclass(frozen=True)
class OffsetPlacement(Fault):
    """The object is put beside its place: on top of something it tips over, on the table it stands wrongly.

    Attributes:
        offset_m: how far off it is put, along x and y.
    """

    kind: ClassVar[str] = "offset_placement"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Beyond the edge of the support if there is one, else to somewhere free on the table."""
        name = moment.action.arguments[0]
        if name in moment.taken or name not in moment.after:
            return None
        here = boxes(moment.after)
        own = here[moment.after.index(name)]
        others = obstacles(moment, name)
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

    def touched(self, action: Action) -> frozenset[str]:
        """What is put down."""
        return frozenset(action.arguments[:1])

    def cause_of(self, name: str, action: Action) -> Cause:
        """What tips over beside its support fell."""
        return Cause.DROPPED if action.operator == "top" else self.cause

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Shift the place."""
        return place[0] + [*self.offset_m, 0.0], place[1]


@dataclass(frozen=True)
class WrongSupport(Fault):
    """The object is put onto something else than the action says.

    Attributes:
        support: the name of another object with nothing on it, or `table`.
        position_m: x and y on the table; not used with an object.
    """

    kind: ClassVar[str] = "wrong_support"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    support: str
    position_m: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Onto another object, or onto the table if the action stacks."""
        name = moment.action.arguments[0]
        if name in moment.taken or name not in moment.after:
            return None
        here = boxes(moment.after)
        own = here[moment.after.index(name)]
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

    def touched(self, action: Action) -> frozenset[str]:
        """What is put down."""
        return frozenset(action.arguments[:1])

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """On top of the other object, or on the table."""
        height = extents(place[1], estimates.sizes[estimates.index(action.arguments[0])])[2]
        if self.support == TABLE:
            return np.array([*self.position_m, height / 2]), place[1]
        if self.support not in estimates or self.support == action.arguments[0]:
            return place
        below = boxes(estimates)[estimates.index(self.support)]
        return np.array([below[0], below[1], below[2] + (below[5] + height) / 2]), place[1]


@dataclass(frozen=True)
class WrongYaw(Fault):
    """The object is put into its place, but turned.

    Attributes:
        yaw: by how much, radians.
    """

    kind: ClassVar[str] = "wrong_yaw"
    error_class: ClassVar[ErrorClass] = ErrorClass.OUTCOME
    cause: ClassVar[Cause] = Cause.MISPLACED

    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """By 25 to 45 degrees to either side."""
        if moment.action.arguments[0] in moment.taken:
            return None
        yaw = math.radians(rng.uniform(25.0, 45.0)) * float(rng.choice([-1.0, 1.0]))
        return cls(moment.step, round(yaw, 4))

    def touched(self, action: Action) -> frozenset[str]:
        """What is put down."""
        return frozenset(action.arguments[:1])

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Turn the place about the vertical."""
        return place[0], rotation_about((0.0, 0.0, 1.0), self.yaw) @ place[1]

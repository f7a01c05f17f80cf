"""An external agent swaps two objects."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import InvalidConfiguration
from sim.common.rotations import axis_aligned, matrix_of
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import ROOM_M, clear_objects, room_at, standing_sides, support_of
from sim.tabletop.placing import boxes, extents, free_places
from sim.tabletop.poses import PoseEstimates

CLOSE_M = 0.004
"""Minimum gap between a swapped object and its new neighbours on a crowded table."""
BESIDE_M = 0.12
"""Distance of a place beside a full table from the outermost centres on it."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Swap(Fault):
    """After an action, an external agent swaps the places of two objects. Nothing may stand on either.

    Attributes:
        first: one object.
        second: the other object.
    """

    kind: ClassVar[str] = "swap"
    error_class: ClassVar[ErrorClass] = ErrorClass.EXPLICIT
    cause: ClassVar[Cause] = Cause.SWAPPED

    first: str
    second: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Two objects with nothing on them that fit each other's place and do not support each other."""
        pairs = list(combinations(clear_objects(moment), 2))
        for i in rng.permutation(len(pairs)):
            first, second = pairs[int(i)]
            if _fits(moment, first, second) and _fits(moment, second, first):
                return cls(moment.step, first, second)
        return None

    def touched(self, action: Action) -> frozenset[str]:
        """Both objects."""
        return frozenset([self.first, self.second])

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidConfiguration(f"expected two different objects to swap, found {self.first!r} twice")

    def after(self, context: FaultContext, action: Action) -> None:
        """Move the first object aside, the second to the place of the first, and the first to the other place."""
        estimates = context.scene.estimates()
        if self.first not in estimates or self.second not in estimates:
            context.scene.note(f"the {self.first} and the {self.second} cannot be swapped: one of them is gone")
            return
        places, heights = {}, {}
        for name in (self.first, self.second):
            row = estimates.index(name)
            places[name] = estimates.positions[row].copy()
            heights[name] = float(extents(matrix_of(estimates.orientations[row]), estimates.sizes[row])[2])
        row = estimates.index(self.first)
        sides = extents(axis_aligned(matrix_of(estimates.orientations[row])), estimates.sizes[row])
        # the place of the first object counts as occupied: the second one goes there
        taken = PoseEstimates(
            (*estimates.names, "its own place"),
            np.concatenate([estimates.positions, estimates.positions[[row]]]),
            np.concatenate([estimates.orientations, estimates.orientations[[row]]]),
            np.concatenate([estimates.sizes, estimates.sizes[[row]]]),
            estimates.table,
        )
        aside = next(free_places(taken, self.first, sides), None)
        if aside is None and estimates.keep_yaw:
            aside = _beside(estimates, sides)
        if aside is None:
            context.scene.note(f"the {self.first} and the {self.second} cannot be swapped: the table is full")
            return
        context.agent.carry(self.first, [*aside, sides[2] / 2])
        for name, other in ((self.second, self.first), (self.first, self.second)):
            floor = places[other][2] - heights[other] / 2
            context.agent.carry(name, np.array([*places[other][:2], floor + heights[name] / 2]))


def _fits(moment: Moment, name: str, other: str) -> bool:
    """Whether an object can stand where another one does."""
    estimates = moment.after
    sides, place = standing_sides(estimates, name), estimates.positions[estimates.index(other)]
    here, below = boxes(estimates), support_of(moment, other)
    rows = [i for i, item in enumerate(estimates.names) if item not in (name, other, below)]
    level = [i for i in rows if here[i, 2] + here[i, 5] / 2 > place[2] - 0.01]
    # wide objects tip over on narrow ones
    if below in estimates and bool(np.any(sides[:2] > 1.7 * here[estimates.index(below), 3:5])):
        return False
    room_m = CLOSE_M if estimates.keep_yaw else ROOM_M / 2
    return below != name and room_at(place, sides, here[level]) > room_m


def _beside(estimates: PoseEstimates, sides: Array) -> Array | None:
    """A place (2,) beside a full table, where a person puts an object down for a moment; None if it is taken."""
    x_m, y_m = estimates.table.x_m, estimates.table.y_m
    for y in (y_m[1] + BESIDE_M, y_m[0] - BESIDE_M):
        place = np.array([sum(x_m) / 2, y])
        if room_at(place, sides, boxes(estimates)) > CLOSE_M:
            return place
    return None

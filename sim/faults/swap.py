"""Somebody exchanges two objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsrecover.errors import InvalidConfiguration
from nsrecover.structs import Action
from sim.faults.base import Fault
from sim.placing import extents, free_place
from sim.poses import PoseEstimates
from sim.rotations import matrix_of, squared_up

if TYPE_CHECKING:
    from sim.world import TabletopWorld


@dataclass(frozen=True)
class Swap(Fault):
    """After an action, an outside hand puts two objects at each other's places. Nothing may stand on either.

    Attributes:
        first: one object.
        second: the other one.
    """

    first: str
    second: str

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidConfiguration(f"expected two different objects to swap, found {self.first!r} twice")

    def after(self, world: TabletopWorld, action: Action) -> None:
        """Put one aside, the other one in its place, and the first where the other one was."""
        estimates = world.estimates()
        if self.first not in estimates or self.second not in estimates:
            world.note(f"the {self.first} and the {self.second} cannot be swapped: one of them is gone")
            return
        places, heights = {}, {}
        for name in (self.first, self.second):
            row = estimates.index(name)
            places[name] = estimates.positions[row].copy()
            heights[name] = float(extents(matrix_of(estimates.orientations[row]), estimates.sizes[row])[2])
        row = estimates.index(self.first)
        sides = extents(squared_up(matrix_of(estimates.orientations[row])), estimates.sizes[row])
        # its own place counts as taken: the other one goes there
        taken = PoseEstimates(
            (*estimates.names, "its own place"),
            np.concatenate([estimates.positions, estimates.positions[[row]]]),
            np.concatenate([estimates.orientations, estimates.orientations[[row]]]),
            np.concatenate([estimates.sizes, estimates.sizes[[row]]]),
        )
        aside = free_place(taken, self.first, sides)
        if aside is None:
            world.note(f"the {self.first} and the {self.second} cannot be swapped: the table is full")
            return
        world.hand.carry(self.first, [*aside, sides[2] / 2])
        for name, other in ((self.second, self.first), (self.first, self.second)):
            floor = places[other][2] - heights[other] / 2
            world.hand.carry(name, np.array([*places[other][:2], floor + heights[name] / 2]))

"""Somebody moves an object a little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nsrecover.structs import Action
from sim.faults.base import Fault

if TYPE_CHECKING:
    from sim.world import TabletopWorld


@dataclass(frozen=True)
class Displaced(Fault):
    """After an action, an outside hand sets an object down somewhere near. Nothing may stand on it.

    Attributes:
        name: the object.
        offset_m: how far it is moved along x and y.
    """

    name: str
    offset_m: tuple[float, float]

    def after(self, world: TabletopWorld, action: Action) -> None:
        """Lift the object, and set it down at the same height."""
        if self.name in world.estimates():
            position, _ = world.pose(self.name)
            world.hand.carry(self.name, position + np.array([*self.offset_m, 0.0]))

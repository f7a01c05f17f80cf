"""An invisible hand: moves, pushes and takes away objects without the robot, for what other people do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common.arm import STEP_S
from sim.common.rotations import about, matrix_of, quaternion_of, squared_up

if TYPE_CHECKING:
    from sim.tabletop.world import TabletopWorld

Array = npt.NDArray[np.float64]

SPEED_M_S = 0.5
"""Mean speed of a carried object."""
OVER_M = 0.08
"""Room between a carried object's way and everything below it."""


class Hand:
    """The hand of one world. Every call ends with the scene at rest.

    Args:
        world: what it reaches into.
    """

    def __init__(self, world: TabletopWorld) -> None:
        self._world = world

    def carry(self, name: str, position: Sequence[float] | Array, yaw: float | None = None) -> None:
        """Take an object and set it down elsewhere: lifted, moved over, lowered and let go.

        Args:
            name: the object.
            position: where its centre shall be, (3,) metres.
            yaw: how it shall be turned about the vertical against the world's axes, radians; squared up if None.

        Raises:
            UnknownObject: there is none of that name.
        """
        world, client = self._world, self._world.client
        start, orientation = world.pose(name)
        flat = squared_up(matrix_of(orientation))
        if yaw is not None:
            flat = about((0.0, 0.0, 1.0), yaw) @ flat
        goal = np.asarray(position, dtype=np.float64)
        height = max(start[2], goal[2], self._highest(name)) + OVER_M
        turned = quaternion_of(flat).tolist()
        grip = pybullet.createConstraint(
            world.body(name), -1, -1, -1, pybullet.JOINT_FIXED, [0, 0, 0], [0, 0, 0], start.tolist(), [0, 0, 0, 1],
            [0, 0, 0, 1], physicsClientId=client,
        )  # fmt: skip
        corners = [start, [*start[:2], height], [*goal[:2], height], [*goal[:2], goal[2] + 0.001]]
        for leg, (here, there) in enumerate(pairwise(corners)):
            distance = float(np.linalg.norm(np.subtract(there, here)))
            steps = max(12, int(distance / SPEED_M_S / STEP_S))
            for i in range(1, steps + 1):
                share = i / steps
                share = share * share * (3 - 2 * share)
                attitude = pybullet.getQuaternionSlerp(orientation.tolist(), turned, share) if leg == 0 else turned
                place = np.add(here, np.subtract(there, here) * share)
                pybullet.changeConstraint(
                    grip, place.tolist(), jointChildFrameOrientation=attitude, maxForce=50, physicsClientId=client
                )
                world.advance()
        pybullet.removeConstraint(grip, physicsClientId=client)
        world.settle()

    def push(self, name: str, impulse_n_s: Sequence[float] | Array) -> None:
        """Hit an object: an impulse at its centre, within one physics step.

        Args:
            name: the object.
            impulse_n_s: (3,) newton seconds.

        Raises:
            UnknownObject: there is none of that name.
        """
        world = self._world
        centre, _ = world.pose(name)
        force = (np.asarray(impulse_n_s, dtype=np.float64) / STEP_S).tolist()
        pybullet.applyExternalForce(
            world.body(name), -1, force, centre.tolist(), pybullet.WORLD_FRAME, physicsClientId=world.client
        )
        world.settle()

    def take_away(self, name: str) -> None:
        """Lift an object off and keep it; what stood on it falls.

        Raises:
            UnknownObject: there is none of that name.
        """
        self._world.put_out_of_sight(name)
        self._world.settle()

    def _highest(self, name: str) -> float:
        """Upper bound of the height of everything but one object, metres."""
        estimates = self._world.estimates()
        rows = [i for i, other in enumerate(estimates.names) if other != name]
        return max([0.0, *(float(estimates.positions[i, 2] + estimates.sizes[i].max() / 2) for i in rows)])

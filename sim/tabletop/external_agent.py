"""An agent other than the robot: it moves, pushes and takes away objects, as people do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common.arm import STEP_S
from sim.common.rotations import axis_aligned, matrix_of, quaternion_of, rotation_about
from sim.common.rounding import rounded
from sim.tabletop.physics import PhysicsScene
from sim.tabletop.placing import TIPPING_RAD, boxes

Array = npt.NDArray[np.float64]

UP = np.array([0.0, 0.0, 1.0])
"""Direction away from the table."""
ROLLS = 3
"""Seconds after which something round that fell over has come to rest."""
SPEED_M_S = 0.5
"""Mean speed of a carried object."""
OVER_M = 0.08
"""Distance between the path of a carried object and everything below it."""


class ExternalAgent:
    """Moves objects in one physics scene without the robot. The scene is at rest after each call.

    Args:
        scene: the scene it acts on.
    """

    def __init__(self, scene: PhysicsScene) -> None:
        self._scene = scene

    def carry(self, name: str, position: Sequence[float] | Array, yaw: float | None = None) -> None:
        """Lift an object, move it over a place, lower it and let it go.

        Args:
            name: the object.
            position: the new place of its centre, (3,) metres.
            yaw: its new rotation about the vertical against the world's axes, radians; squared up if None.

        Raises:
            UnknownObject: the scene has no object of that name.
        """
        scene, client = self._scene, self._scene.client
        start, orientation = scene.pose(name)
        flat = axis_aligned(matrix_of(orientation))
        if yaw is not None:
            flat = rotation_about((0.0, 0.0, 1.0), yaw) @ flat
        goal = rounded(position)
        height = max(start[2], goal[2], self._highest(name)) + OVER_M
        turned = rounded(quaternion_of(flat)).tolist()
        grip = pybullet.createConstraint(
            scene.body(name), -1, -1, -1, pybullet.JOINT_FIXED, [0, 0, 0], rounded(-scene.mass_centre(name)).tolist(),
            start.tolist(), [0, 0, 0, 1], [0, 0, 0, 1], physicsClientId=client,
        )  # fmt: skip
        corners = np.array([start, [*start[:2], height], [*goal[:2], height], [*goal[:2], goal[2] + 0.001]])
        for leg, (here, there) in enumerate(pairwise(corners)):
            distance = float(rounded(np.linalg.norm(there - here)))
            steps = max(12, int(distance / SPEED_M_S / STEP_S))
            for i in range(1, steps + 1):
                share = i / steps
                share = share * share * (3 - 2 * share)
                attitude = pybullet.getQuaternionSlerp(orientation.tolist(), turned, share) if leg == 0 else turned
                place = here + (there - here) * share
                pybullet.changeConstraint(
                    grip, place.tolist(), jointChildFrameOrientation=attitude, maxForce=50, physicsClientId=client
                )
                scene.advance()
        pybullet.removeConstraint(grip, physicsClientId=client)
        scene.settle()

    def push(self, name: str, impulse_n_s: Sequence[float] | Array) -> None:
        """Apply an impulse at an object's centre, within one physics step.

        Args:
            name: the object.
            impulse_n_s: (3,) newton seconds.

        Raises:
            UnknownObject: the scene has no object of that name.
        """
        self.hit(name, impulse_n_s)
        self._scene.settle()

    def hit(self, name: str, impulse_n_s: Sequence[float] | Array) -> None:
        """Apply an impulse at an object's centre in the next physics step, while everything goes on; as for `push`."""
        scene = self._scene
        centre, _ = scene.pose(name)
        force = (rounded(impulse_n_s) / STEP_S).tolist()
        pybullet.applyExternalForce(
            scene.body(name), -1, force, centre.tolist(), pybullet.WORLD_FRAME, physicsClientId=scene.client
        )

    def topple(self, name: str, direction: float) -> None:
        """Tip an object over an edge of its base and let it fall.

        Args:
            name: the object.
            direction: of the fall, about the vertical, radians.

        Raises:
            UnknownObject: the scene has no object of that name.
        """
        scene = self._scene
        centre, orientation = scene.pose(name)
        estimates = scene.estimates()
        box = boxes(estimates)[estimates.index(name)]
        way = np.array([math.cos(direction), math.sin(direction), 0.0])
        reach = float(np.abs(way[:2]) @ box[3:5]) / 2
        edge = np.array([*box[:2], box[2] - box[5] / 2]) + reach * way
        turn = rotation_about(np.cross(UP, way), math.atan2(reach, box[5] / 2) + TIPPING_RAD)
        lifted = UP * 0.001
        scene.put(name, edge + turn @ (centre - edge) + lifted, quaternion_of(turn @ matrix_of(orientation)))
        for _ in range(ROLLS):
            scene.settle()

    def take_away(self, name: str) -> None:
        """Remove an object from the table; objects that stood on it fall.

        Raises:
            UnknownObject: the scene has no object of that name.
        """
        self._scene.put_out_of_sight(name)
        self._scene.settle()

    def _highest(self, name: str) -> float:
        """Upper bound of the height of everything but one object, metres."""
        estimates = self._scene.estimates()
        rows = [i for i, other in enumerate(estimates.names) if other != name]
        return max([0.0, *(float(estimates.positions[i, 2] + estimates.sizes[i].max() / 2) for i in rows)])

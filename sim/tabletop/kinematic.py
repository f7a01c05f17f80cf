"""Pick-and-place without an arm: the object is carried along the way the arm would carry it, let go, and falls.

What happens to the object once nobody holds it, and to everything else, is physics as ever. What is missing: the arm's
own body (it cannot touch anything), its tracking errors, and how an object sits between the fingers. Rules of thumb
stand for these; see `Carrier`.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.core.actions import Action
from sim.common.arm import FINGER_FRICTION, GRIP_FORCE_N, STEP_S
from sim.common.rotations import matrix_of, quaternion_of
from sim.tabletop.faults.base import SkillPhase
from sim.tabletop.grasp import Obstacles, separation
from sim.tabletop.placing import boxes, extents
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.skills import CARRY_M_S, DROP_M, HAND_REACH_M, NEAR_M_S, OVER_M

if TYPE_CHECKING:
    from sim.tabletop.world import TabletopWorld

Array = npt.NDArray[np.float64]

REACH_M = (0.28, 0.81)
"""Nearest and farthest place that a Panda takes things from and puts them at, from its base."""
GRAVITY_M_S2 = 9.81
CONTACT_M = 0.001
"""A lowered object that runs this deep into another one has come to stand on it."""
_WAY_POINTS = 10
_LEVELS_M = 0.002


class Fidelity(StrEnum):
    """How much of a pick-and-place is simulated."""

    PHYSICS = "physics"
    """The arm does everything: what every claim rests on."""
    KINEMATIC = "kinematic"
    """Objects are carried by nobody and let settle: for volume, and for planning studies."""


class _Lost(Exception):
    """The object is not held (any more)."""


class Carrier:
    """Stands for the arm in a kinematic world.

    An object is held if its true centre is between the fingers as they close where it is believed to be, and as long
    as friction carries its weight. It is moved without physics unless something really is in the way of the load;
    then it pushes it aside, one physics step at a time. It is let go where it should stand, or as soon as it touches
    something on the way down.

    Args:
        world: whose objects it carries.
    """

    def __init__(self, world: TabletopWorld) -> None:
        self._world = world
        self.weaken_grip()

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Change the grip's force and friction from now on; None gives the ordinary value back."""
        self._force_n = GRIP_FORCE_N if force_n is None else force_n
        self._friction = FINGER_FRICTION if friction is None else friction

    def run(self, estimates: PoseEstimates, action: Action) -> None:
        """Carry an action out as well as possible.

        Args:
            estimates: what the arm believes.
            action: a well-formed action.
        """
        world = self._world
        missing = [name for name in action.arguments if name not in estimates]
        if missing:
            world.note(f"{action}: the {missing[0]} is not on the table")
            return
        try:
            self._carry(estimates, action)
        except _Lost as reason:
            world.note(f"{action}: {reason}")
        for progress in (0.0, 1.0):
            world.report(SkillPhase.RETREAT, progress)

    def _carry(self, estimates: PoseEstimates, action: Action) -> None:
        world, name = self._world, action.arguments[0]
        goal = world.goal(action, estimates)
        if goal is None:
            raise _Lost("there is no free place")
        centre, rotation = goal
        row = estimates.index(name)
        believed, size = estimates.positions[row], estimates.sizes[row]
        if not all(REACH_M[0] <= math.hypot(*place[:2]) <= REACH_M[1] for place in (believed, centre)):
            raise _Lost("the object or its place is out of reach")
        for phase in (SkillPhase.APPROACH, SkillPhase.GRASP):
            for progress in (0.0, 1.0):
                world.report(phase, progress)
        start, orientation = world.pose(name)
        miss = np.abs(believed - start)
        if float(np.linalg.norm(miss[:2])) > 0.5 * float(size.min()) or miss[2] > 0.5 * float(size.min()):
            raise _Lost("there is nothing between the fingers")
        turned = quaternion_of(rotation)
        sides = extents(rotation, size)
        height = self._height(estimates, row, centre)
        end = np.array([centre[0], centre[1], max(centre[2], sides[2] / 2) + DROP_M])
        above, over = np.array([*start[:2], height]), np.array([*end[:2], height])
        obstacles = self._obstacles(name)
        self._go(name, SkillPhase.LIFT, start, above, (orientation, orientation), False)
        barred = self._barred(above, over, sides, obstacles)
        self._go(name, SkillPhase.TRANSPORT, above, over, (orientation, turned), barred)
        if barred:
            obstacles = self._obstacles(name)
        end[2] = self._touch_down(over, end, rotation, size, obstacles)
        self._go(name, SkillPhase.LOWER, over, end, (turned, turned), False)
        for progress in (0.0, 1.0):
            world.report(SkillPhase.RELEASE, progress)

    def _go(
        self, name: str, phase: SkillPhase, start: Array, goal: Array, turn: tuple[Array, Array], barred: bool
    ) -> None:
        """One straight leg; raises `_Lost` where the grip fails, with the speed that the object has there."""
        world = self._world
        body, client = world.body(name), world.client
        mass = float(pybullet.getDynamicsInfo(body, -1, physicsClientId=client)[0])
        way = goal - start
        distance = float(np.linalg.norm(way))
        seconds = max(distance / CARRY_M_S, 0.05)
        steps = max(_WAY_POINTS, math.ceil(seconds / STEP_S)) if barred else _WAY_POINTS
        first, last = (quaternion.tolist() for quaternion in turn)
        for step in range(steps + 1):
            time = step / steps
            share = time * time * (3.0 - 2.0 * time)
            attitude = pybullet.getQuaternionSlerp(first, last, share) if phase is SkillPhase.TRANSPORT else first
            place, speed = start + share * way, way * (6.0 * time * (1.0 - time) / seconds)
            pybullet.resetBasePositionAndOrientation(body, place.tolist(), attitude, physicsClientId=client)
            pybullet.resetBaseVelocity(body, speed.tolist(), [0.0, 0.0, 0.0], physicsClientId=client)
            world.report(phase, time)
            if 2.0 * self._friction * self._force_n < mass * GRAVITY_M_S2:
                raise _Lost("the object is lost")
            if barred:
                world.advance()
        if not barred:
            world.time_s += seconds if phase is not SkillPhase.LOWER else seconds + 0.04 / NEAR_M_S
        pybullet.resetBaseVelocity(body, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], physicsClientId=client)

    def _height(self, estimates: PoseEstimates, row: int, centre: Array) -> float:
        """Height of the load's centre that clears everything on the way, as far as it is known."""
        known = boxes(estimates)
        own, others = known[row], np.delete(known, row, axis=0)
        way = centre[:2] - own[:2]
        share = np.clip((others[:, :2] - own[:2]) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
        away = np.abs(others[:, :2] - (own[:2] + share[:, None] * way)) - others[:, 3:5] / 2
        tops = np.where(away.max(axis=1) < HAND_REACH_M, others[:, 2] + others[:, 5] / 2, 0.0)
        clear = float(tops.max(initial=0.0)) + float(own[5]) / 2 + 0.01 + OVER_M
        return max(clear, float(own[2]) + 0.06, float(centre[2]) + 0.06)

    def _obstacles(self, name: str) -> Obstacles:
        """Where everything but one object really is."""
        truth = self._world.estimates()
        rows = [i for i, other in enumerate(truth.names) if other != name]
        rotations = np.array([matrix_of(truth.orientations[i]) for i in rows]).reshape(-1, 3, 3)
        return Obstacles(truth.positions[rows], rotations, truth.sizes[rows] / 2)

    def _barred(self, start: Array, goal: Array, sides: Array, others: Obstacles) -> bool:
        """Whether something really is in the way of a load (its box, any yaw) that moves level."""
        reach = np.einsum("mij,mj->mi", np.abs(others.rotations), others.halves)
        high = others.centres[:, 2] + reach[:, 2] > start[2] - sides[2] / 2 - CONTACT_M
        if not high.any():
            return False
        way = (goal - start)[:2]
        share = np.clip((others.centres[:, :2] - start[:2]) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
        away = np.abs(others.centres[:, :2] - (start[:2] + share[:, None] * way)) - reach[:, :2]
        return bool(np.any(high & (away.max(axis=1) < 0.5 * math.hypot(*sides[:2]))))

    def _touch_down(self, over: Array, end: Array, rotation: Array, size: Array, others: Obstacles) -> float:
        """Height of the load's centre where it is let go: at its place, or above what it comes to touch first."""
        reach = np.einsum("mij,mj->mi", np.abs(others.rotations), others.halves)
        sides = extents(rotation, size)
        below = np.all(np.abs(others.centres[:, :2] - end[:2]) < reach[:, :2] + sides[:2] / 2, axis=1)
        near = below & (others.centres[:, 2] + reach[:, 2] > end[2] - sides[2] / 2 - CONTACT_M)
        if not near.any():
            return float(end[2])
        levels = np.append(np.arange(over[2], end[2], -_LEVELS_M), end[2])
        centres = np.column_stack([np.full((len(levels), 2), end[:2]), levels])
        load = np.broadcast_to(rotation, (len(levels), 3, 3)), np.broadcast_to(size / 2, (len(levels), 3))
        picked = Obstacles(others.centres[near], others.rotations[near], others.halves[near])
        touching = (separation(centres, *load, picked) < -CONTACT_M).any(axis=1)
        return float(levels[max(0, int(touching.argmax()) - 1)]) if touching.any() else float(end[2])

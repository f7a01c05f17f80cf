"""Pick-and-place without an arm: the object follows the arm's path, is let go, and falls.

A released object and everything else follow physics. Not simulated are the arm's body (it touches nothing), its
tracking errors, and how an object sits between the fingers; simple rules replace them, see `KinematicPickAndPlace`.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common.arm import FINGER_FRICTION, GRIP_FORCE_N, STEP_S
from sim.common.rotations import quaternion_of
from sim.tabletop.execution import Execution, SkillFailure
from sim.tabletop.grasp import Obstacles, obstacles_around, separation
from sim.tabletop.phases import SkillPhase
from sim.tabletop.pick_and_place import PickAndPlaceBase
from sim.tabletop.placing import boxes, extents
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.skills import CARRY_M_S, DROP_M, HAND_REACH_M, NEAR_M_S, OVER_M

Array = npt.NDArray[np.float64]

REACH_M = (0.28, 0.81)
"""Nearest and farthest place, from the base, that a Panda reaches with an object."""
GRAVITY_M_S2 = 9.81
CONTACT_M = 0.001
"""A lowered object that overlaps another one by this much stands on it."""
_WAY_POINTS = 10
_LEVELS_M = 0.002


class Fidelity(StrEnum):
    """How much of a pick-and-place is simulated."""

    PHYSICS = "physics"
    """The arm does everything; all published results use this."""
    KINEMATIC = "kinematic"
    """Objects move without an arm and settle: for large numbers of episodes, and for planning studies."""


class FrictionGrip:
    """Holds an object as long as the friction between two fingers carries its weight."""

    def __init__(self) -> None:
        self.weaken_grip()

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Change the grip's force, newtons, and friction from now on; None: the ordinary value."""
        self._force_n = GRIP_FORCE_N if force_n is None else force_n
        self._friction = FINGER_FRICTION if friction is None else friction

    def holds(self, mass_kg: float) -> bool:
        """Whether an object of this mass stays in the grip."""
        return 2.0 * self._friction * self._force_n >= mass_kg * GRAVITY_M_S2


class KinematicPickAndPlace(PickAndPlaceBase):
    """One pick-and-place without an arm: made for one action, run once.

    An object is held if its true centre is between the fingers when they close at its believed centre, and as long as
    the grip holds it. It is moved without physics unless something is in the way of the load; then it pushes that
    aside, one physics step at a time. It is let go at its place, or as soon as it touches something on the way down.
    """

    def __init__(self, execution: Execution, grip: FrictionGrip, estimates: PoseEstimates) -> None:
        """Prepare it.

        Args:
            execution: the action.
            grip: holds the object.
            estimates: what the controller believes about the objects.
        """
        super().__init__(execution, estimates)
        self._grip = grip

    def _finish(self, failed: bool) -> None:
        self._report_whole(SkillPhase.RETREAT)

    def _report_whole(self, *phases: SkillPhase) -> None:
        """Report the beginning and the end of phases in which nothing moves."""
        for phase in phases:
            for progress in (0.0, 1.0):
                self._execution.report(phase, progress)

    def _run(self) -> None:
        centre, rotation = self._place()
        row = self._estimates.index(self._name)
        believed, size = self._estimates.positions[row], self._estimates.sizes[row]
        if not all(REACH_M[0] <= math.hypot(*place[:2]) <= REACH_M[1] for place in (believed, centre)):
            raise SkillFailure("the object or its place is out of reach")
        self._report_whole(SkillPhase.APPROACH, SkillPhase.GRASP)
        start, orientation = self._scene.pose(self._name)
        miss = np.abs(believed - start)
        if float(np.linalg.norm(miss[:2])) > 0.5 * float(size.min()) or miss[2] > 0.5 * float(size.min()):
            raise SkillFailure("there is nothing between the fingers")
        turned = quaternion_of(rotation)
        sides = extents(rotation, size)
        height = self._height(centre)
        end = np.array([centre[0], centre[1], max(centre[2], sides[2] / 2) + DROP_M])
        above, over = np.array([*start[:2], height]), np.array([*end[:2], height])
        obstacles = obstacles_around(self._scene.estimates(), self._name)
        self._go(SkillPhase.LIFT, start, above, (orientation, orientation), False)
        barred = _is_barred(above, over, sides, obstacles)
        self._go(SkillPhase.TRANSPORT, above, over, (orientation, turned), barred)
        if barred:
            obstacles = obstacles_around(self._scene.estimates(), self._name)
        end[2] = _touch_down(over, end, rotation, size, obstacles)
        self._go(SkillPhase.LOWER, over, end, (turned, turned), False)
        self._report_whole(SkillPhase.RELEASE)

    def _go(self, phase: SkillPhase, start: Array, goal: Array, turn: tuple[Array, Array], barred: bool) -> None:
        """Move straight; raise `SkillFailure` where the grip fails: the object keeps the velocity that it has there."""
        scene = self._scene
        body, client = scene.body(self._name), scene.client
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
            scene.put(self._name, place, attitude, speed)
            self._execution.report(phase, time)
            if not self._grip.holds(mass):
                raise SkillFailure("the object is lost")
            if barred:
                scene.advance()
        if not barred:
            scene.time_s += seconds if phase is not SkillPhase.LOWER else seconds + 0.04 / NEAR_M_S
        pybullet.resetBaseVelocity(body, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], physicsClientId=client)

    def _height(self, centre: Array) -> float:
        """Height of the load's centre that clears everything believed to be on the way, metres."""
        known, row = boxes(self._estimates), self._estimates.index(self._name)
        own, others = known[row], np.delete(known, row, axis=0)
        way = centre[:2] - own[:2]
        share = np.clip((others[:, :2] - own[:2]) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
        away = np.abs(others[:, :2] - (own[:2] + share[:, None] * way)) - others[:, 3:5] / 2
        tops = np.where(away.max(axis=1) < HAND_REACH_M, others[:, 2] + others[:, 5] / 2, 0.0)
        clear = float(tops.max(initial=0.0)) + float(own[5]) / 2 + 0.01 + OVER_M
        return max(clear, float(own[2]) + 0.06, float(centre[2]) + 0.06)


def _is_barred(start: Array, goal: Array, sides: Array, others: Obstacles) -> bool:
    """Whether something is in the way of a load (sides (3,) of its box, any yaw) that moves level."""
    reach = np.einsum("mij,mj->mi", np.abs(others.rotations), others.halves)
    high = others.centres[:, 2] + reach[:, 2] > start[2] - sides[2] / 2 - CONTACT_M
    if not high.any():
        return False
    way = (goal - start)[:2]
    share = np.clip((others.centres[:, :2] - start[:2]) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
    away = np.abs(others.centres[:, :2] - (start[:2] + share[:, None] * way)) - reach[:, :2]
    return bool(np.any(high & (away.max(axis=1) < 0.5 * math.hypot(*sides[:2]))))


def _touch_down(over: Array, end: Array, rotation: Array, size: Array, others: Obstacles) -> float:
    """Height of the load's centre where it is let go: at its place, or above the first obstacle it touches."""
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

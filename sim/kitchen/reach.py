"""Which place of the base lets the arm make a whole motion: many bases follow its tool poses one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.common import kinematics
from sim.kitchen.clearance import Obstacles, clear
from sim.kitchen.floor_plan import FloorPlan
from sim.kitchen.robot import BASE_HEIGHT_M, BasePose

Array = npt.NDArray[np.float64]

_DISTANCES_M = (0.50, 0.56, 0.44, 0.62, 0.38, 0.68, 0.74)
"""From the base to the first tool pose, most comfortable first."""
_SIDES = tuple(math.radians(angle) for angle in (0, 25, -25, 50, -50, 75, -75))
_HEADINGS = tuple(math.radians(angle) for angle in (0, 30, -30))
_JUMP = 0.9
"""Joints that move farther than this between two tool poses have changed the posture, radians."""
_LIMIT_MARGIN = 0.06
_BETWEEN = np.array([0.33, 0.67])


_UNFOLDS_M = (0.0, 0.15, 0.30, 0.45)
"""How far behind its place the base may stand while the arm comes to the first pose."""


@dataclass(frozen=True, eq=False)
class Station:
    """Where the base stands for a motion.

    Attributes:
        base: its pose.
        joints: angles of the arm at each pose of the motion, (K, 7).
        before: where it stands while the arm comes to the first pose; from there it drives straight to `base`.
    """

    base: BasePose
    joints: Array
    before: BasePose


@dataclass(frozen=True, eq=False)
class ToolPose:
    """A pose of the tool in the world.

    Attributes:
        position: (3,) metres.
        rotation: (3, 3).
    """

    position: Array
    rotation: Array

    def moved(self, shift: npt.ArrayLike) -> ToolPose:
        """The pose, shifted by (3,) metres in the world."""
        return ToolPose(self.position + np.asarray(shift, float), self.rotation)

    def backed(self, distance_m: float) -> ToolPose:
        """The pose, drawn back along the direction in which the tool points."""
        return ToolPose(self.position - distance_m * self.rotation[:, 2], self.rotation)


def tool_rotation(azimuth: float, pitch: float) -> Array:
    """Rotation (3, 3) of a tool that points forwards and down and closes sideways.

    Args:
        azimuth: horizontal direction in which it points, radians.
        pitch: angle between where it points and straight down, radians; 90 degrees is horizontal.
    """
    cos, sin = math.cos(azimuth), math.sin(azimuth)
    z = np.array([cos * math.sin(pitch), sin * math.sin(pitch), -math.cos(pitch)])
    # as for the tool that points straight down, the fingers' axis is on its right
    y = np.array([sin, -cos, 0.0])
    return np.stack([np.cross(y, z), y, z], axis=1)


def candidates(plan: FloorPlan, target: Array, azimuth: float) -> list[BasePose]:
    """Free places of the base near a target (3,), most comfortable first; the robot looks along `azimuth`."""
    found = []
    for side in _SIDES:
        for distance in _DISTANCES_M:
            direction = azimuth + side
            x, y = target[0] - distance * math.cos(direction), target[1] - distance * math.sin(direction)
            found += [BasePose(float(x), float(y), direction + heading) for heading in _HEADINGS]
    free = plan.free(np.array([[base.x, base.y] for base in found]))
    return [base for base, good in zip(found, free, strict=True) if good]


def following(bases: Sequence[BasePose], poses: Sequence[ToolPose]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Follow tool poses with the arm from each of several bases.

    Args:
        bases: B places.
        poses: K poses of the tool, in their order.

    Returns:
        Joint angles (B, K, 7), and whether all poses are reached without a change of posture, (B,).
    """
    frames = np.stack([base.rotation() for base in bases])
    origins = np.array([[base.x, base.y, BASE_HEIGHT_M] for base in bases])
    good = np.ones(len(bases), dtype=bool)
    result = np.zeros((len(bases), len(poses), 7))
    joints: Array | None = None
    for number, pose in enumerate(poses):
        positions = np.einsum("bij,bi->bj", frames, pose.position - origins)
        rotations = np.einsum("bji,jk->bik", frames, pose.rotation)
        before = joints
        if before is None:
            seeds = np.broadcast_to(kinematics.REST, (len(bases), 7)).copy()
            seeds[:, 0] = np.arctan2(positions[:, 1], positions[:, 0])
            tilt = np.arccos(np.clip(-rotations[:, 2, 2], -1.0, 1.0))
            seeds[:, 5] = np.clip(2.0 + 0.9 * tilt, 0.1, 3.6)
        else:
            seeds = before
        joints, reached = kinematics.solve(positions, rotations, seeds, iterations=50 if before is None else 30)
        inside = ((joints > kinematics.LOWER + _LIMIT_MARGIN) & (joints < kinematics.UPPER - _LIMIT_MARGIN)).all(axis=1)
        good &= reached & inside
        if before is not None:
            good &= np.abs(joints - before).max(axis=1) < _JUMP
        result[:, number] = joints
        if not good.any():
            break
    return result, good


def find_station(
    plan: FloorPlan,
    poses: Sequence[ToolPose],
    azimuth: float,
    obstacles: Obstacles,
    around: Obstacles,
    held: Array,
    carried: Array,
    way: Callable[[Array], Array],
    arrives: Callable[[BasePose], bool],
    here: BasePose | None = None,
) -> Station | None:
    """A place of the base from which the arm can follow tool poses.

    Args:
        plan: of the floor.
        poses: of the tool, in their order; the first one decides where to look.
        azimuth: direction in which the robot should look, radians.
        obstacles: what the arm must not touch at the poses.
        around: what it must not touch on the way to the first one.
        held: (Q, 3) points of what the hand holds that must be free at the poses, in the frame of the tool.
        carried: (Q, 3) points of the fingers and what they hold that must be free on the way to them.
        way: gives the postures (W, 7) from the present one to another.
        arrives: whether the base can drive to a place.
        here: where the base stands; preferred if it serves.

    Returns:
        The station; None if there is none.
    """
    middle = np.mean([pose.position for pose in poses], axis=0)
    bases = candidates(plan, middle, azimuth)
    # in portions: mostly one of the first serves
    portions = [[here]] if here is not None else []
    portions += [bases[start : start + 24] for start in range(0, len(bases), 24)]
    for portion in portions:
        joints, good = _tested(portion, poses, obstacles, held)
        for row in np.flatnonzero(good).tolist():
            if not _moves_freely(portion[row], joints[row], obstacles, held):
                continue
            before = _unfolds(portion[row], joints[row, 0], plan, obstacles, around, held, carried, way)
            if before is not None and arrives(before):
                return Station(portion[row], joints[row], before)
    return None


def _moves_freely(base: BasePose, joints: Array, obstacles: Obstacles, held: Array) -> bool:
    """Whether the arm touches nothing between postures (K, 7)."""
    between = (joints[:-1, None] + _BETWEEN[:, None] * (joints[1:] - joints[:-1])[:, None]).reshape(1, -1, 7)
    return bool(clear([base], between, obstacles, held)[0])


def _unfolds(
    base: BasePose,
    goal: Array,
    plan: FloorPlan,
    obstacles: Obstacles,
    around: Obstacles,
    held: Array,
    carried: Array,
    way: Callable[[Array], Array],
) -> BasePose | None:
    """The place nearest behind a base in which the arm can come to a posture (7,), and drive in; None if there is none.

    Mostly that is the base itself. In front of an open door or between tall neighbours it is some way back.
    """
    postures = way(goal)
    passed = []
    for distance in _UNFOLDS_M:
        behind = base.backed(distance)
        if not plan.free(np.array([[behind.x, behind.y]]))[0]:
            return None
        passed += [base.backed(distance - shift) for shift in (0.10, 0.05) if distance]
        if not clear([behind], postures[None], around, carried)[0]:
            continue
        if passed and not clear(passed, np.broadcast_to(goal, (len(passed), 1, 7)), obstacles, held).all():
            return None
        if not len(held) or comes_straight_in(behind, postures[0], around, carried):
            return behind
    return None


def comes_straight_in(base: BasePose, posture: Array, around: Obstacles, carried: Array) -> bool:
    """Whether the arm in a posture (7,), and what it carries, touch nothing at a base and on 40 cm straight to it."""
    lane = [base.backed(0.05 * number) for number in range(9)]
    return bool(clear(lane, np.broadcast_to(posture, (len(lane), 1, 7)), around, carried).all())


def _tested(
    bases: Sequence[BasePose], poses: Sequence[ToolPose], obstacles: Obstacles, held: Array
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Like `following`; also all postures must be clear."""
    joints, good = following(bases, poses)
    rows = np.flatnonzero(good)
    if len(rows):
        good[rows] = clear([bases[row] for row in rows.tolist()], joints[rows], obstacles, held)
    return joints, good

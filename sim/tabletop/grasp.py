"""Grasps: the approach axis, the faces that the fingers press, and the room around the hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.common import kinematics
from sim.common.arm import OPEN_M
from sim.common.rotations import matrix_of, rotation_about, upright_axis
from sim.common.rounding import rounded
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]

MARGINS_M = (0.009, 0.005)
"""Gap between an open finger and the object on each side; the wide one is tried first."""
LEANS = ((0.0,), (math.radians(15.0), math.radians(-15.0)), (math.radians(30.0), math.radians(-30.0)))
"""Rotations of the hand about its closing axis, to pass tall objects; tried in rounds."""
NARROW_M = 0.003
"""Gap between an open finger and the object where everything else touches something."""
OFF_CENTRE = (0.0, 0.010, -0.010)
"""Distances from the middle of the object along its free side at which it is taken then, metres."""
RAISED_M = 0.007
"""How much higher it is taken then: the fingers are thinner near their tips."""
MORE_LEANS = (*(lean for leans in LEANS for lean in leans), math.radians(45.0), math.radians(-45.0))
"""Rotations of the hand that are tried then."""
STEEPEST = math.radians(55.0)
"""Objects with a larger tilt are grasped from straight above."""
SWEEP_M = 0.16
"""Height above the grasp up to which the hand's path is checked."""
ENOUGH_M = 0.010
"""More room than this is no advantage."""
GOOD_M = 0.006
"""With this much room, no further round is tried."""
BACK_OFF_M = 0.10
"""Distance that the hand backs off along its own axis before it moves sideways."""
DEEPEST_M = 0.036
"""The tool goes at most this far below the top of an object, as the palm is 38 mm above it; boxes are taken at their
middle."""
TIP_M = 0.0075
"""From the tool centre point to the end of the fingers."""


class Obstacles(NamedTuple):
    """Boxes that the arm should not touch.

    Attributes:
        centres: (M, 3) metres.
        rotations: (M, 3, 3).
        halves: (M, 3) half sides, metres.
    """

    centres: Array
    rotations: Array
    halves: Array


def obstacles_around(estimates: PoseEstimates, name: str) -> Obstacles:
    """The boxes of all objects but one."""
    rows = [i for i, other in enumerate(estimates.names) if other != name]
    rotations = np.array([matrix_of(estimates.orientations[i]) for i in rows]).reshape(-1, 3, 3)
    return Obstacles(estimates.positions[rows], rotations, estimates.sizes[rows] / 2)


@dataclass(frozen=True, eq=False)
class Grasp:
    """One grasp of an object.

    Attributes:
        position: of the tool, (3,), metres.
        rotation: of the tool, (3, 3).
        opening_m: distance between the fingers before they close, and after they open again.
        joints: (7,) joint angles at the grasp.
        place_joints: (7,) joint angles when the object is at its goal.
        room_m: least distance to other objects at both places; negative if something is touched.
    """

    position: Array
    rotation: Array
    opening_m: float
    joints: Array
    place_joints: Array
    room_m: float


def separation(centres: Array, rotations: Array, halves: Array, others: Obstacles) -> Array:
    """Distance along the best separating axis between B boxes and M others, (B, M); negative where they overlap.

    Args:
        centres: (B, 3) metres.
        rotations: (B, 3, 3), the columns are the boxes' own axes.
        halves: (B, 3) half sides.
        others: M boxes.
    """
    shape = (len(centres), len(others.centres))
    offset = others.centres[None] - centres[:, None]
    relative = np.einsum("bji,mjk->bmik", rotations, others.rotations)
    magnitude = np.abs(relative)
    in_first = np.einsum("bji,bmj->bmi", rotations, offset)
    in_other = np.einsum("mji,bmj->bmi", others.rotations, offset)
    gap_first = np.abs(in_first) - halves[:, None] - np.einsum("bmik,mk->bmi", magnitude, others.halves)
    gap_other = np.abs(in_other) - others.halves[None] - np.einsum("bmik,bi->bmk", magnitude, halves)
    gap = np.maximum(gap_first.max(axis=2), gap_other.max(axis=2))
    # edge against edge: the nine cross products of the boxes' axes, left out where two axes are parallel
    for i, k in product(range(3), range(3)):
        i1, i2, k1, k2 = (i + 1) % 3, (i + 2) % 3, (k + 1) % 3, (k + 2) % 3
        along = np.abs(in_first[..., i2] * relative[..., i1, k] - in_first[..., i1] * relative[..., i2, k])
        reach = (
            halves[:, None, i1] * magnitude[..., i2, k]
            + halves[:, None, i2] * magnitude[..., i1, k]
            + others.halves[None, :, k1] * magnitude[..., i, k2]
            + others.halves[None, :, k2] * magnitude[..., i, k1]
        )
        sine = np.sqrt(np.maximum(0.0, 1.0 - relative[..., i, k] ** 2))
        crossed = np.where(sine > 0.05, (along - reach) / np.maximum(sine, 0.05), -np.inf)
        gap = np.maximum(gap, crossed)
    return rounded(gap.reshape(shape))


def _hand(opening_m: float) -> tuple[Array, Array]:
    """Boxes of the open hand and its approach path, in the tool's frame: centres (5, 3), half sides (5, 3)."""
    centres, halves = [], []
    for side in (-1.0, 1.0):
        for thickness, low in ((0.014, TIP_M), (0.026, -0.018)):
            depth = (low + SWEEP_M) / 2
            centres.append([0.0, side * (opening_m + thickness) / 2, low - depth])
            halves.append([0.0105, thickness / 2, depth])
    depth = (SWEEP_M + 0.15 - 0.038) / 2
    centres.append([0.0, 0.0, -0.038 - depth])
    halves.append([0.033, 0.104, depth])
    return np.array(centres), np.array(halves)


_LINK_BOXES = (
    (4, (0.0, 0.065, -0.07), (0.052, 0.065, 0.125)),
    (4, (0.0, 0.0, -0.22), (0.055, 0.055, 0.045)),
    (5, (0.042, 0.015, 0.006), (0.09, 0.067, 0.05)),
    (6, (0.018, 0.018, 0.08), (0.063, 0.063, 0.028)),
)
"""Boxes around the forearm and wrist: joint frame, centre and half sides in it (from the collision meshes)."""


def above_middle(height_m: float) -> float:
    """How far above the middle of an object with some height along the approach axis it is taken, metres."""
    return max(0.0, height_m / 2 - DEEPEST_M)


def room_around(joints: Array, openings: Array, obstacles: Obstacles) -> Array:
    """Least distance of hand, wrist and forearm to any obstacle, (C,), in C postures (C, 7); at most `ENOUGH_M`."""
    count = len(joints)
    if not len(obstacles.centres):
        return np.full(count, ENOUGH_M)
    all_frames = kinematics.frames(joints)
    centres, rotations, halves = [], [], []
    for i in range(count):
        box_centres, box_halves = _hand(float(openings[i]))
        tool = all_frames[i, 7]
        centres.append(tool[:3, 3] + box_centres @ tool[:3, :3].T)
        rotations.append(np.broadcast_to(tool[:3, :3], (len(box_centres), 3, 3)))
        halves.append(box_halves)
        for joint, centre, half in _LINK_BOXES:
            frame = all_frames[i, joint]
            centres.append((frame[:3, 3] + frame[:3, :3] @ centre)[None])
            rotations.append(frame[None, :3, :3])
            halves.append(np.array([half]))
    gaps = separation(np.concatenate(centres), np.concatenate(rotations), np.concatenate(halves), obstacles)
    return np.asarray(np.minimum(ENOUGH_M, gaps.reshape(count, -1).min(axis=1)))


def _directions(matrix: Array, size: Array) -> Iterator[tuple[Array, Array, float]]:
    """Approach direction, closing direction and the object's width along it; the best first."""
    axis, sign, tilt = upright_axis(matrix)
    down = -sign * matrix[:, axis]
    others = [i for i in range(3) if i != axis]
    if tilt <= STEEPEST:
        for i in others:
            for turn in (1.0, -1.0):
                yield down, turn * matrix[:, i], float(size[i])
    if tilt > math.radians(3.0):
        # from straight above, pressing on the two faces that are nearest to upright
        for i in others:
            level = matrix[:, i] * [1.0, 1.0, 0.0]
            length = float(np.linalg.norm(level))
            if length > 0.8:
                width = float(rounded(np.abs(matrix.T @ (level / length)) @ size))
                for turn in (1.0, -1.0):
                    yield np.array([0.0, 0.0, -1.0]), turn * level / length, width


def choose_grasps(
    estimates: PoseEstimates, name: str, place_position: Array, place_rotation: Array, hover_m: float, seed: Array
) -> Iterator[Grasp]:
    """Grasps of an object that also fit its goal, computed lazily, those with the most room first.

    Args:
        estimates: of all objects.
        name: the object to take.
        place_position: its centre at the goal, (3,).
        place_rotation: its rotation at the goal, (3, 3).
        hover_m: height of the tool above the object and above its goal.
        seed: joint angles to start the inverse kinematics from, (7,).

    Yields:
        Nothing if the arm cannot reach the object and its goal with the same grasp.
    """
    row = estimates.index(name)
    matrix, size, centre = matrix_of(estimates.orientations[row]), estimates.sizes[row], estimates.positions[row]
    obstacles = obstacles_around(estimates, name)
    found = list[tuple[float, Grasp]]()
    rounds = [(leans, (0.0,), MARGINS_M) for leans in LEANS] + [(MORE_LEANS, OFF_CENTRE, (*MARGINS_M, NARROW_M))]
    for number, (leans, shifts, margins) in enumerate(rounds):
        if number == len(LEANS) and found and found[0][1].room_m >= 0.0:
            break
        raised = RAISED_M if number == len(LEANS) else 0.0
        rotations, widths, above, sideways = [], [], [], []
        for down, closing, width in _directions(matrix, size):
            for lean, shift in product(leans, shifts):
                tilted = rotation_about(closing, lean) @ down
                rotations.append(np.stack([np.cross(closing, tilted), closing, tilted], axis=1))
                widths.append(width)
                above.append(above_middle(float(np.abs(matrix.T @ down) @ size)) + raised)
                sideways.append(shift)
        grasps, lift, shifted = np.array(rotations), np.array(above)[:, None], np.array(sideways)[:, None]
        places = place_rotation @ matrix.T @ grasps
        count = len(grasps)
        goals = []
        for position, rotation in ((centre, grasps), (place_position, places)):
            at = position - lift * rotation[:, :, 2] + shifted * rotation[:, :, 0]
            over = at - BACK_OFF_M * rotation[:, :, 2]
            over[:, 2] = np.maximum(over[:, 2], hover_m)
            goals += [at, over]
        every, reached = kinematics.solve(
            np.concatenate(goals), np.concatenate([grasps, grasps, places, places]), seed, iterations=30
        )
        joints, _, place_joints, _ = every.reshape(4, count, 7)
        usable = reached.reshape(4, count).all(axis=0)
        for margin in margins:
            openings = np.minimum(OPEN_M, np.array(widths) + 2 * margin)
            here = [i for i in np.flatnonzero(usable) if openings[i] >= widths[i] + 0.004]
            if not here:
                continue
            room = np.minimum(
                room_around(joints[here], openings[here], obstacles),
                room_around(place_joints[here], openings[here], obstacles),
            )
            for i, space in zip(here, room, strict=True):
                travel = float(np.abs(joints[i] - seed).sum() + np.abs(place_joints[i] - joints[i]).sum())
                upright = min(-grasps[i][2, 2], -places[i][2, 2])
                score = 200.0 * min(space, GOOD_M) + 20.0 * space + 100.0 * margin + 3.0 * upright - 0.05 * travel
                grasp = Grasp(goals[0][i], grasps[i], float(openings[i]), joints[i], place_joints[i], float(space))
                found.append((float(rounded(score)), grasp))
            found.sort(key=lambda item: -item[0])
            if found and found[0][1].room_m >= GOOD_M:
                yield from (grasp for _, grasp in found)
                found.clear()
    yield from (grasp for _, grasp in found)

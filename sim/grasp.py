"""Choosing how to take an object: along which axis to come, which faces to press, and with how much room."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim import kinematics
from sim.arm import OPEN_M
from sim.poses import PoseEstimates
from sim.rotations import about, matrix_of, upright_axis

Array = npt.NDArray[np.float64]

MARGINS_M = (0.009, 0.005)
"""Room between an open finger and the object on each side: the wide one first."""
LEANS = (0.0, math.radians(20.0), math.radians(-20.0))
"""Turns of the hand about the axis along which it closes, to pass beside something tall."""
STEEPEST = math.radians(55.0)
"""Objects that lean more than this are taken from straight above."""
SWEEP_M = 0.16
"""How far above the grasp the way of the hand is checked."""
ENOUGH_M = 0.010
"""More room than this is no better."""
TIP_M = 0.0075
"""From the tool centre point to the end of the fingers."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """One way to take an object.

    Attributes:
        position: of the tool, (3,), metres.
        rotation: of the tool, (3, 3).
        opening_m: distance between the fingers before they close, and after they open again.
        joints: (7,) joint angles there.
        place_joints: (7,) joint angles when the object is in its place.
        room_m: least distance to anything else, here and at the place (negative: something will be touched).
    """

    position: Array
    rotation: Array
    opening_m: float
    joints: Array
    place_joints: Array
    room_m: float


def separation(centre: Array, rotation: Array, half: Array, centres: Array, rotations: Array, halves: Array) -> Array:
    """Distance along the best separating axis between one box and M others, (M,); negative where they overlap.

    Args:
        centre: (3,) of the box.
        rotation: (3, 3) of the box.
        half: (3,) half sides of the box.
        centres: (M, 3) of the others.
        rotations: (M, 3, 3).
        halves: (M, 3).
    """
    offset = centres - centre
    own = np.broadcast_to(rotation.T, (len(centres), 3, 3))
    others = rotations.transpose(0, 2, 1)
    crossed = np.cross(own[:, :, None], others[:, None]).reshape(-1, 9, 3)
    length = np.linalg.norm(crossed, axis=-1, keepdims=True)
    axes = np.concatenate([own, others, crossed / np.maximum(length, 1e-9)], axis=1)
    reach = np.abs(axes @ rotation) @ half + (np.abs(axes @ rotations) @ halves[..., None])[..., 0]
    gap = np.abs((axes @ offset[..., None])[..., 0]) - reach
    gap[:, 6:][length[..., 0] < 1e-3] = -np.inf
    return np.asarray(gap.max(axis=1))


def _hand(opening_m: float) -> list[tuple[Array, Array]]:
    """Boxes of the open hand and the space it comes through, in the tool's frame: centres and half sides."""
    boxes = []
    for side in (-1.0, 1.0):
        for thickness, low in ((0.014, TIP_M), (0.026, -0.018)):
            depth = (low + SWEEP_M) / 2
            boxes.append(
                (
                    np.array([0.0, side * (opening_m + thickness) / 2, low - depth]),
                    np.array([0.0105, thickness / 2, depth]),
                )
            )
    depth = (SWEEP_M + 0.15 - 0.038) / 2
    boxes.append((np.array([0.0, 0.0, -0.038 - depth]), np.array([0.033, 0.104, depth])))
    return boxes


def _room(position: Array, rotation: Array, opening_m: float, obstacles: tuple[Array, Array, Array]) -> float:
    """Least distance of the hand, and of the way it comes, to any obstacle."""
    room = ENOUGH_M
    if len(obstacles[0]):
        for centre, half in _hand(opening_m):
            room = min(room, float(separation(position + rotation @ centre, rotation, half, *obstacles).min()))
    return room


def _directions(matrix: Array, size: Array) -> Iterator[tuple[Array, Array, float]]:
    """Approach direction, closing direction and the object's width along it: best first."""
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
                width = float(np.abs(matrix.T @ (level / length)) @ size)
                for turn in (1.0, -1.0):
                    yield np.array([0.0, 0.0, -1.0]), turn * level / length, width


def choose_grasp(
    estimates: PoseEstimates, name: str, place_position: Array, place_rotation: Array, seed: Array
) -> Grasp | None:
    """The most roomy way to take an object that also fits its place.

    Args:
        estimates: what the arm believes.
        name: the object to take.
        place_position: its centre when placed, (3,).
        place_rotation: its rotation when placed, (3, 3).
        seed: joint angles to start the search from, (7,).

    Returns:
        None if the arm cannot reach the object and its place with the same grasp.
    """
    row = estimates.index(name)
    matrix, size, centre = matrix_of(estimates.orientations[row]), estimates.sizes[row], estimates.positions[row]
    others = [i for i in range(len(estimates.names)) if i != row]
    obstacles = (
        estimates.positions[others],
        np.array([matrix_of(estimates.orientations[i]) for i in others]).reshape(-1, 3, 3),
        estimates.sizes[others] / 2,
    )
    rotations, widths = [], []
    for down, closing, width in _directions(matrix, size):
        for lean in LEANS:
            tilted = about(closing, lean) @ down
            rotations.append(np.stack([np.cross(closing, tilted), closing, tilted], axis=1))
            widths.append(width)
    grasps = np.array(rotations)
    to_place = place_rotation @ matrix.T
    places = to_place @ grasps
    count = len(grasps)
    joints, reached = kinematics.solve(np.tile(centre, (count, 1)), grasps, seed, iterations=30)
    place_joints, place_reached = kinematics.solve(np.tile(place_position, (count, 1)), places, seed, iterations=30)
    best, best_score = None, -math.inf
    for i in np.flatnonzero(reached & place_reached):
        for margin in MARGINS_M:
            opening = min(OPEN_M, widths[i] + 2 * margin)
            if opening < widths[i] + 0.004:
                continue
            room = min(
                _room(centre, grasps[i], opening, obstacles), _room(place_position, places[i], opening, obstacles)
            )
            travel = float(np.abs(joints[i] - seed).sum() + np.abs(place_joints[i] - joints[i]).sum())
            upright = min(-grasps[i][2, 2], -places[i][2, 2])
            score = 200.0 * min(room, 0.6 * ENOUGH_M) + 20.0 * room + 100.0 * margin + 3.0 * upright - 0.05 * travel
            if score > best_score:
                best_score = score
                best = Grasp(centre, grasps[i], opening, joints[i], place_joints[i], room)
            if room >= 0.6 * ENOUGH_M:
                break
    return best

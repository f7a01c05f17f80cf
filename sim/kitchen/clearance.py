"""Whether the arm keeps away from furniture and things: spheres along its links against boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.common import kinematics
from sim.common.arm import OPEN_M
from sim.kitchen.robot import BASE_HEIGHT_M, BasePose

Array = npt.NDArray[np.float64]

_UPPER_M, _WRIST_M = 0.075, 0.055
"""Radii around upper arm and wrist: a little less than the widest of each."""
_FOREARM = np.array(
    [[0.017, -0.24, 0.064], [0.026, -0.18, 0.062], [0.040, -0.12, 0.062], [0.053, -0.06, 0.062], [0.067, 0.0, 0.062],
     [0.070, 0.03, 0.056]]
)  # fmt: skip
"""Spheres of the forearm: y and z of their centres in the frame of its link, and radii; it is thick below the wrist."""
_HELD_M = 0.010
"""Around points of what is held."""
_SHARES = np.linspace(0.0, 1.0, 5)
_HAND = tuple(
    (back, across, radius)
    for back, sides, radius in ((0.075, (-0.075, 0.0, 0.075), 0.034), (0.11, (-0.075, 0.0, 0.075), 0.034),
                                (0.057, (-0.085, 0.085), 0.020))
    for across in sides
)  # fmt: skip
"""Spheres of the hand: how far behind the tool, to which side along the fingers' axis, and their radii, metres."""
FINGERS = np.array([[0.0, side * (OPEN_M / 2 + 0.008), -back] for side in (-1, 1) for back in (0.0, 0.025, 0.05)])
"""Points (6, 3) on open fingers, in the frame of the tool."""
_NEAR_M = 1.2
"""Obstacles farther from the base than this are out of reach."""


class Obstacles(NamedTuple):
    """Boxes that the arm must not touch.

    Attributes:
        centres: (M, 3) metres.
        rotations: (M, 3, 3).
        halves: (M, 3) half sides, metres.
    """

    centres: Array
    rotations: Array
    halves: Array


def arm_spheres(joints: Array, held: Array) -> tuple[Array, Array]:
    """Spheres along the arm, and of what it holds, in the frame of its base.

    Args:
        joints: (N, 7) angles.
        held: (Q, 3) points of what the hand holds, in the frame of the tool; Q may be 0.

    Returns:
        Centres (N, P, 3) and radii (P,), metres.
    """
    frames = kinematics.frames(joints)
    origins, tool = frames[:, :, :3, 3], frames[:, 7]
    flange = tool[:, :3, 3] - kinematics.FLANGE_TO_TCP_M * tool[:, :3, 2]
    points, radii = [], []
    for start, end, radius in (
        (origins[:, 0], origins[:, 2], _UPPER_M),
        (origins[:, 4], origins[:, 6], _WRIST_M),
        (origins[:, 6], flange + 0.107 * tool[:, :3, 2], _WRIST_M),
    ):
        points.append(start[:, None] + _SHARES[:, None] * (end - start)[:, None])
        radii += [radius] * len(_SHARES)
    forearm = np.column_stack([np.zeros(len(_FOREARM)), _FOREARM[:, :2]])
    points.append(origins[:, None, 4] + forearm @ frames[:, 4, :3, :3].transpose(0, 2, 1))
    radii += _FOREARM[:, 2].tolist()
    for back, across, radius in _HAND:
        points.append((tool[:, :3, 3] - back * tool[:, :3, 2] + across * tool[:, :3, 1])[:, None])
        radii.append(radius)
    points.append(tool[:, None, :3, 3] + held @ tool[:, :3, :3].transpose(0, 2, 1))
    radii += [_HELD_M] * len(held)
    return np.concatenate(points, axis=1), np.array(radii)


def points_clear(points: Array, obstacles: Obstacles, margin_m: float) -> bool:
    """Whether points (P, 3) in the world keep so far away from all obstacles."""
    inside = np.abs(np.einsum("pmi,mij->pmj", points[:, None] - obstacles.centres, obstacles.rotations))
    outside = np.maximum(inside - obstacles.halves, 0.0)
    return not ((outside * outside).sum(axis=2) < margin_m**2).any()


def clear(bases: Sequence[BasePose], joints: Array, obstacles: Obstacles, held: Array) -> npt.NDArray[np.bool_]:
    """Whether the arm touches nothing.

    Args:
        bases: B places of the base.
        joints: (B, K, 7) angles.
        obstacles: what it must not touch.
        held: (Q, 3) points of what the hand holds, in the frame of the tool.

    Returns:
        For each base, whether that holds for all K postures, (B,).
    """
    count, postures = joints.shape[:2]
    local, radii = arm_spheres(joints.reshape(-1, 7), held)
    local = local.reshape(count, -1, 3)
    radii = np.tile(radii, postures)
    result = np.ones(count, dtype=bool)
    for number, base in enumerate(bases):
        points = local[number] @ base.rotation().T + [base.x, base.y, BASE_HEIGHT_M]
        gaps = np.hypot(obstacles.centres[:, 0] - base.x, obstacles.centres[:, 1] - base.y)
        near = gaps - np.hypot(obstacles.halves[:, 0], obstacles.halves[:, 1]) < _NEAR_M
        offsets = points[:, None] - obstacles.centres[near]
        inside = np.abs(np.einsum("pmi,mij->pmj", offsets, obstacles.rotations[near]))
        outside = np.maximum(inside - obstacles.halves[near], 0.0)
        squares = (outside * outside).sum(axis=2)
        result[number] = not (squares < (radii * radii)[:, None]).any()
    return result

"""Slicing food with the held knife: the blade goes down between every two slices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sim.common.rotations import rotation_about
from sim.kitchen.fixtures import Fixture
from sim.kitchen.reach import Station, ToolPose
from sim.kitchen.skills.motion import SLOW_M_S, Motion, SkillFailure
from sim.kitchen.skills.whereabouts import front_of, where
from sim.kitchen.things import Form, can_be_sliced, slices_of

Array = npt.NDArray[np.float64]

_FLAT = ("countertop", "dining table", "tv stand", "sink")
"""On these a knife cuts."""
_OVER_M = 0.025
"""How far the edge is over the food between two cuts."""
_UNDER_M = 0.003
"""How near it comes to what the food lies on."""
_THROUGH_M = 0.012
"""A cut is done if it came nearer than this."""
_SAW_M = 0.015
"""How far the blade moves forwards and back while it cuts."""
_ROUND = 0.15
"""Food whose two horizontal axes differ by less than this share is cut in any direction."""
_ASKEW = tuple(math.radians(angle) for angle in (0, 12, -12, 24, -24, 36, -36))
"""Other food is cut across its longest axis, or askew by so much where the arm cannot come straight across."""


def slice_it(motion: Motion, name: str) -> None:
    """Cut food that lies on something flat into slices with the held knife.

    Raises:
        SkillFailure: the hand holds no knife, it cannot be cut there, or it cannot be reached.
    """
    cell = motion.cell
    knife = cell.robot.held
    if not knife or cell.things[knife].kind.form is not Form.KNIFE:
        raise SkillFailure("the hand holds no knife")
    if not can_be_sliced(cell.things[name].kind):
        raise SkillFailure(f"the {name} cannot be sliced")
    stands = where(motion, name)
    if stands is None or stands[0].kind not in _FLAT or name not in cell.standing_on(stands[0].name):
        raise SkillFailure(f"the {name} does not lie on something flat")
    front = front_of(motion, stands[0], cell.pose(name)[0])
    for along in _directions(motion, name):
        for sign in (1.0, -1.0):
            cuts = [list(cut) for cut in _cuts(motion, knife, name, along, sign)]
            # the first and the last cut are the extremes
            station = motion.station([*cuts[0], *cuts[-1]], front, {name})
            if station is not None:
                _cut(motion, station, knife, name, along, cuts, stands[0])
                return
    raise SkillFailure(f"the {name} cannot be cut from anywhere")


def _directions(motion: Motion, name: str) -> Iterator[Array]:
    """Horizontal unit vectors (3,) along which the slices can lie."""
    kind = motion.cell.things[name].kind
    _, rotation = motion.cell.pose(name)
    longest = rotation[:, 1] if abs(rotation[2, 1]) < 0.8 else rotation[:, 0]
    flat = np.array([longest[0], longest[1], 0.0])
    flat /= np.linalg.norm(flat)
    x, y, _ = kind.halves
    round_turns = tuple(number * math.pi / 12 for number in (0, 3, 6, 9, 1, 2, 4, 5, 7, 8, 10, 11))
    for turn in round_turns if abs(x - y) < _ROUND * y else _ASKEW:
        yield rotation_about((0.0, 0.0, 1.0), turn) @ flat


def _cuts(motion: Motion, knife: str, name: str, along: Array, sign: float) -> Iterator[Iterator[ToolPose]]:
    """Tool poses of every cut: over the food, down and forwards, and back."""
    cell = motion.cell
    centre, _ = cell.pose(name)
    position, rotation = cell.pose(knife)
    tool, attitude = cell.robot.tool()
    kind, food = cell.things[knife].kind, cell.things[name].kind
    up = np.array([0.0, 0.0, 1.0])
    forwards = sign * np.cross(up, along)
    wanted = np.column_stack([np.cross(forwards, up), forwards, up])
    turn = wanted @ rotation.T
    grip = 0.42 * kind.size[1]
    low = float(centre[2]) - food.height_m / 2 + _UNDER_M + kind.height_m / 2
    high = float(centre[2]) + food.height_m / 2 + _OVER_M + kind.height_m / 2
    pieces = slices_of(food)
    for (first, before), (second, after) in itertools.pairwise(pieces):
        between = (before + first.size[1] / 2 + after - second.size[1] / 2) / 2
        middle = centre + between * along - grip / 2 * forwards
        yield (
            ToolPose(np.array([x, y, height]) + turn @ (tool - position), turn @ attitude)
            for saw, height in ((-_SAW_M, high), (_SAW_M, low), (-_SAW_M, low), (-_SAW_M, high))
            for x, y in [(middle + saw * forwards)[:2]]
        )


def _cut(
    motion: Motion,
    station: Station,
    knife: str,
    name: str,
    along: Array,
    cuts: list[list[ToolPose]],
    on: Fixture,
) -> None:
    cell = motion.cell
    done = 0
    motion.begin(station)
    cell.let_pass(knife, name, True)
    cell.cutting = name
    try:
        for poses in cuts:
            motion.follow(poses[:2], SLOW_M_S * 1.5)
            motion.follow(poses[2:3], SLOW_M_S)
            edge = cell.pose(knife)[0][2] - cell.things[knife].kind.height_m / 2
            bottom = cell.pose(name)[0][2] - cell.things[name].kind.height_m / 2
            done += int(cell.robot.held == knife and edge - bottom < _THROUGH_M)
            motion.follow(poses[3:], SLOW_M_S * 1.5)
    finally:
        cell.cutting = ""
        cell.let_pass(knife, name, False)
    if done == len(cuts):
        cell.cut(name, along)
    motion.stow()
    if done < len(cuts):
        raise SkillFailure(f"the blade did not get through the {name} on the {on.name}")

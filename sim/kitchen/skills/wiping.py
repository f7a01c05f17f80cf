"""Wiping the inside of flat vessels with the held sponge."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pybullet

from sim.kitchen.reach import ToolPose
from sim.kitchen.skills.motion import SLOW_M_S, Motion, OutOfReach, SkillFailure
from sim.kitchen.skills.spots import tool_for
from sim.kitchen.skills.whereabouts import front_at
from sim.kitchen.things import Form

Array = npt.NDArray[np.float64]

_DEEPEST_M = 0.065
"""The hand does not fit into what is deeper."""
_PRESS_M = 0.004
"""How far below the floor of the vessel the motion aims: the arm's stiffness turns it into force."""
_DEEPER_M = 0.0015
"""How much farther down the next stroke goes if the sponge did not press: it yields in the fingers."""
_RUBBED_M = 0.06
"""So far the sponge must move under pressure before stains are gone; chosen."""
_TURNS = tuple(math.radians(angle) for angle in (0, 30, -30, 60, -60, 90, -90))


def wipe(motion: Motion, name: str) -> None:
    """Wipe stains off a plate, a bowl or a pan with the held sponge.

    Raises:
        SkillFailure: the hand holds no sponge, or it cannot be wiped there.
    """
    cell = motion.cell
    sponge = cell.robot.held
    if not sponge or cell.things[sponge].kind.name != "sponge":
        raise SkillFailure("the hand holds no sponge")
    kind = cell.things[name].kind
    if kind.form is not Form.VESSEL or kind.height_m > _DEEPEST_M:
        raise SkillFailure(f"the {name} cannot be wiped with a sponge; it can be washed")
    if cell.contents(name):
        raise SkillFailure(f"something is in the {name}")
    position, rotation = cell.pose(name)
    if rotation[2, 2] < 0.95:
        raise SkillFailure(f"the {name} does not stand upright")
    front = front_at(motion, name)
    floor = position + np.array([0.0, 0.0, kind.wall_m - kind.height_m / 2])
    reach = max(0.012, kind.size[0] - kind.wall_m - 0.062)
    for turn in _TURNS:
        middle = tool_for(motion, sponge, floor - np.array([0.0, 0.0, _PRESS_M]), front + turn)
        rubbing = [middle.moved([reach * x, reach * y, 0.0]) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)) * 2]
        above = middle.moved([0.0, 0.0, 0.12])
        station = motion.station([above, middle, *rubbing[:4], above], front, {name})
        if station is None or not motion.hand_free(middle, {name, sponge}):
            continue
        motion.begin(station)
        motion.grip(True)
        motion.follow([middle], SLOW_M_S)
        rubbed = _rub(motion, sponge, name, rubbing)
        motion.follow([above], SLOW_M_S)
        motion.grip(False)
        motion.stow()
        if cell.robot.held != sponge:
            raise SkillFailure(f"the {sponge} was lost out of the gripper")
        if rubbed < _RUBBED_M:
            raise SkillFailure(f"the {sponge} barely touched the {name}")
        cell.change(name, dirty=False)
        cell.note(f"the {name} was wiped")
        return
    raise OutOfReach(f"the {name} cannot be wiped from anywhere")


def _rub(motion: Motion, sponge: str, name: str, poses: list[ToolPose]) -> float:
    """Move through poses; how far the sponge moved while it pressed on the thing, metres."""
    cell = motion.cell
    rubbed, last = 0.0, cell.pose(sponge)[0]

    def feel() -> None:
        nonlocal rubbed, last
        now = cell.pose(sponge)[0]
        points = pybullet.getContactPoints(cell.body(sponge), cell.body(name), physicsClientId=cell.client)
        if sum(point[9] for point in points) > 0.5:
            rubbed += math.dist(now, last)
        last = now

    with cell.watched(feel):
        deeper = 0.0
        for pose in poses:
            before = rubbed
            motion.follow([pose.moved([0.0, 0.0, -deeper])], SLOW_M_S)
            if rubbed == before:
                deeper += _DEEPER_M
    return rubbed

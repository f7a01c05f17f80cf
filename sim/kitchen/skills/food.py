"""Cracking eggs: the held egg is knocked on something hard."""

from __future__ import annotations

import math

import numpy as np
import pybullet

from sim.kitchen.reach import ToolPose
from sim.kitchen.skills.motion import SLOW_M_S, Motion, SkillFailure
from sim.kitchen.skills.spots import spots, tool_for
from sim.kitchen.skills.whereabouts import front_of

_CRACKS_N = 30.0
"""Shells of hens' eggs are reported to break at 30 to 40 N between plates."""
_KNOCK_M_S = 0.35
_OVERSHOOT_M = 0.008
"""How far below the surface the motion aims: the arm's stiffness turns it into force."""
_TURNS = tuple(math.radians(angle) for angle in (0, 30, -30, 60, -60))


def crack(motion: Motion, name: str) -> None:
    """Knock the held egg on the nearest worktop or table.

    Raises:
        SkillFailure: it is not held, cannot crack, or nothing hard is within reach.
    """
    cell = motion.cell
    if cell.robot.held != name:
        raise SkillFailure(f"the hand does not hold the {name}")
    if cell.things[name].kind.name != "egg":
        raise SkillFailure(f"the {name} cannot be cracked")
    base = cell.robot.base
    hard = sorted(
        (one for one in cell.fixtures.values() if one.kind in ("countertop", "dining table")),
        key=lambda one: math.dist(one.to_world(one.places[0].centre)[:2], (base.x, base.y)),
    )
    for fixture in hard:
        front = front_of(motion, fixture, np.zeros(3))
        for spot, _ in spots(motion, name, fixture.name):
            for turn in _TURNS:
                goal = tool_for(motion, name, spot, front + turn)
                poses = [goal.moved([0.0, 0.0, 0.10]), goal, goal.moved([0.0, 0.0, 0.10])]
                station = motion.station(poses, front)
                if station is None:
                    continue
                motion.begin(station)
                if not _knocked(motion, name, fixture.name, goal):
                    raise SkillFailure(f"the {name} did not crack")
                return
    raise SkillFailure("there is no free place on a worktop within reach")


def _knocked(motion: Motion, name: str, surface: str, goal: ToolPose) -> bool:
    """Knock and come back; whether the shell has cracked."""
    cell = motion.cell
    strongest = 0.0

    def feel() -> None:
        nonlocal strongest
        points = pybullet.getContactPoints(cell.body(name), cell.body(surface), physicsClientId=cell.client)
        strongest = max(strongest, sum(point[9] for point in points))

    with cell.watched(feel):
        motion.follow([goal.moved([0.0, 0.0, -_OVERSHOOT_M])], _KNOCK_M_S)
    if cell.robot.held == name and strongest > _CRACKS_N:
        cell.change(name, cracked=True)
        cell.note(f"the {name} cracked at {strongest:.0f} N")
    motion.follow([goal.moved([0.0, 0.0, 0.10])], SLOW_M_S)
    motion.stow()
    return cell.states[name].cracked

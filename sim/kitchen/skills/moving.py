"""Driving to a thing or a fixture."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from sim.kitchen.robot import BasePose
from sim.kitchen.skills.motion import Motion, SkillFailure
from sim.kitchen.skills.whereabouts import front_of, looked_at

_DISTANCES_M = (0.60, 0.70, 0.80, 0.95, 1.10)
"""From the base to what it drives to."""
_SIDES = tuple(math.radians(angle) for angle in (0, 25, -25, 50, -50, 75, -75))


_ELSEWHERE_RAD = math.radians(35.0)
"""Least turn around what is looked at that shows another side of it."""


def move_to(motion: Motion, name: str) -> None:
    """Drive in front of a thing or a fixture, facing it.

    Raises:
        SkillFailure: there is no free place in front of it, or no way there.
    """
    base = next(_stands(motion, name), None)
    if base is None:
        raise SkillFailure(f"there is no free place in front of the {name}")
    motion.drive(base)


def look_at(motion: Motion, name: str) -> None:
    """Drive in front of a thing or a fixture; if the robot stands there already, to another side of it.

    A handle or a vessel may hide from one side what the other shows.

    Raises:
        SkillFailure: there is no free place in front of it, or no way there.
    """
    now = motion.cell.robot.base
    for number, base in enumerate(_stands(motion, name)):
        turned = abs(math.remainder(base.yaw - now.yaw, 2 * math.pi)) > _ELSEWHERE_RAD
        if turned or (not number and math.hypot(base.x - now.x, base.y - now.y) > _DISTANCES_M[0] / 2):
            motion.drive(base)
            return
    move_to(motion, name)


def _stands(motion: Motion, name: str) -> Iterator[BasePose]:
    """Free places in front of a thing or a fixture that the robot can drive to, the best first."""
    cell = motion.cell
    point, fixture = looked_at(motion, name)
    if fixture is not None and fixture.name == name and fixture.kind == "television":
        # it is watched from a little farther away
        point = fixture.to_world([0.25, 0.0, 0.0])
    front = front_of(motion, fixture, point)
    plan = cell.floor_plan()
    for distance in _DISTANCES_M:
        for side in _SIDES:
            away = front + side
            base = BasePose(
                float(point[0]) - distance * math.cos(away), float(point[1]) - distance * math.sin(away), away
            )
            if not plan.free(np.array([[base.x, base.y]]))[0] or plan.path(cell.robot.base, base) is None:
                continue
            if not cell.robot.held or motion.carries_freely(base):
                yield base

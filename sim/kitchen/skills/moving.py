"""Driving to a thing or a fixture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.kitchen.robot import BasePose
from sim.kitchen.skills.motion import Motion, SkillFailure
from sim.kitchen.skills.whereabouts import front_of, looked_at

_DISTANCES_M = (0.60, 0.70, 0.80, 0.95, 1.10)
"""From the base to what it drives to."""
_SIDES = tuple(math.radians(angle) for angle in (0, 25, -25, 50, -50, 75, -75))
_FACES_RAD = math.radians(15.0)
"""The robot looks at what it faces up to this angle."""


def move_to(motion: Motion, name: str) -> None:
    """Drive in front of a thing or a fixture, facing it.

    Raises:
        SkillFailure: there is no free place in front of it, or no way there.
    """
    _drive(motion, name)


def look_at(motion: Motion, name: str) -> None:
    """Drive in front of a thing or a fixture; if the robot has looked at it before, where it has not looked from yet.

    A handle or a vessel may hide from one side what another shows, and what is misread from one place is misread again.

    Raises:
        SkillFailure: there is no free place in front of it, or no way there.
    """
    now, (point, _) = motion.cell.robot.base, _point_and_front(motion, name)
    away = np.asarray(point[:2]) - (now.x, now.y)
    seen = motion.cell.looked_from.setdefault(name, [])
    faces = abs(math.remainder(math.atan2(away[1], away[0]) - now.yaw, 2 * math.pi)) < _FACES_RAD
    if faces and np.linalg.norm(away) < _DISTANCES_M[-1] + 0.1:
        seen.append(now)
    _drive(motion, name, seen)
    seen.append(motion.cell.robot.base)


def _drive(motion: Motion, name: str, seen: Sequence[BasePose] = ()) -> None:
    """Drive to the best free place in front of something, or to the one farthest from where it was seen from."""
    base = next(stands(motion, name, seen), None)
    if base is None:
        raise SkillFailure(f"there is no free place in front of the {name}")
    motion.drive(base)


def _point_and_front(motion: Motion, name: str) -> tuple[npt.NDArray[np.float64], float]:
    """What is looked at of a thing or a fixture, (3,) metres, and the heading of a robot in front of it, radians."""
    point, fixture = looked_at(motion, name)
    if fixture is not None and fixture.name == name and fixture.kind == "television":
        # it is watched from a little farther away
        point = fixture.to_world([0.25, 0.0, 0.0])
    return point, front_of(motion, fixture, point)


def stands(motion: Motion, name: str, seen: Sequence[BasePose] = ()) -> Iterator[BasePose]:
    """Free places in front of a thing or a fixture that the robot can drive to, the farthest from some places first."""
    cell = motion.cell
    point, front = _point_and_front(motion, name)
    plan, found = cell.floor_plan(), list[BasePose]()
    for distance in _DISTANCES_M:
        for away in (front + side for side in _SIDES):
            x, y = (float(point[i]) - distance * turn(away) for i, turn in enumerate((math.cos, math.sin)))
            found.append(BasePose(x, y, away))
    if seen:
        found.sort(key=lambda base: -min(math.hypot(base.x - one.x, base.y - one.y) for one in seen))
    for base in found:
        if not plan.free(np.array([[base.x, base.y]]))[0] or plan.path(cell.robot.base, base) is None:
            continue
        if not cell.robot.held or motion.carries_freely(base):
            yield base

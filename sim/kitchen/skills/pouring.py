"""Pouring from the held vessel: it is tilted over its target until it is empty."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sim.common.rotations import leveled, rotation_about
from sim.kitchen.reach import Station, ToolPose
from sim.kitchen.skills.carrying import with_some_grasp
from sim.kitchen.skills.motion import SLOW_M_S, Motion, SkillFailure
from sim.kitchen.skills.whereabouts import front_at
from sim.kitchen.things import Form

Array = npt.NDArray[np.float64]

_TILTS = tuple(math.radians(angle) for angle in (0, 25, 50, 74, 97))
_OVER = ((0.0, 0.03), (0.5, 0.05), (0.0, 0.09), (0.5, 0.10), (0.0, 0.15))
"""Where the lip is: how far from the middle of the opening, as a share of its radius, and how high over it, metres."""
_LONGEST_S = 6.0
_WAYS = tuple(math.radians(angle) for angle in (90, -90, 60, -60, 120, -120, 30, -30, 0, 180))
"""Directions in which the vessel is tilted, relative to where the robot looks: first to the sides."""


def pour(motion: Motion, name: str, target: str) -> None:
    """Pour what is in the held vessel into another vessel, on a plant or into the sink.

    Raises:
        SkillFailure: it is not held, or the arm cannot tilt it there.
    """
    cell = motion.cell
    if cell.robot.held != name:
        raise SkillFailure(f"the hand does not hold the {name}")
    kind = cell.things[name].kind
    if kind.form not in (Form.VESSEL, Form.BOTTLE):
        raise SkillFailure(f"the {name} holds no liquid")
    way = with_some_grasp(motion, name, target, _way_to_pour)
    if way is None:
        raise SkillFailure(f"the {name} cannot be tilted over the {target} from anywhere")
    poses, station = way
    motion.begin(station)
    there = motion.follow(poses[1:], SLOW_M_S)
    waited = 0.0
    while cell.robot.held == name and cell.states[name].volume_l > 0.0 and waited < _LONGEST_S:
        motion.wait(0.2)
        waited += 0.2
    motion.retrace(there, 1.5)
    motion.stow()
    if cell.robot.held != name:
        raise SkillFailure(f"the {name} was torn out of the gripper")


def _way_to_pour(motion: Motion, name: str, target: str) -> tuple[list[ToolPose], Station] | None:
    """Tool poses that tilt the held vessel over its target, and the station; None if there are none."""
    cell = motion.cell
    mouth, front = _mouth(motion, name, target)
    wide = cell.things[target].kind.size[0] if target in cell.things else 0.0
    for (inwards, over), way in itertools.product(_OVER, _WAYS):
        # the vessel stays over the nearer part of a wide opening, so that hand and arm keep away from its rim
        back = inwards * wide * np.array([math.cos(front + way), math.sin(front + way), 0.0])
        poses = list(_tilting(motion, name, mouth - back, front + way, over))
        station = motion.station(poses, front)
        if station is not None:
            return poses, station
    return None


def _mouth(motion: Motion, name: str, target: str) -> tuple[Array, float]:
    """Where the liquid is to fall, (3,), and the direction in which a robot in front of it looks."""
    cell = motion.cell
    if target in cell.things:
        if target == name:
            raise SkillFailure(f"the {name} cannot be poured into itself")
        outer = cell.things[target].kind
        position, rotation = cell.pose(target)
        return position + rotation[:, 2] * outer.height_m / 2, front_at(motion, target)
    fixture = cell.fixtures[target]
    if not fixture.places:
        raise SkillFailure(f"nothing can be poured into the {target}")
    point = fixture.to_world(fixture.places[0].centre)
    # a little over the floor of a basin, so that the vessel stays above its edge
    rise = 0.10 if fixture.kind == "sink" else 0.02
    return point + np.array([0.0, 0.0, rise]), front_at(motion, target)


def _tilting(motion: Motion, name: str, mouth: Array, towards: float, over_m: float) -> Iterator[ToolPose]:
    """Poses of the tool while the held vessel is tilted towards a direction, its lip over the mouth."""
    cell = motion.cell
    kind = cell.things[name].kind
    position, rotation = cell.pose(name)
    tool, attitude = cell.robot.tool()
    base = cell.robot.base
    # as if the vessel were turned with the robot to look at its target
    now = math.atan2(attitude[1, 2], attitude[0, 2]) if math.hypot(attitude[0, 2], attitude[1, 2]) > 0.1 else base.yaw
    front = math.atan2(mouth[1] - base.y, mouth[0] - base.x)
    turn = rotation_about((0.0, 0.0, 1.0), front - now) @ leveled(rotation, 2) @ rotation.T
    offset, attitude = turn @ (tool - position), turn @ attitude
    out = np.array([math.cos(towards), math.sin(towards), 0.0])
    axis = np.cross([0.0, 0.0, 1.0], out)
    lip = kind.size[0] * out + np.array([0.0, 0.0, kind.height_m / 2])
    for tilt in _TILTS:
        tilted = rotation_about(axis, tilt)
        point = mouth + np.array([0.0, 0.0, over_m + kind.height_m * max(0.0, math.cos(tilt))])
        centre = point - tilted @ lip
        yield ToolPose(centre + tilted @ offset, tilted @ attitude)

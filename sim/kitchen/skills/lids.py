"""Opening and closing the lid of a laptop by its bar, and pressing its button."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.common.rotations import rotation_about
from sim.kitchen.assemblies import LID, POWER, assembly_of
from sim.kitchen.reach import ToolPose, tool_rotation
from sim.kitchen.skills.motion import SLOW_M_S, Motion, SkillFailure
from sim.kitchen.skills.pressing import press_button
from sim.kitchen.skills.whereabouts import front_at

Array = npt.NDArray[np.float64]

_ARC_POINTS = 7
_BACK_M = 0.08
_GRIP_M = 0.030
_GENTLE_N = 8.0
"""Force of each finger on the bar: it turns between them, and a laptop is light."""
_TIP_M = 0.0075
"""From the tool centre point to the end of the fingers."""
_PITCHES = (0.0, math.radians(20.0), math.radians(35.0))


def move_lid(motion: Motion, name: str, opened: bool) -> None:
    """Open or close a lid.

    Raises:
        SkillFailure: it cannot be reached or moved.
    """
    cell = motion.cell
    motion.check_hand_free()
    start = cell.joint(name, LID.joint)
    goal = LID.travel if opened else 0.0
    if abs(start - goal) < 0.1:
        return
    front = front_at(motion, name)
    for azimuth, pitch in _hands(motion, name, front):
        poses = [
            ToolPose(point, tool_rotation(azimuth, pitch))
            for point in (_bar(motion, name, angle) for angle in np.linspace(start, goal, _ARC_POINTS))
        ]
        before, after = poses[0].backed(_BACK_M), poses[-1].backed(_BACK_M)
        station = motion.station([before, *poses, after], front, {name})
        if station is None:
            continue
        motion.shape_fingers(_GRIP_M)
        motion.begin(station)
        motion.follow(poses[:1], SLOW_M_S)
        motion.grip(True, _GENTLE_N)
        motion.close_fingers()
        motion.follow(poses[1:], SLOW_M_S * 1.5)
        motion.grip(False)
        motion.open_fingers(_GRIP_M)
        motion.follow([after], SLOW_M_S)
        motion.stow()
        break
    else:
        raise SkillFailure(f"the lid of the {name} is out of reach")
    if (cell.joint(name, LID.joint) > LID.on_at) != opened:
        raise SkillFailure(f"the {name} did not {'open' if opened else 'close'}")


def press_power(motion: Motion, name: str) -> None:
    """Press the button of a laptop from above.

    Raises:
        SkillFailure: it cannot be reached.
    """
    cell = motion.cell
    point, _ = cell.link_point(name, POWER.joint, POWER.grip)
    press_down(motion, point, POWER.travel, front_at(motion, name), {name}, name)


def press_down(motion: Motion, point: Array, travel_m: float, front: float, ignored: set[str], name: str) -> None:
    """Press something downwards with closed fingers.

    Args:
        motion: of the robot.
        point: (3,) where the fingertips touch it.
        travel_m: how far it goes down.
        front: direction in which a robot in front of it looks, radians.
        ignored: names of what the arm may touch.
        name: of what is pressed, for messages.

    Raises:
        SkillFailure: it cannot be reached.
    """
    up = np.array([0.0, 0.0, 1.0])
    for pitch in _PITCHES:
        for turn in (0.0, math.pi / 2, -math.pi / 2, math.pi / 4, -math.pi / 4):
            rotation = tool_rotation(front, pitch) @ rotation_about((0.0, 0.0, 1.0), turn)
            touch = ToolPose(point - _TIP_M * rotation[:, 2] + 0.006 * up, rotation)
            before, press = touch.moved(0.06 * up), touch.moved(-(0.006 + travel_m + 0.003) * up)
            if not all(motion.hand_free(pose, ignored) for pose in (touch, press)):
                continue
            station = motion.station([before, touch, press, before], front, ignored)
            if station is None:
                continue
            press_button(motion, station, before, touch, press)
            return
    raise SkillFailure(f"the button of the {name} is out of reach")


def _bar(motion: Motion, name: str, angle: float) -> Array:
    """World position (3,) of the bar on the lid when the lid has an angle."""
    position, rotation = motion.cell.pose(name)
    spec = motion.cell.things[name]
    lid = assembly_of(spec.kind, spec.colour).joints[LID.joint]
    turn = rotation_about(lid.axis, angle)
    return np.asarray(position + rotation @ (np.asarray(lid.at) + turn @ np.asarray(LID.grip)))


def _hands(motion: Motion, name: str, front: float) -> Iterator[tuple[float, float]]:
    """Azimuth and pitch of hands that close across the bar, those near the front first."""
    _, rotation = motion.cell.pose(name)
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    turns: Sequence[float] = (yaw + math.pi / 2, yaw - math.pi / 2)
    for azimuth in sorted(turns, key=lambda turn: abs(math.remainder(turn - front, 2 * math.pi))):
        for pitch in _PITCHES:
            yield azimuth, pitch

"""Pressing a button with closed fingers."""

from __future__ import annotations

from sim.kitchen.reach import Station, ToolPose
from sim.kitchen.skills.motion import SLOW_M_S, Motion


def press_button(motion: Motion, station: Station, before: ToolPose, touch: ToolPose, press: ToolPose) -> None:
    """Drive to a station, touch a button, press it, come back, and stow the arm.

    Raises:
        SkillFailure: there is no path.
    """
    motion.shape_fingers(0.0)
    motion.begin(station)
    motion.follow([touch], SLOW_M_S * 1.5)
    motion.follow([press], SLOW_M_S * 0.5)
    motion.wait(0.1)
    motion.follow([before], SLOW_M_S)
    motion.wait(0.1)
    motion.stow()

"""The cameras on the robot's mast, which move with its base, and views of a kitchen for people."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sim.common.cameras import CameraRig, Vector, View
from sim.kitchen.robot import BasePose

AHEAD = View("ahead", (-0.12, 0.36, 1.95), (0.68, 0.06, 0.84), math.radians(56.0))
"""Shows what is in front of the robot, 52 degrees downwards."""
STEEP = View("steep", (0.30, 0.30, 1.85), (0.66, 0.04, 0.84), math.radians(54.0))
"""Looks into vessels in front of the robot, 66 degrees downwards; below 45 degrees a low level is hidden."""
MAST_RIG = CameraRig((AHEAD, STEEP))
"""Both cameras, 320x240; their poses are in the frame of the base on the floor."""
OVERVIEW = View("overview", (-2.3, -2.2, 2.9), (0.45, 0.1, 0.65), math.radians(58.0))
"""The whole kitchen, for people; in the world."""
OVERVIEW_FAR_M = 9.0
SHOULDER = View("shoulder", (-1.25, -1.05, 2.25), (0.55, 0.10, 0.78), math.radians(46.0))
"""Over the right shoulder of the robot, for people; in the frame of the base."""


def on_base(view: View, base: BasePose) -> View:
    """A view that is given in the frame of the base, in the world."""
    return replace(view, eye=_moved(view.eye, base), target=_moved(view.target, base))


def _moved(point: Vector, base: BasePose) -> Vector:
    x, y, z = base.rotation() @ np.asarray(point)
    return (float(x) + base.x, float(y) + base.y, float(z))

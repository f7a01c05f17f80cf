"""Where a hand can hold a thing: tool poses around its sides, at its rim or at its handle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.common.arm import OPEN_M
from sim.common.rotations import rotation_about
from sim.kitchen.reach import ToolPose, tool_rotation
from sim.kitchen.things import Form, GraspKind, ThingKind, half_extent

Array = npt.NDArray[np.float64]

_STEEP, _HALF_RIGHT, _FLAT = math.radians(30.0), math.radians(45.0), math.radians(60.0)
"""Pitch of the hand; the flatter it is, the lower is the wrist, which must stay above the worktop."""
MAX_TURN = math.radians(100.0)
"""Farthest that a hand comes from the side instead of from the robot."""
_RIM_DEPTH_M = 0.012
"""How far the point between the fingertips is below the rim."""
_PALM_M = 0.006
"""How far the fingertips stay before the axis of a vessel, so that the palm does not touch its rim."""
_WIDEST_M = 0.073
"""Widest side that fits between the fingers."""
_HIGH_M, _LOWEST_M = 0.014, 0.012
"""What is held across is held so far over its centre, but not nearer to its top."""
_LEVEL = 0.7
"""Axes whose vertical part is less than 1 minus this count as horizontal."""
_BAR_M = 0.007
"""From the end of a laptop's handle to the middle of its bar."""
_LEANING, _UPRIGHT = math.radians(14.0), math.radians(6.0)
"""Pitch of a hand at the near edge of a flat dish."""
_DEEP_M = 0.04
_BESIDE = math.radians(70.0)
"""How far the direction of a hand at a near edge may be from where it points ideally."""
_ASTRIDE = math.radians(35.0)
"""The same at the handle of a mug: farther to the side a finger would push the mug away."""
_RIM_OPENING_M, _EAR_OPENING_M = 0.03, 0.04
_EAR_M = 0.004
"""From the outer end of a mug's handle to the middle of its bar."""
_HANDLE_FREE = math.radians(42.0)
"""Fingers and palm keep this far from the direction in which a handle points."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """A way to hold a thing.

    Attributes:
        tool: pose of the tool when the fingers close.
        azimuth: horizontal direction in which the tool points, radians.
        opening_m: distance between the fingers on the way to it.
    """

    tool: ToolPose
    azimuth: float
    opening_m: float = OPEN_M


def grasps(kind: ThingKind, position: Array, rotation: Array, front: float) -> list[Grasp]:
    """Ways to hold an upright thing, best first.

    Args:
        kind: of the thing.
        position: of its centre, (3,), metres.
        rotation: of its frame, (3, 3).
        front: direction in which a robot in front of it looks, radians.
    """
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    if kind.grasp is GraspKind.SIDE:
        found = list(_sides(kind, position, yaw, front))
        if kind.form is Form.VESSEL:
            found += _ears(kind, position, yaw, front)
            found += _rims(kind, position, yaw, front)
    elif kind.grasp is GraspKind.RIM:
        # what is carried into low rooms is held at the edge that stays outside
        found = list(_near_rims(kind, position, yaw, front)) if not kind.handle_m else []
        found += _rims(kind, position, yaw, front)
    elif kind.grasp is GraspKind.ACROSS:
        found = list(_across(kind, position, rotation, front))
    else:
        found = list(_handles(kind, position, yaw, front))
    return found


def _sides(kind: ThingKind, position: Array, yaw: float, front: float) -> Iterator[Grasp]:
    """The whole width between the fingers."""
    if kind.form in (Form.VESSEL, Form.BOTTLE):
        turns = _spread(yaw, 8 if kind.form is Form.VESSEL else 16, front)
        pitches = (_FLAT, _HALF_RIGHT)
        height = kind.height_m * (0.78 if kind.form is Form.VESSEL else 0.36)
        # the palm must not touch the nearer rim
        point = position + np.array([0.0, 0.0, height - kind.height_m / 2])
    elif kind.form is Form.LOAF:
        # the palm must not touch its top, so the hand is nearly upright and holds it high
        turns, pitches = _spread(yaw + math.pi / 2, 2, front), (math.radians(10.0), 0.0)
        point = position + np.array([0.0, 0.0, 0.008])
    elif kind.size[1] > 0.038:
        turns, pitches = _spread(yaw + math.pi / 2, 2, front), (_HALF_RIGHT, _STEEP)
        point = position
    else:
        turns, pitches, point = _spread(front, 16, front), (_HALF_RIGHT, _STEEP), position
    vessel = kind.form is Form.VESSEL
    ways = [(azimuth, pitch) for azimuth in turns for pitch in pitches]
    # a flat hand also fits under what a vessel is to be put below
    for azimuth, pitch in sorted(ways, key=lambda way: -way[1]) if vessel else ways:
        if not kind.handle_m or _avoids(azimuth, yaw):
            tool = ToolPose(np.asarray(point, float), tool_rotation(azimuth, pitch))
            yield Grasp(tool.backed(_PALM_M) if vessel else tool, azimuth)


def _rims(kind: ThingKind, position: Array, yaw: float, front: float) -> Iterator[Grasp]:
    """One wall between the fingers, on the left or right of the hand."""
    radius = kind.size[0] - kind.wall_m / 2
    depth = min(_RIM_DEPTH_M, 0.25 * kind.height_m)
    up = kind.height_m / 2 - depth
    # the inner finger must not meet the opposite wall
    opening = min(0.06, kind.size[0])
    for azimuth in _spread(yaw, 8, front):
        for side in (1, -1):
            around = azimuth + side * math.pi / 2
            if kind.handle_m and kind.name != "pot" and _apart(around, yaw) < _HANDLE_FREE:
                continue
            if kind.name == "pan" and _apart(azimuth + math.pi, yaw) < _HANDLE_FREE:
                continue
            point = position + np.array([radius * math.cos(around), radius * math.sin(around), up])
            for pitch in (_HALF_RIGHT, _STEEP) if kind.grasp is GraspKind.SIDE else (_STEEP, _HALF_RIGHT):
                yield Grasp(ToolPose(point, tool_rotation(azimuth, pitch)), azimuth, opening)


def _near_rims(kind: ThingKind, position: Array, yaw: float, front: float) -> Iterator[Grasp]:
    """The wall of a flat vessel that is nearest to the robot; the hand leans back."""
    radius = kind.size[0] - kind.wall_m / 2
    depth = min(_RIM_DEPTH_M, 0.25 * kind.height_m)
    for azimuth in _spread(yaw, 8, front):
        if _apart(azimuth, front) > _BESIDE:
            continue
        out = -np.array([math.cos(azimuth), math.sin(azimuth), 0.0])
        point = position + radius * out + np.array([0.0, 0.0, kind.height_m / 2 - depth])
        # the lower finger needs room over the worktop
        for pitch in (_HALF_RIGHT, _STEEP, _LEANING) if kind.height_m > _DEEP_M else (_LEANING, _UPRIGHT):
            for roll in (math.pi / 2, -math.pi / 2):
                rotation = tool_rotation(azimuth, pitch) @ rotation_about((0.0, 0.0, 1.0), roll)
                yield Grasp(ToolPose(point, rotation), azimuth, _RIM_OPENING_M)


def _ears(kind: ThingKind, position: Array, yaw: float, front: float) -> Iterator[Grasp]:
    """The upright bar of a mug's handle, when it points to the robot."""
    if not kind.handle_m:
        return
    out = kind.size[0] + kind.handle_m - _EAR_M
    point = position + out * np.array([math.cos(yaw), math.sin(yaw), 0.0])
    for pitch in (_FLAT, _HALF_RIGHT):
        for azimuth in _spread(yaw + math.pi, 16, front):
            if _apart(azimuth, yaw + math.pi) < _ASTRIDE:
                yield Grasp(ToolPose(point, tool_rotation(azimuth, pitch)), azimuth, _EAR_OPENING_M)


def _handles(kind: ThingKind, position: Array, yaw: float, front: float) -> Iterator[Grasp]:
    """The handle of a knife, which lies along -y of its frame, or of a laptop, which lies towards x."""
    if kind.form is Form.KNIFE:
        along = kind.size[1] * (0.42 / 2 - 0.5)
        point = position + along * np.array([-math.sin(yaw), math.cos(yaw), 0.0])
        opening = 0.05
    else:
        out = kind.size[0] / 2 + kind.handle_m - _BAR_M
        point = position + np.array([out * math.cos(yaw), out * math.sin(yaw), 0.002])
        opening = 0.036
    for azimuth in _spread(yaw + math.pi / 2, 2, front):
        for pitch in (math.radians(20.0), _STEEP):
            yield Grasp(ToolPose(point, tool_rotation(azimuth, pitch)), azimuth, opening)


def _across(kind: ThingKind, position: Array, rotation: Array, front: float) -> Iterator[Grasp]:
    """Across a horizontal side that fits between the fingers; the widest first, because slices stand in a row."""
    half = half_extent(kind, rotation[2])
    up = min(_HIGH_M, half - _LOWEST_M)
    # from the axis of what is round, both sides are the same
    axes = [np.cross([0.0, 0.0, 1.0], rotation[:, 1])] if kind.taper else [rotation[:, 0], rotation[:, 2]]
    wide = [(axes[0], kind.size[0])] if kind.taper else [(axes[0], kind.size[0]), (axes[1], kind.size[2])]
    wide.append((rotation[:, 1], kind.size[1]))
    if kind.taper and abs(rotation[2, 1]) > _LEVEL:
        turns = [2 * math.pi * number / 8 for number in range(8)]
        wide = [(np.array([math.cos(turn), math.sin(turn), 0.0]), kind.size[0]) for turn in turns]
    fitting = [(axis, width) for axis, width in wide if abs(axis[2]) < 1.0 - _LEVEL and width < _WIDEST_M]
    for axis, width in sorted(fitting, key=lambda item: -item[1]):
        for azimuth in _spread(math.atan2(axis[0], -axis[1]), 2, front):
            for pitch in (math.radians(10.0), math.radians(0.0), _STEEP):
                point = position + np.array([0.0, 0.0, up])
                yield Grasp(ToolPose(point, tool_rotation(azimuth, pitch)), azimuth, min(OPEN_M, width + 0.03))


def _spread(start: float, count: int, front: float) -> list[float]:
    """Evenly spaced directions from `start` on, those near `front` first, and none far from it."""
    turns = [start + 2 * math.pi * number / count for number in range(count)]
    near = [turn for turn in turns if _apart(turn, front) <= MAX_TURN]
    return sorted(near, key=lambda turn: round(_apart(turn, front), 6))


def _avoids(azimuth: float, handle: float) -> bool:
    """Whether neither the palm nor the fingers of a hand that comes along `azimuth` meet a handle."""
    # behind the fingers it would catch on them when the hand draws back
    return _apart(azimuth, handle) < math.pi / 2 - _HANDLE_FREE


def _apart(first: float, second: float) -> float:
    """Angle between two directions, 0 to pi."""
    return abs(math.remainder(first - second, 2 * math.pi))

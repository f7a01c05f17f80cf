"""Where things are, and the tool poses on the way there and back."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sim.kitchen.fixtures import Fixture, Place
from sim.kitchen.reach import ToolPose
from sim.kitchen.skills.motion import Motion

Array = npt.NDArray[np.float64]

_LIFT_M = 0.12
_INSIDE_LIFT_M = 0.025
"""How far a thing is lifted under a ceiling."""
_DRAW_M = 0.16
"""How far it is drawn towards the robot before it is lifted higher."""
_OUT_M = 0.06
"""How far in front of a fixture the tool is before it reaches in."""
_BACK_M = 0.09


def front_of(motion: Motion, fixture: Fixture | None, point: Array) -> float:
    """Direction in which a robot in front of a fixture looks; without one, from the robot to a point."""
    if fixture is not None:
        inwards = fixture.rotation() @ [-1.0, 0.0, 0.0]
        return math.atan2(inwards[1], inwards[0])
    base = motion.cell.robot.base
    return math.atan2(point[1] - base.y, point[0] - base.x)


def where(motion: Motion, name: str) -> tuple[Fixture, Place] | None:
    """The fixture and the place in or on which a thing is; None if it is elsewhere, on the floor for instance."""
    stands = motion.cell.stands_on(name)
    if stands:
        fixture = motion.cell.fixtures[stands]
        return fixture, fixture.places[0]
    for outer in motion.cell.things:
        if name in motion.cell.contents(outer):
            return where(motion, outer)
    return None


def looked_at(motion: Motion, name: str) -> tuple[Array, Fixture | None]:
    """The point (3,) at which one looks to see a thing or a fixture, and the fixture that it is or stands in or on."""
    cell = motion.cell
    if name in cell.things:
        stands = where(motion, name)
        return cell.pose(name)[0], stands[0] if stands is not None else None
    fixture = cell.fixtures[name]
    return fixture.to_world(fixture.places[0].centre if fixture.places else fixture.assembly.base.parts[0].at), fixture


def front_at(motion: Motion, name: str) -> float:
    """Direction in which a robot in front of a thing or a fixture looks."""
    point, fixture = looked_at(motion, name)
    return front_of(motion, fixture, point)


def entry(tool: ToolPose, fixture: Fixture | None) -> list[ToolPose]:
    """Tool poses on the way to a grasp or away from a place."""
    if fixture is None:
        back = tool.backed(_BACK_M)
        return [back.moved([0.0, 0.0, 0.06]), back]
    up = tool.moved([0.0, 0.0, _INSIDE_LIFT_M])
    return [up.moved(_outwards(fixture, up)), tool.backed(0.07)]


def way_out(tool: ToolPose, fixture: Fixture | None, front: float) -> list[ToolPose]:
    """Tool poses with the thing in the hand, from where it stood outwards."""
    if fixture is None:
        up = tool.moved([0.0, 0.0, _LIFT_M])
        # below the spout of a tap, for instance, there is no way straight up
        return [up, up.moved([-_DRAW_M * math.cos(front), -_DRAW_M * math.sin(front), 0.02])]
    up = tool.moved([0.0, 0.0, _INSIDE_LIFT_M])
    return [up, up.moved(_outwards(fixture, up))]


def _outwards(fixture: Fixture, pose: ToolPose) -> Array:
    """Shift (3,) that brings a tool pose to in front of a fixture."""
    inside = fixture.from_world(pose.position)
    edge = max(part.at[0] + part.size[0] / 2 for part in fixture.assembly.base.parts if part.shape == "box")
    # the hand points inwards, so its fingertips may stay a little behind the front
    return np.asarray(fixture.rotation() @ [edge + _OUT_M - inside[0], 0.0, 0.0])

"""What does not move from its place in a kitchen: what it consists of, where things are put, and how it is operated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kitchen.shapes import Assembly, Colour, Joint, Link, Part, Vector

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """A flat region on which things stand, in the frame of its fixture.

    Attributes:
        centre: of the region, metres; z is the height on which things stand.
        half: half sides along x and y, metres.
        headroom_m: free height above it.
        single: whether it has room for one thing only, which stands in its centre.
    """

    centre: Vector
    half: tuple[float, float]
    headroom_m: float = math.inf
    single: bool = False


class ControlKind(StrEnum):
    """How something is operated."""

    HANDLE = "handle"
    """a bar that is gripped and pulled along the motion of its link"""
    KNOB = "knob"
    """a bar on a vertical axis that is gripped from above and turned"""
    BUTTON = "button"
    """a plate that is pressed"""
    LEVER = "lever"
    """a plate that is pressed down, and stays there until it is released"""


@dataclass(frozen=True)
class Control:
    """A moving part that the robot operates.

    Attributes:
        kind: how.
        joint: its number in the assembly.
        grip: where it is gripped or pressed, in the frame of the moving link, metres.
        inwards: unit vector from the robot to the grip, in the frame of the fixture: the direction in which the tool
            points.
        on_at: joint position from which on it counts as open, on or pressed, radians or metres.
        travel: joint position to which the robot moves it.
    """

    kind: ControlKind
    joint: int
    grip: Vector
    inwards: Vector
    on_at: float
    travel: float


@dataclass(frozen=True)
class Fixture:
    """One piece of furniture or one appliance.

    Its frame: x points out of its front, y to its side, z up.

    Attributes:
        name: unique in the kitchen.
        kind: noun of the household domain.
        assembly: its body.
        position: of its frame, metres.
        yaw: of its frame, radians.
        places: where things are put; empty if nothing is.
        door: what opens and closes it.
        switch: what turns it on and off.
        operates: name of the fixture that the switch controls; itself by default.
        footprint: x and y range that it occupies on the floor, metres, in its frame; None if it stands on another one.
        stream: where water or coffee falls down, in its frame, metres.
        rests_on: name of the fixture that it is a part of or stands on.
    """

    name: str
    kind: str
    assembly: Assembly
    position: Vector
    yaw: float
    places: tuple[Place, ...] = ()
    door: Control | None = None
    switch: Control | None = None
    operates: str = ""
    footprint: tuple[float, float, float, float] | None = None
    stream: Vector | None = None
    rests_on: str = ""

    def to_world(self, point: npt.ArrayLike) -> Array:
        """World coordinates (..., 3) of points (..., 3) in the frame of the fixture."""
        return np.asarray(np.asarray(point, float) @ self.rotation().T + np.asarray(self.position))

    def from_world(self, point: npt.ArrayLike) -> Array:
        """Coordinates in the frame of the fixture (..., 3) of world points (..., 3)."""
        return np.asarray((np.asarray(point, float) - np.asarray(self.position)) @ self.rotation())

    def rotation(self) -> Array:
        """Rotation (3, 3) from the frame of the fixture to the world."""
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])


def fixed(parts: Iterable[Part], *joints: Joint) -> Assembly:
    """A body that stands still, with links on joints."""
    return Assembly(Link(tuple(parts), 0.0), joints)


def resting(on: Fixture, name: str, kind: str, assembly: Assembly, **more: Any) -> Fixture:
    """A fixture that stands on another one or is a part of it, in the same frame; `more` are further fields."""
    return Fixture(name, kind, assembly, on.position, on.yaw, rests_on=on.name, **more)


@dataclass(frozen=True)
class Finish:
    """Colours of a kitchen.

    Attributes:
        body: cabinets.
        top: worktops.
        metal: sink, stove, handles.
        appliance: fridge and microwave.
        floor: the floor.
    """

    body: Colour = (0.93, 0.92, 0.88)
    top: Colour = (0.55, 0.42, 0.30)
    metal: Colour = (0.62, 0.64, 0.66)
    appliance: Colour = (0.82, 0.83, 0.85)
    floor: Colour = (0.55, 0.53, 0.50)


def switch_of(fixtures: Iterable[Fixture], name: str) -> Fixture | None:
    """The fixture whose switch turns something on and off, or is it; None if there is none."""
    switches = (one for one in fixtures if one.switch is not None)
    return next((one for one in switches if name in (one.operates or one.name, one.name)), None)

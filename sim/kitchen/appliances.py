"""Appliances by code: fridge, cabinet, microwave and coffee machine."""

from __future__ import annotations

import math

from sim.kitchen.fixtures import Control, ControlKind, Finish, Fixture, Place, fixed, resting
from sim.kitchen.furniture import DEPTH_M, DOWN, HANDLE_GAP_M, INWARDS, handle
from sim.kitchen.shapes import Colour, Joint, JointKind, Link, Part, Vector, box, cylinder

HINGE_NM = 0.6
"""Friction of a door's hinge; a fridge's or a microwave's seal adds to it in reality."""
DOOR_TRAVEL = math.radians(82.0)
"""How far the robot opens a door."""
DOOR_LIMIT = math.radians(115.0)
_DOOR_M = 0.03
_WALL_M = 0.025
_BUTTON_M = 0.012
_GLASS: Colour = (0.12, 0.14, 0.16)
_INSIDE: Colour = (0.95, 0.95, 0.95)


def cupboard(
    name: str,
    position: Vector,
    yaw: float,
    width_m: float,
    shelf_m: float,
    finish: Finish,
    colour: Colour,
    hinge_left: bool,
) -> Fixture:
    """A tall fridge or cabinet: closed below, a shelf behind a door above.

    Args:
        name: of the fixture, and noun of the domain.
        position: of its frame, metres.
        yaw: of its frame, radians.
        width_m: of the whole.
        shelf_m: height of the shelf.
        finish: colours.
        colour: of the body.
        hinge_left: whether the hinge is on the side of negative y, which is on the left of the robot in front of it.
    """
    room = 0.48
    parts = (
        box((DEPTH_M, width_m, shelf_m), (-DEPTH_M / 2, 0.0, shelf_m / 2), colour),
        *_shell(width_m, room, DEPTH_M, shelf_m, colour),
    )
    joint, door = _door(
        width_m - 0.004, room + _WALL_M, (0.0, 0.0, shelf_m), hinge_left, colour, finish.metal, 0.26, 5.0
    )
    place = Place((-0.20, 0.0, shelf_m), (0.09, width_m / 2 - 0.16), room)
    footprint = (-DEPTH_M, _DOOR_M + HANDLE_GAP_M + 0.01, -width_m / 2, width_m / 2)
    return Fixture(name, name, fixed(parts, joint), position, yaw, (place,), door=door, footprint=footprint)


def microwave(name: str, on: Fixture, top_m: float, finish: Finish, hinge_left: bool = True) -> Fixture:
    """A microwave on a worktop; its button is on the panel next to the door."""
    width, room, deep, panel, back = 0.52, 0.34, 0.42, 0.10, 0.13
    sign = 1.0 if hinge_left else -1.0
    inner = width - panel
    centre_y = -sign * panel / 2
    base = 0.02
    parts = tuple(
        Part(part.shape, part.size, (part.at[0] - back, part.at[1] + centre_y, part.at[2]), part.colour)
        for part in (
            *_shell(inner, room, deep, base, finish.appliance),
            box((deep, inner, base), (-deep / 2, 0.0, base / 2), finish.appliance),
            box((deep, panel, room + base + _WALL_M), (-deep / 2, sign * (inner + panel) / 2,
                                                       (room + base + _WALL_M) / 2), _GLASS),
        )
    )  # fmt: skip
    shifted = tuple(
        Part(part.shape, part.size, (part.at[0], part.at[1], part.at[2] + top_m), part.colour) for part in parts
    )
    foot = (-back, centre_y, top_m + base)
    joint, door = _door(inner - 0.004, room + _WALL_M, foot, hinge_left, _GLASS, finish.metal, 0.18, 1.5)
    button_at = (-back + _BUTTON_M / 2, sign * inner / 2, top_m + 0.16)
    button, switch = _button(1, button_at, (0.2, 0.7, 0.3))
    place = Place((-back - 0.118, centre_y, top_m + base), (0.02, 0.02), room, single=True)
    return resting(on, name, "microwave", fixed(shifted, joint, button), places=(place,), door=door, switch=switch)


def coffee_machine(name: str, on: Fixture, at: tuple[float, float], top_m: float, colour: Colour) -> Fixture:
    """A coffee machine on a worktop: a cup stands on its foot, below the spout, with room for the hand in front of it.

    The button is on the top, where no hand touches it in passing that puts a cup below the spout.
    """
    x, y = at
    parts = (
        box((0.26, 0.20, 0.012), (x - 0.13, y, top_m + 0.006), colour),
        box((0.10, 0.20, 0.34), (x - 0.21, y, top_m + 0.17), colour),
        box((0.20, 0.20, 0.10), (x - 0.16, y, top_m + 0.29), colour),
        cylinder(0.014, 0.02, (x - 0.085, y, top_m + 0.23), (0.1, 0.1, 0.1)),
    )
    button, switch = _button(0, (x - 0.10, y, top_m + 0.34 + _BUTTON_M / 2), (0.85, 0.25, 0.2), DOWN)
    place = Place((x - 0.085, y, top_m + 0.012), (0.01, 0.01), 0.21, single=True)
    stream = (x - 0.085, y, top_m + 0.22)
    return resting(on, name, "coffee machine", fixed(parts, button), places=(place,), switch=switch, stream=stream)


def _shell(width: float, room: float, deep: float, floor: float, colour: Colour) -> tuple[Part, ...]:
    """Back, sides and top around a room that is open at the front and stands on `floor`."""
    middle = floor + room / 2
    side = (width - _WALL_M) / 2
    return (
        box((_WALL_M, width, room), (-deep + _WALL_M / 2, 0.0, middle), _INSIDE),
        box((deep, _WALL_M, room), (-deep / 2, -side, middle), colour),
        box((deep, _WALL_M, room), (-deep / 2, side, middle), colour),
        box((deep, width, _WALL_M), (-deep / 2, 0.0, floor + room + _WALL_M / 2), colour),
    )


def _door(
    width: float,
    tall: float,
    foot: Vector,
    hinge_left: bool,
    colour: Colour,
    metal: Colour,
    bar_m: float,
    mass_kg: float,
) -> tuple[Joint, Control]:
    """A door in front of a shell, and how it is opened; it opens to positive joint angles."""
    # seen from the robot in front, the left is at negative y
    sign = 1.0 if hinge_left else -1.0
    grip_y = sign * (width - 0.03)
    parts = (
        box((_DOOR_M, width, tall), (_DOOR_M / 2, sign * width / 2, 0.0), colour),
        *handle(_DOOR_M, (grip_y, 0.0), bar_m, metal, upright=True),
    )
    joint = Joint(
        "door",
        JointKind.HINGE,
        (0.0, 0.0, -sign),
        (foot[0], foot[1] - sign * width / 2, foot[2] + tall / 2),
        (0.0, DOOR_LIMIT),
        Link(parts, mass_kg),
        HINGE_NM,
    )
    grip = (_DOOR_M + HANDLE_GAP_M, grip_y, 0.0)
    return joint, Control(ControlKind.HANDLE, 0, grip, INWARDS, math.radians(60.0), DOOR_TRAVEL)


def _button(number: int, at: Vector, colour: Colour, inwards: Vector = INWARDS) -> tuple[Joint, Control]:
    """A button in a face, pushed back by a spring; its joint has this number, and it is pressed along `inwards`."""
    x, y, z = inwards
    plate = box((_BUTTON_M if x else 0.030, _BUTTON_M if y else 0.030, _BUTTON_M if z else 0.030), colour=colour)
    joint = Joint("button", JointKind.SLIDE, inwards, at, (0.0, 0.008), Link((plate,), 0.02), 4.0, spring=0.2)
    half = _BUTTON_M / 2
    return joint, Control(ControlKind.BUTTON, number, (-x * half, -y * half, -z * half), inwards, 0.004, 0.006)

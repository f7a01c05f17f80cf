"""Bodies of things by code: vessels, bottles, loaves, knives, slices and the rest, as links with primitives."""

from __future__ import annotations

import math

from sim.kitchen.fixtures import Control, ControlKind
from sim.kitchen.shapes import (
    Assembly,
    Colour,
    Joint,
    JointKind,
    Link,
    Part,
    Shape,
    box,
    cylinder,
    ellipsoid,
    frustum,
    ring,
)
from sim.kitchen.things import CRUMB, FLESH, Form, ThingKind

_STEEL: Colour = (0.55, 0.57, 0.60)
_BLACK: Colour = (0.13, 0.13, 0.14)
_LID_M = 0.188
_BAR_M = 0.006
_LID_GRIP = (0.158, 0.0, 0.046)
LID = Control(ControlKind.HANDLE, 0, _LID_GRIP, (0.0, 0.0, -1.0), math.radians(20.0), math.radians(98.0))
"""What opens and closes a laptop."""
POWER = Control(ControlKind.BUTTON, 1, (0.0, 0.0, 0.005), (0.0, 0.0, -1.0), 0.004, 0.006)
"""What turns a laptop on and off."""
SCREEN_SIZE_M = (_LID_M - 0.03, 0.26)
"""Depth and width of its screen."""
ON_LID_M = (_LID_M / 2, 0.0, -0.0052)
"""The middle of its screen in the frame of the lid."""


def assembly_of(kind: ThingKind, colour: Colour) -> Assembly:
    """The body of a thing; the origin of its frame is in the middle of its height, its handle points along x."""
    parts: tuple[Part, ...]
    if kind.form is Form.VESSEL:
        parts = _vessel(kind, colour)
    elif kind.form is Form.BODY:
        parts = (ellipsoid(kind.size, colour=colour),)
    elif kind.form is Form.BOTTLE:
        parts = _bottle(kind, colour)
    elif kind.form is Form.LOAF:
        parts = _loaf(kind, colour)
    elif kind.form is Form.SLICE:
        parts = _slice(kind, colour)
    elif kind.form is Form.BLOCK:
        parts = _block(kind, colour)
    elif kind.form is Form.LAPTOP:
        return laptop(kind, colour)
    else:
        parts = _knife(kind, colour)
    return Assembly(Link(parts, kind.mass_kg))


def _vessel(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    radius, _, height = kind.size
    floor = cylinder(radius * 0.96, kind.wall_m, (0.0, 0.0, (kind.wall_m - height) / 2), colour)
    parts = [floor, *ring(radius, height, kind.wall_m, colour)]
    if kind.name == "pan":
        # lower than the rim, so that a hand can hold the rim next to it
        length = kind.handle_m
        parts.append(box((length, 0.018, 0.014), (radius + length / 2, 0.0, 0.008), _BLACK))
    elif kind.name == "pot":
        for sign in (-1, 1):
            parts.append(box((0.012, 0.050, 0.010), (sign * (radius + kind.handle_m - 0.006), 0.0, 0.02), colour))
            parts += [
                box((kind.handle_m, 0.010, 0.010), (sign * (radius + kind.handle_m / 2), y, 0.02), colour)
                for y in (-0.02, 0.02)
            ]
    elif kind.handle_m:
        tall = height * 0.55
        parts.append(box((0.008, 0.012, tall), (radius + kind.handle_m - 0.004, 0.0, 0.0), colour))
        parts += [
            box((kind.handle_m, 0.012, 0.008), (radius + kind.handle_m / 2, 0.0, z), colour)
            for z in (-tall / 2 + 0.004, tall / 2 - 0.004)
        ]
    return tuple(parts)


def _bottle(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    radius, _, height = kind.size
    tall = height * 0.66
    return (
        cylinder(radius, tall, (0.0, 0.0, (tall - height) / 2), colour),
        cylinder(radius * 0.42, height - tall, (0.0, 0.0, tall / 2), colour),
    )


def _loaf(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    x, y, z = kind.size
    crust = (colour[0] * 0.8, colour[1] * 0.75, colour[2] * 0.7)
    top = tuple(
        Part(Shape.BOX, (x * 0.72, 0.006, 0.003), (0.0, shift * y, z / 2), crust, solid=False)
        for shift in (-0.3, -0.1, 0.1, 0.3)
    )
    return (box((x, y, z), (0.0, 0.0, 0.0), colour), *top)


def _knife(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    """It lies on its edge, as wide as its handle."""
    x, y, z = kind.size
    grip = y * 0.42
    return (
        box((x, grip, z), (0.0, (grip - y) / 2, 0.0), colour),
        box((0.004, y - grip, z), (0.0, grip / 2, 0.0), _STEEL),
    )


def _slice(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    """Flesh or crumb with the skin of the whole around it."""
    x, y, z = kind.size
    inside = FLESH[kind.name]
    if kind.taper is None:
        crust = (colour[0] * 0.8, colour[1] * 0.75, colour[2] * 0.7)
        core = Part(Shape.BOX, (x * 0.86, y + 0.001, z * 0.84), (0.0, 0.0, 0.0), CRUMB, solid=False)
        return (box((x, y, z), (0.0, 0.0, 0.0), crust), core)
    # the axis of a frustum is its z
    turn = (-math.pi / 2, 0.0, 0.0)
    first, second = (share * x / 2 for share in kind.taper)
    skin = frustum(first, second, y, colour, turn)
    faces = tuple(
        Part(Shape.FRUSTUM, (0.93 * radius, 0.93 * radius, 0.001), (0.0, sign * y / 2, 0.0), inside, turn, solid=False)
        for radius, sign in ((first, -1), (second, 1))
        if radius > 0.6 * x / 2
    )
    return (skin, *faces)


def _block(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    """A remote control has keys on top; a sponge is scouring cloth below."""
    x, y, z = kind.size
    if kind.name != "remote control":
        dark = (0.5 * colour[0], 0.5 * colour[1], 0.5 * colour[2])
        return (
            box((x, y, z * 0.75), (0.0, 0.0, z * 0.125), colour),
            box((x, y, z * 0.25), (0.0, 0.0, -z * 0.375), dark),
        )
    keys = tuple(
        Part(Shape.BOX, (0.008, 0.008, 0.003), (column, row, z / 2), (0.85, 0.85, 0.85), solid=False)
        for column in (-0.011, 0.0, 0.011)
        for row in (-0.045, -0.03, -0.015, 0.0, 0.015)
    )
    power = Part(Shape.CYLINDER, (0.006, 0.006, 0.004), (-0.011, 0.055, z / 2), (0.85, 0.12, 0.10), solid=False)
    return (box((x, y, z), (0.0, 0.0, 0.0), colour), power, *keys)


def laptop(kind: ThingKind, colour: Colour) -> Assembly:
    """A laptop for robots: a handle in front, a bar on the lid, and the button in front of the lid."""
    x, y, z = kind.size
    lid_z = 0.009
    bottom = box((x, y, z - lid_z - 0.001), (0.0, 0.0, -(lid_z + 0.001) / 2), colour)
    keys = Part(Shape.BOX, (0.11, y - 0.05, 0.001), (-0.035, 0.0, z / 2 - lid_z - 0.001), _BLACK, solid=False)
    pad = Part(Shape.BOX, (0.03, 0.08, 0.001), (x / 2 - 0.02, 0.0, z / 2 - lid_z - 0.001), _STEEL, solid=False)
    reach = x / 2 + kind.handle_m
    grip = [
        box((0.014, 0.11, 0.016), (reach - 0.007, 0.0, 0.0), _BLACK),
        *(box((kind.handle_m, 0.012, 0.012), (x / 2 + kind.handle_m / 2, side, 0.0), _BLACK) for side in (-0.05, 0.05)),
    ]
    panel = box((_LID_M, y - 0.01, lid_z), (_LID_M / 2, 0.0, 0.0), colour)
    lid_bar = [
        cylinder(_BAR_M, 0.10, (_LID_GRIP[0], 0.0, _LID_GRIP[2]), _BLACK, (math.pi / 2, 0.0, 0.0)),
        *(
            box((0.012, 0.012, _LID_GRIP[2]), (_LID_GRIP[0], side, _LID_GRIP[2] / 2), _BLACK)
            for side in (-0.045, 0.045)
        ),
    ]
    hinge = (-x / 2 + 0.004, 0.0, z / 2 - lid_z / 2)
    lid = Joint(
        "lid", JointKind.HINGE, (0.0, -1.0, 0.0), hinge, (0.0, math.radians(110.0)),
        Link((panel, *lid_bar), 0.2 * kind.mass_kg), 0.4,
    )  # fmt: skip
    plate = box((0.024, 0.034, 0.010), (0.0, 0.0, 0.0), (0.2, 0.7, 0.3))
    button = Joint(
        "button", JointKind.SLIDE, (0.0, 0.0, -1.0), (x / 2 - 0.017, 0.105, z / 2 - lid_z + 0.005), (0.0, 0.008),
        Link((plate,), 0.02), 2.0, spring=0.2,
    )  # fmt: skip
    return Assembly(Link((bottom, keys, pad, *grip), 0.78 * kind.mass_kg), (lid, button))


def controls_of(kind: ThingKind) -> dict[str, Control]:
    """What about things of a kind is operated: `door` for a lid, `switch` for a button."""
    return {"door": LID, "switch": POWER} if kind.form is Form.LAPTOP else {}

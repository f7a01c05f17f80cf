"""Devices by code: a toaster, and a television on its stand."""

from __future__ import annotations

from sim.kitchen.fixtures import Control, ControlKind, Finish, Fixture, Place, fixed, resting
from sim.kitchen.furniture import DOWN
from sim.kitchen.shapes import Colour, Joint, JointKind, Link, Part, Shape, Vector, box

SLOT_M = (0.054, 0.092)
"""Inside of the toaster's slot along x and y: a slice of bread with some room."""
CARRIAGE_M = 0.040
"""How far the lever lowers what is in the slot."""
LOWERED_M = CARRIAGE_M - 0.004
"""Where the carriage stays while the toaster runs."""
_SEAT_M = 0.024
"""From the top of the toaster to the carriage when it is up."""
_SPRING_N = 8.0
_STAND_M = (0.54, 1.20)
"""Depth and width of the stand of the television."""
STAND_HEIGHT_M = 0.70
SCREEN_M = (0.66, 0.38)
"""Width and height of the television's screen."""
_DARK: Colour = (0.10, 0.10, 0.11)


def toaster(name: str, on: Fixture, at: tuple[float, float], top_m: float, colour: Colour) -> Fixture:
    """A toaster with one slot across its depth; its lever lowers the carriage, which a spring lifts again."""
    x, y = at
    deep, wide, tall = 0.156, 0.200, 0.130
    slot_x, slot_y = SLOT_M
    side_x, side_y = (deep - slot_x) / 2, (wide - slot_y) / 2
    centre_x = x - deep / 2
    middle = top_m + tall / 2 + 0.006
    parts = (
        box((deep - 0.01, wide - 0.01, 0.018), (centre_x, y, top_m + 0.009), _DARK),
        box((side_x, wide, tall), (centre_x + (slot_x + side_x) / 2, y, middle), colour),
        box((side_x, wide, tall), (centre_x - (slot_x + side_x) / 2, y, middle), colour),
        box((slot_x, side_y, tall), (centre_x, y + (slot_y + side_y) / 2, middle), colour),
        box((slot_x, side_y, tall), (centre_x, y - (slot_y + side_y) / 2, middle), colour),
    )
    seat = middle + tall / 2 - _SEAT_M
    # the lever's arm passes through the front, in which a gap for it is not modelled
    lever_x = deep / 2 + 0.018
    carriage = (
        box((slot_x - 0.006, slot_y - 0.006, 0.006), (0.0, 0.0, -0.003), (0.45, 0.46, 0.48)),
        Part(Shape.BOX, (lever_x, 0.012, 0.008), (lever_x / 2, 0.0, -0.004), _DARK, solid=False),
        box((0.026, 0.046, 0.014), (lever_x, 0.0, 0.0), _DARK),
    )
    travel = (0.0, CARRIAGE_M + 0.006)
    joint = Joint("lever", JointKind.SLIDE, DOWN, (centre_x, y, seat), travel, Link(carriage, 0.05), _SPRING_N, 0.05)
    switch = Control(ControlKind.LEVER, 0, (lever_x, 0.0, 0.007), DOWN, CARRIAGE_M, CARRIAGE_M + 0.005)
    place = Place((centre_x, y, seat), (0.004, 0.004), single=True)
    return resting(on, name, "toaster", fixed(parts, joint), places=(place,), switch=switch)


def tv_stand(name: str, position: Vector, yaw: float, finish: Finish) -> Fixture:
    """A low sideboard with room in front of the television."""
    deep, wide = _STAND_M
    parts = (
        box((deep - 0.02, wide, STAND_HEIGHT_M - 0.03), (-deep / 2 - 0.01, 0.0, (STAND_HEIGHT_M - 0.03) / 2),
            finish.body),
        box((deep, wide, 0.03), (-deep / 2, 0.0, STAND_HEIGHT_M - 0.015), finish.top),
    )  # fmt: skip
    place = Place((-0.19, 0.0, STAND_HEIGHT_M), (0.05, wide / 2 - 0.12))
    footprint = (-deep, 0.0, -wide / 2, wide / 2)
    return Fixture(name, "tv stand", fixed(parts), position, yaw, (place,), footprint=footprint)


def television(name: str, on: Fixture) -> Fixture:
    """A television at the back of its stand; a remote control switches it."""
    wide, high = SCREEN_M
    back = -_STAND_M[0] + 0.06
    parts = (
        box((0.10, 0.30, 0.012), (back, 0.0, STAND_HEIGHT_M + 0.006), _DARK),
        box((0.02, 0.05, 0.06), (back, 0.0, STAND_HEIGHT_M + 0.036), _DARK),
        box((0.024, wide + 0.03, high + 0.03), (back, 0.0, STAND_HEIGHT_M + 0.066 + (high + 0.03) / 2), _DARK),
    )
    return resting(on, name, "television", fixed(parts))


def screen_of(fixture: Fixture) -> Vector:
    """The middle of the front of a television's screen, in the frame of the fixture."""
    panel = fixture.assembly.base.parts[2]
    return (panel.at[0] + panel.size[0] / 2, panel.at[1], panel.at[2])

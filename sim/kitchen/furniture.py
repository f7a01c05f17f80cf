"""Fixtures by code: worktops, a sink with its tap, a stove, drawers, a table, a bin and a plant."""

from __future__ import annotations

import math

from sim.kitchen.fixtures import Control, ControlKind, Finish, Fixture, Place, fixed, resting
from sim.kitchen.shapes import Colour, Joint, JointKind, Link, Part, Shape, Vector, box, cylinder, ring

DEPTH_M = 0.60
"""From the front to the wall."""
BAR_M = 0.007
"""Radius of handles."""
HANDLE_GAP_M = 0.050
"""From a front to the axis of its handle: fingers fit behind it."""
_SLAB_M = 0.04
_SPOUT_X_M = -0.21
_SLIDE_N = 6.0
_KNOB_NM = 0.08
_DARK: Colour = (0.16, 0.16, 0.18)
SOIL_M = 0.075
"""Radius of the soil of a house plant."""
_WATERED_M, _BELOW_RIM_M = 0.03, 0.015
"""A plant is watered so far in front of its middle; its soil lies so far below the rim of its pot."""
_SOIL: Colour = (0.30, 0.20, 0.13)
_LEAF: Colour = (0.20, 0.52, 0.22)
KNOB_TURN = math.radians(42.0)
"""Joint position of a knob or lever that is fully on."""
BASIN_M = 0.09
"""Depth of the sink."""
DOWN: Vector = (0.0, 0.0, -1.0)
INWARDS: Vector = (-1.0, 0.0, 0.0)


def worktop(name: str, position: Vector, yaw: float, width_m: float, height_m: float, finish: Finish) -> Fixture:
    """A cabinet with a worktop on which things stand."""
    parts = (
        _cabinet(width_m, height_m - _SLAB_M, finish.body),
        box((DEPTH_M, width_m, _SLAB_M), (-DEPTH_M / 2, 0.0, height_m - _SLAB_M / 2), finish.top),
    )
    place = Place((-0.29, 0.0, height_m), (0.19, width_m / 2 - 0.10))
    return Fixture(name, "countertop", fixed(parts), position, yaw, (place,), footprint=_footprint(width_m))


def table(name: str, position: Vector, yaw: float, width_m: float, height_m: float, finish: Finish) -> Fixture:
    """A table on four legs."""
    legs = tuple(
        box((0.05, 0.05, height_m - _SLAB_M), (x, y, (height_m - _SLAB_M) / 2), finish.top)
        for x in (-0.04, 0.04 - DEPTH_M)
        for y in (-width_m / 2 + 0.04, width_m / 2 - 0.04)
    )
    slab = box((DEPTH_M, width_m, _SLAB_M), (-DEPTH_M / 2, 0.0, height_m - _SLAB_M / 2), finish.top)
    place = Place((-0.29, 0.0, height_m), (0.19, width_m / 2 - 0.10))
    return Fixture(name, "dining table", fixed((slab, *legs)), position, yaw, (place,), footprint=_footprint(width_m))


def sink(name: str, position: Vector, yaw: float, width_m: float, height_m: float, finish: Finish) -> Fixture:
    """A worktop with a basin whose front is low, as in old farmhouses: a hand reaches in from the front."""
    floor, (x_near, x_far, half) = height_m - BASIN_M, (-0.02, -0.42, 0.19)
    side = width_m / 2 - half
    middle, length = (x_near + x_far) / 2, x_near - x_far
    top = height_m - _SLAB_M / 2
    wall, wall_z = 0.012, height_m - BASIN_M / 2
    behind = DEPTH_M + x_far
    parts = [
        _cabinet(width_m, floor - 0.01, finish.body),
        box((length + 0.02, 2 * half, 0.01), (middle + 0.01, 0.0, floor - 0.005), finish.metal),
        box((wall, 2 * half, 0.02), (x_near + wall / 2, 0.0, floor), finish.metal),
        box((wall, 2 * half, BASIN_M), (x_far, 0.0, wall_z), finish.metal),
        box((behind, width_m, _SLAB_M), (x_far - behind / 2, 0.0, top), finish.top),
    ]
    for sign in (-1, 1):
        parts.append(box((DEPTH_M - behind, side, _SLAB_M), (x_far / 2, sign * (half + side / 2), top), finish.top))
        parts.append(box((length, wall, BASIN_M), (middle, sign * half, wall_z), finish.metal))
        parts.append(
            box(
                (DEPTH_M - 0.04, side, BASIN_M - _SLAB_M),
                (-DEPTH_M / 2 - 0.02, sign * (half + side / 2), floor + (BASIN_M - _SLAB_M) / 2),
                finish.body,
            )
        )
    place = Place((_SPOUT_X_M, 0.0, floor), (0.07, 0.13))
    return Fixture(name, "sink", fixed(parts), position, yaw, (place,), footprint=_footprint(width_m))


def faucet(name: str, basin: Fixture, height_m: float, finish: Finish) -> Fixture:
    """The tap of a sink: a spout, and a lever on the worktop next to the basin that is turned."""
    rise, back = 0.34, -0.50
    reach = _SPOUT_X_M - back
    parts = (
        cylinder(0.016, rise, (back, 0.0, height_m + rise / 2), finish.metal),
        box((reach + 0.012, 0.022, 0.022), (back + reach / 2, 0.0, height_m + rise), finish.metal),
        cylinder(0.012, 0.05, (_SPOUT_X_M, 0.0, height_m + rise - 0.03), finish.metal),
        cylinder(0.018, 0.05, (-0.16, 0.25, height_m + 0.025), finish.metal),
    )
    switch, joint = _knob((-0.16, 0.25, height_m + 0.05), 0.070, finish.metal)
    stream = (_SPOUT_X_M, 0.0, height_m + rise - 0.055)
    return resting(basin, name, "faucet", fixed(parts, joint), switch=switch, stream=stream)


def stove(position: Vector, yaw: float, width_m: float, height_m: float, finish: Finish) -> tuple[Fixture, ...]:
    """A stove: its body, four burners, and a knob for each in a row at the front."""
    parts = (
        _cabinet(width_m, height_m - 0.02, finish.appliance),
        box((0.005, width_m - 0.12, 0.36), (-0.0005, 0.0, height_m - 0.36), _DARK),
        box((DEPTH_M, width_m, 0.02), (-DEPTH_M / 2, 0.0, height_m - 0.01), finish.metal),
    )
    body = Fixture("stove", "stove", fixed(parts), position, yaw, footprint=_footprint(width_m))
    made = [body]
    centres = [(-0.265, -0.145), (-0.265, 0.145), (-0.475, -0.145), (-0.475, 0.145)]
    knobs_y = [-0.174, 0.058, -0.058, 0.174]
    for number, ((x, y), knob_y) in enumerate(zip(centres, knobs_y, strict=True)):
        ordinal = ("first", "second", "third", "fourth")[number]
        burner, knob = f"{ordinal} stove burner", f"{ordinal} stove knob"
        plate = cylinder(0.085, 0.012, (x, y, height_m + 0.006), _DARK)
        place = Place((x, y, height_m + 0.012), (0.01, 0.01), single=True)
        made.append(resting(body, burner, "stove burner", fixed([plate]), places=(place,)))
        socket = cylinder(0.024, 0.012, (-0.055, knob_y, height_m + 0.006), _DARK)
        switch, joint = _knob((-0.055, knob_y, height_m + 0.012), 0.044, (0.75, 0.75, 0.75))
        made.append(resting(body, knob, "stove knob", fixed([socket], joint), switch=switch, operates=burner))
    return tuple(made)


def drawer(name: str, position: Vector, yaw: float, width_m: float, height_m: float, finish: Finish) -> Fixture:
    """A cabinet with a drawer under its worktop, on which an appliance stands."""
    deep, tall, wall = 0.46, 0.15, 0.012
    bottom = height_m - _SLAB_M - tall - 0.01
    inner = width_m - 0.04
    parts = (
        _cabinet(width_m, bottom - 0.005, finish.body),
        box((DEPTH_M, width_m, _SLAB_M), (-DEPTH_M / 2, 0.0, height_m - _SLAB_M / 2), finish.top),
        *(
            box((DEPTH_M - 0.02, 0.012, tall + 0.02), (-DEPTH_M / 2 - 0.01, sign * (width_m / 2 - 0.006),
                                                       bottom + tall / 2), finish.body)
            for sign in (-1, 1)
        ),
    )  # fmt: skip
    half = inner / 2 - wall
    tray = [
        box((deep, inner - 0.01, wall), (-deep / 2, 0.0, wall / 2), (0.75, 0.65, 0.5)),
        box((wall, inner - 0.01, tall * 0.7), (wall / 2 - deep, 0.0, tall * 0.35), (0.75, 0.65, 0.5)),
        box((0.02, width_m - 0.01, tall), (0.0, 0.0, tall / 2), finish.body),
        *(box((deep, wall, tall * 0.7), (-deep / 2, sign * half, tall * 0.35), (0.75, 0.65, 0.5)) for sign in (-1, 1)),
        *handle(0.01, (0.0, tall / 2), 0.16, finish.metal, upright=False),
    ]
    slide = Joint(
        "drawer", JointKind.SLIDE, (1.0, 0.0, 0.0), (0.0, 0.0, bottom), (0.0, 0.36), Link(tuple(tray), 2.0), _SLIDE_N
    )
    door = Control(ControlKind.HANDLE, 0, (0.01 + HANDLE_GAP_M, 0.0, tall / 2), INWARDS, 0.20, 0.30)
    # the place moves with the drawer: it is given where it is when the drawer is closed
    place = Place((-0.16, 0.0, bottom + wall), (0.06, half - 0.08))
    return Fixture(
        name, "drawer", fixed(parts, slide), position, yaw, (place,), door=door, footprint=_footprint(width_m)
    )


def garbage_can(name: str, position: Vector, yaw: float, colour: Colour) -> Fixture:
    """An open bin on the floor."""
    height, radius, wall = 0.55, 0.15, 0.012
    parts = (
        cylinder(radius - wall, 0.3, (-radius, 0.0, 0.15), _DARK),
        *ring(radius, height, wall, colour, (-radius, 0.0, height / 2)),
    )
    place = Place((-radius, 0.0, 0.30), (0.05, 0.05), 0.25)
    footprint = (-2 * radius, 0.0, -radius, radius)
    return Fixture(name, "garbage can", fixed(parts), position, yaw, (place,), footprint=footprint)


def soil_of(plant: Fixture) -> Vector:
    """The middle of the surface of a house plant's soil, in the frame of the plant."""
    x, y, z = plant.places[0].centre
    return x - _WATERED_M, y, z - _BELOW_RIM_M


def house_plant(name: str, on: Fixture, at: Vector, colour: Colour) -> Fixture:
    """A plant in a pot with bare soil in front of its leaves, where it is watered."""
    radius, height = SOIL_M + 0.01, 0.12
    x, y, z = at
    parts = [
        cylinder(SOIL_M, height - _BELOW_RIM_M, (x, y, z + (height - _BELOW_RIM_M) / 2), _SOIL),
        *ring(radius, height, 0.01, colour, (x, y, z + height / 2)),
        cylinder(0.01, 0.16, (x - 0.05, y, z + height + 0.06), _LEAF),
    ]
    for turn, up in ((0.4, 0.10), (2.2, 0.13), (3.9, 0.16), (5.4, 0.18)):
        middle = (x - 0.05 + 0.03 * math.cos(turn), y + 0.05 * math.sin(turn), z + height + up)
        # leaves give way
        parts.append(Part(Shape.BOX, (0.035, 0.09, 0.006), middle, _LEAF, (0.5, 0.2, turn), solid=False))
    place = Place((x + _WATERED_M, y, z + height), (0.02, 0.02), single=True)
    return resting(on, name, "house plant", fixed(parts), places=(place,))


def handle(front_m: float, at: tuple[float, float], length_m: float, colour: Colour, upright: bool) -> list[Part]:
    """A bar in front of a face with x = `front_m`; `at` is y and z of its middle, in the same frame."""
    y, z = at
    x = front_m + HANDLE_GAP_M
    turn = (0.0, 0.0, 0.0) if upright else (math.pi / 2, 0.0, 0.0)
    ends = [(0.0, sign * length_m / 2) if upright else (sign * length_m / 2, 0.0) for sign in (-1, 1)]
    return [
        cylinder(BAR_M, length_m + 2 * BAR_M, (x, y, z), colour, turn),
        *(box((HANDLE_GAP_M, 2 * BAR_M, 2 * BAR_M), (x - HANDLE_GAP_M / 2, y + dy, z + dz), colour) for dy, dz in ends),
    ]


def _knob(at: Vector, length_m: float, colour: Colour) -> tuple[Control, Joint]:
    """A knob with a bar along x on top, which turns about z."""
    tall = 0.034
    parts = (
        cylinder(0.018, 0.010, (0.0, 0.0, 0.005), colour),
        box((length_m, 0.014, tall), (0.0, 0.0, 0.008 + tall / 2), colour),
        box((length_m * 0.4, 0.004, 0.002), (length_m * 0.3, 0.0, 0.008 + tall + 0.001), (0.85, 0.1, 0.1)),
    )
    joint = Joint("knob", JointKind.HINGE, (0.0, 0.0, 1.0), at, (0.0, math.radians(60.0)), Link(parts, 0.1), _KNOB_NM)
    grip = (0.0, 0.0, 0.008 + tall - 0.010)
    return Control(ControlKind.KNOB, 0, grip, DOWN, KNOB_TURN / 2, KNOB_TURN), joint


def _footprint(width_m: float) -> tuple[float, float, float, float]:
    return (-DEPTH_M, 0.0, -width_m / 2, width_m / 2)


def _cabinet(width_m: float, height_m: float, colour: Colour) -> Part:
    """A closed box that stands on the floor, slightly behind the front."""
    return box((DEPTH_M - 0.02, width_m, height_m), (-DEPTH_M / 2 - 0.01, 0.0, height_m / 2), colour)

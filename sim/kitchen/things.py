"""What can be carried in a kitchen: vessels, food and tools, with their sizes, masses, materials and grasps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.kitchen.shapes import Assembly, Colour, Link, Part, Shape, Vector, box, cylinder, ellipsoid, ring


class Material(StrEnum):
    """What things are made of; it decides how they sound, break and warm up."""

    METAL = "metal"
    CERAMIC = "ceramic"
    GLASS = "glass"
    WOOD = "wood"
    PLASTIC = "plastic"
    FOOD = "food"
    SHELL = "shell"


class Form(StrEnum):
    """How a thing is built."""

    VESSEL = "vessel"
    """a floor and a ring of walls, open at the top"""
    BODY = "body"
    """an ellipsoid"""
    LOAF = "loaf"
    """a box with a crust on top"""
    BOTTLE = "bottle"
    """a wide cylinder with a neck"""
    KNIFE = "knife"
    """a handle along y and a blade whose edge is below"""


class GraspKind(StrEnum):
    """Where the fingers hold a thing."""

    SIDE = "side"
    """around its whole width, from the front"""
    RIM = "rim"
    """one wall between the fingers, from above"""
    HANDLE = "handle"
    """a handle that points outwards, from above"""


@dataclass(frozen=True)
class ThingKind:
    """What all things of a kind have in common.

    Attributes:
        name: noun of the household domain.
        form: how it is built.
        size: vessels and bottles: radius, radius, height; bodies: three half axes; loaves and knives: three sides;
            metres.
        mass_kg: when empty.
        material: what it is made of.
        colours: what colours it comes in.
        grasp: where it is held.
        handle_m: length of its handle; 0: it has none.
        wall_m: thickness of the walls of a vessel.
        latched: whether friction cannot hold it because it is thin or held by a handle; what both fingers touch is then
            held by a constraint that breaks above a force.
    """

    name: str
    form: Form
    size: Vector
    mass_kg: float
    material: Material
    colours: tuple[Colour, ...]
    grasp: GraspKind
    handle_m: float = 0.0
    wall_m: float = 0.004
    latched: bool = False

    @property
    def height_m(self) -> float:
        """Height when it stands."""
        return 2 * self.size[2] if self.form is Form.BODY else self.size[2]

    @property
    def radius_m(self) -> float:
        """Horizontal distance from its centre to its farthest point, without its handle."""
        if self.form in (Form.LOAF, Form.KNIFE):
            return math.hypot(self.size[0], self.size[1]) / 2
        return max(self.size[:2])

    @property
    def capacity_l(self) -> float:
        """Volume of the inside of a vessel or bottle, litres; 0 for what holds no liquid."""
        if self.form not in (Form.VESSEL, Form.BOTTLE):
            return 0.0
        return math.pi * (self.size[0] - self.wall_m) ** 2 * (self.size[2] - self.wall_m) * 1000.0


_STEEL: Colour = (0.55, 0.57, 0.60)
_BLACK: Colour = (0.13, 0.13, 0.14)
_WHITE: Colour = (0.95, 0.95, 0.93)
_BLUE: Colour = (0.20, 0.36, 0.70)
_RED: Colour = (0.75, 0.18, 0.16)
_GREEN: Colour = (0.25, 0.55, 0.30)
_YELLOW: Colour = (0.92, 0.75, 0.22)

_VESSEL, _BODY = Form.VESSEL, Form.BODY
_SIDE, _RIM, _HANDLE = GraspKind.SIDE, GraspKind.RIM, GraspKind.HANDLE

KINDS: Mapping[str, ThingKind] = {
    kind.name: kind
    for kind in (
        ThingKind("mug", _VESSEL, (0.036, 0.036, 0.095), 0.30, Material.CERAMIC, (_WHITE, _BLUE, _RED, _YELLOW),
                  _SIDE, 0.03, latched=True),
        ThingKind("cup", _VESSEL, (0.034, 0.034, 0.085), 0.20, Material.CERAMIC, (_WHITE, _GREEN, _YELLOW), _SIDE,
                  latched=True),
        ThingKind("glass", _VESSEL, (0.033, 0.033, 0.110), 0.22, Material.GLASS,
                  ((0.72, 0.82, 0.86), (0.66, 0.80, 0.72)), _SIDE, wall_m=0.003, latched=True),
        ThingKind("pot", _VESSEL, (0.085, 0.085, 0.100), 0.80, Material.METAL, (_STEEL, _RED, _BLUE), _RIM, 0.04,
                  wall_m=0.005, latched=True),
        ThingKind("kettle", _VESSEL, (0.070, 0.070, 0.130), 0.70, Material.METAL, (_STEEL, _WHITE), _RIM, 0.05,
                  wall_m=0.005, latched=True),
        ThingKind("pan", _VESSEL, (0.105, 0.105, 0.045), 0.70, Material.METAL, (_BLACK, (0.35, 0.2, 0.15)), _RIM,
                  0.15, wall_m=0.005, latched=True),
        ThingKind("bowl", _VESSEL, (0.075, 0.075, 0.060), 0.35, Material.CERAMIC, (_WHITE, _BLUE, _GREEN, _YELLOW),
                  _RIM, wall_m=0.005, latched=True),
        ThingKind("plate", _VESSEL, (0.100, 0.100, 0.022), 0.40, Material.CERAMIC, (_WHITE, _BLUE, _GREEN), _RIM,
                  wall_m=0.006, latched=True),
        ThingKind("bottle", Form.BOTTLE, (0.033, 0.033, 0.200), 0.45, Material.GLASS,
                  ((0.20, 0.38, 0.22), (0.45, 0.26, 0.12)), _SIDE, latched=True),
        ThingKind("egg", _BODY, (0.023, 0.023, 0.028), 0.06, Material.SHELL,
                  ((0.93, 0.85, 0.74), (0.80, 0.58, 0.42)), _SIDE),
        ThingKind("apple", _BODY, (0.034, 0.034, 0.033), 0.16, Material.FOOD, (_RED, (0.55, 0.70, 0.20)), _SIDE),
        ThingKind("tomato", _BODY, (0.032, 0.032, 0.028), 0.12, Material.FOOD, ((0.85, 0.16, 0.10),), _SIDE),
        ThingKind("potato", _BODY, (0.030, 0.045, 0.027), 0.17, Material.FOOD, ((0.66, 0.52, 0.32),), _SIDE),
        ThingKind("lettuce", _BODY, (0.036, 0.050, 0.036), 0.20, Material.FOOD, ((0.45, 0.72, 0.28),), _SIDE),
        ThingKind("bread", Form.LOAF, (0.066, 0.150, 0.060), 0.35, Material.FOOD, ((0.72, 0.50, 0.28),), _SIDE),
        ThingKind("knife", Form.KNIFE, (0.022, 0.240, 0.024), 0.12, Material.METAL, (_BLACK, (0.40, 0.25, 0.14)),
                  _HANDLE, latched=True),
    )
}  # fmt: skip
"""Every kind by its name."""


def discs(kind: ThingKind, x: float, y: float, yaw: float) -> list[tuple[float, float, float]]:
    """What a standing thing covers, seen from above: discs with their centres and radii, metres."""
    found = [(x, y, kind.radius_m)]
    if kind.handle_m > kind.radius_m:
        middle = kind.radius_m + kind.handle_m / 2
        found.append((x + middle * math.cos(yaw), y + middle * math.sin(yaw), kind.handle_m / 2))
    return found


def gap(first: list[tuple[float, float, float]], second: list[tuple[float, float, float]]) -> float:
    """Least distance between two sets of discs, metres; negative if they overlap."""
    return min(math.hypot(a - c, b - d) - r - s for a, b, r in first for c, d, s in second)


def kind_of(name: str) -> ThingKind:
    """A kind by its name.

    Raises:
        InvalidConfiguration: there is no such kind.
    """
    if name not in KINDS:
        raise InvalidConfiguration(f"expected a kind of thing, found {name!r}.{did_you_mean(name, KINDS)}")
    return KINDS[name]


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

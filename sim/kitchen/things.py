"""What can be carried in a kitchen: vessels, food and tools, with their sizes, masses, materials and grasps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nsrecover.errors import require_known
from sim.common.entries import read_entries
from sim.kitchen.shapes import Colour, Vector


class Material(StrEnum):
    """What things are made of; it decides how they sound, break and warm up."""

    METAL = "metal"
    CERAMIC = "ceramic"
    GLASS = "glass"
    WOOD = "wood"
    PLASTIC = "plastic"
    FOOD = "food"
    SHELL = "shell"


FRAGILE = (Material.GLASS, Material.CERAMIC, Material.SHELL)
"""What breaks when it falls."""


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
    BLOCK = "block"
    """a box"""
    SLICE = "slice"
    """a slab of food, cut across y"""
    LAPTOP = "laptop"
    """a base with a handle towards x, and a lid on a hinge"""


_BOXY = (Form.LOAF, Form.KNIFE, Form.BLOCK, Form.SLICE, Form.LAPTOP)


class GraspKind(StrEnum):
    """Where the fingers hold a thing."""

    SIDE = "side"
    """around its whole width, from the front"""
    RIM = "rim"
    """one wall between the fingers, from above"""
    HANDLE = "handle"
    """a handle that points outwards, from above"""
    ACROSS = "across"
    """across a side that fits between the fingers, from above, however it lies"""


@dataclass(frozen=True)
class ThingKind:
    """What all things of a kind have in common.

    Attributes:
        name: noun of the household domain.
        form: how it is built.
        size: vessels and bottles: radius, radius, height; bodies: three half axes; others: three sides; metres.
        mass_kg: when empty.
        material: what it is made of.
        colours: what colours it comes in.
        grasp: where it is held.
        handle_m: length of its handle; 0: it has none.
        wall_m: thickness of the walls of a vessel.
        taper: of round slices: radius at their -y and +y ends, relative to the widest; None: it is not round.
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
    taper: tuple[float, float] | None = None
    latched: bool = False

    @property
    def height_m(self) -> float:
        """Height when it stands."""
        return 2 * self.size[2] if self.form is Form.BODY else self.size[2]

    @property
    def halves(self) -> Vector:
        """Half of its extent along the three axes of its frame, without its handle, metres."""
        x, y, z = self.size
        if self.form in _BOXY:
            return (x / 2, y / 2, z / 2)
        return (x, y, self.height_m / 2)

    @property
    def radius_m(self) -> float:
        """Horizontal distance from its centre to its farthest point, without its handle."""
        if self.form in _BOXY:
            return math.hypot(self.size[0], self.size[1]) / 2
        return max(self.size[:2])

    @property
    def capacity_l(self) -> float:
        """Volume of the inside of a vessel or bottle, litres; 0 for what holds no liquid."""
        if self.form not in (Form.VESSEL, Form.BOTTLE):
            return 0.0
        return math.pi * (self.size[0] - self.wall_m) ** 2 * (self.size[2] - self.wall_m) * 1000.0


KINDS: Mapping[str, ThingKind] = {
    kind.name: kind for kind in read_entries(Path(__file__).with_suffix(".yaml"), ThingKind, "kinds")
}
"""Every kind that a kitchen can start with, by its name."""

CRUMB: Colour = (0.93, 0.84, 0.64)
FLESH: Mapping[str, Colour] = {
    "bread slice": CRUMB,
    "potato slice": (0.93, 0.86, 0.55),
    "tomato slice": (0.95, 0.45, 0.32),
    "apple slice": (0.96, 0.92, 0.72),
    "lettuce slice": (0.80, 0.90, 0.55),
}
"""Colours of what is cut, inside."""
_SLICES: Mapping[str, int] = {"bread": 5, "potato": 3, "tomato": 3, "apple": 3, "lettuce": 3}
"""Food that can be cut -> into how many slices."""
_DOME = 0.55
"""Radius of the outer end of an end piece, relative to the widest."""


def can_be_sliced(kind: ThingKind) -> bool:
    """Whether a knife cuts things of a kind into slices."""
    return kind.name in _SLICES


def slices_of(kind: ThingKind) -> list[tuple[ThingKind, float]]:
    """The kinds of the slices into which a thing is cut, and how far each is from its centre along y, metres."""
    count = _SLICES[kind.name]
    x, y, z = (2 * half for half in kind.halves)
    thick = y / count
    found = []
    for number in range(count):
        if kind.form is Form.LOAF:
            size, taper = (x, thick, z), None
        else:
            wide = (x + z) / 2
            size, taper = (wide, thick, wide), (_DOME if number == 0 else 1.0, _DOME if number == count - 1 else 1.0)
        slab = ThingKind(f"{kind.name} slice", Form.SLICE, size, kind.mass_kg / count, kind.material, kind.colours,
                         GraspKind.ACROSS, taper=taper, latched=True)  # fmt: skip
        found.append((slab, (number - (count - 1) / 2) * thick))
    return found


def half_extent(kind: ThingKind, vertical: npt.ArrayLike) -> float:
    """Half the extent of a thing along the vertical, however it lies; (3,) `vertical` is given in its frame."""
    along = np.abs(np.asarray(vertical, float))
    halves = np.asarray(kind.halves)
    if kind.form is Form.BODY:
        return float(np.linalg.norm(along * halves))
    if kind.form in _BOXY and kind.taper is None:
        return float(along @ halves)
    axis = 1 if kind.taper else 2
    return float(along[axis] * halves[axis] + math.sqrt(max(0.0, 1.0 - along[axis] ** 2)) * halves[0])


def discs(kind: ThingKind, x: float, y: float, yaw: float) -> list[tuple[float, float, float]]:
    """What a standing thing covers, seen from above: discs with their centres and radii, metres."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    if kind.form in _BOXY:
        wide, long, _ = kind.halves
        count = max(1, math.ceil(long / wide)) if kind.form is not Form.LAPTOP else 2
        step = 2 * long / count
        rows = [(step * (number - (count - 1) / 2), step / 2) for number in range(count)]
        columns = (-wide / 2, wide / 2) if kind.form is Form.LAPTOP else (0.0,)
        half = wide / 2 if kind.form is Form.LAPTOP else wide
        found = [
            (x + cos * across - sin * along, y + sin * across + cos * along, math.hypot(half, part))
            for along, part in rows
            for across in columns
        ]
        if kind.handle_m:
            out = wide + kind.handle_m / 2
            found.append((x + cos * out, y + sin * out, 0.06))
        return found
    found = [(x, y, kind.radius_m)]
    if kind.handle_m > kind.radius_m:
        middle = kind.radius_m + kind.handle_m / 2
        found.append((x + middle * cos, y + middle * sin, kind.handle_m / 2))
    return found


def gap(first: list[tuple[float, float, float]], second: list[tuple[float, float, float]]) -> float:
    """Least distance between two sets of discs, metres; negative if they overlap."""
    return min(math.hypot(a - c, b - d) - r - s for a, b, r in first for c, d, s in second)


def outline(kind: ThingKind, step_m: float) -> npt.NDArray[np.float64]:
    """Points (Q, 2) around a standing thing and along its handles, in its frame, about so far from each other."""
    wide, long, _ = kind.halves
    if kind.form in _BOXY:
        corners = np.array([[-wide, -long], [wide, -long], [wide, long], [-wide, long], [-wide, -long]])
    else:
        turns = np.linspace(0.0, 2 * math.pi, 25)
        corners = np.stack([wide * np.cos(turns), long * np.sin(turns)], axis=1)
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    at = np.linspace(0.0, way[-1], max(8, math.ceil(way[-1] / step_m)), endpoint=False)
    edge = np.stack([np.interp(at, way, corners[:, axis]) for axis in (0, 1)], axis=1)
    if not kind.handle_m:
        return edge
    out = wide + np.linspace(kind.handle_m, 0.0, math.ceil(kind.handle_m / step_m), endpoint=False)
    # a pot has a handle on either side
    sides = (1.0, -1.0) if kind.name == "pot" else (1.0,)
    return np.concatenate([edge, *(np.stack([side * out, np.zeros(len(out))], axis=1) for side in sides)])


def kind_of(name: str) -> ThingKind:
    """A kind by its name.

    Raises:
        InvalidConfiguration: there is no such kind.
    """
    require_known(name, KINDS, "a kind of thing")
    return KINDS[name]

"""What states look like: liquids as coloured surfaces, dirt as stains, flames, lamps, food that changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pybullet

from sim.common.rotations import quaternion_of
from sim.kitchen.assemblies import LID, ON_LID_M, SCREEN_SIZE_M
from sim.kitchen.devices import SCREEN_M, screen_of
from sim.kitchen.fixtures import ControlKind
from sim.kitchen.furniture import SOIL_M, soil_of
from sim.kitchen.physics import KitchenPhysics
from sim.kitchen.shapes import Assembly, Colour, Link, Part, Shape, create_body
from sim.kitchen.states import ObjectState
from sim.kitchen.things import FRAGILE, Form, Material, ThingKind, half_extent

LIQUID_COLOURS: Mapping[str, Colour] = {
    "water": (0.45, 0.68, 0.90),
    "coffee": (0.20, 0.11, 0.06),
    "wine": (0.42, 0.03, 0.14),
    "milk": (0.97, 0.96, 0.92),
    "tea": (0.62, 0.33, 0.10),
    "juice": (0.95, 0.62, 0.12),
    "soup": (0.80, 0.45, 0.20),
}
"""Clear water would be invisible to the renderer; it is shown light blue."""
_WET: Colour = (0.11, 0.07, 0.05)
_TINT = 0.3
"""Wet soil, and the share of the colour of what it is wet with."""
_STAIN: Colour = (0.36, 0.24, 0.10)
_GLOW: Colour = (1.0, 0.35, 0.08)
_OFF: Colour = (0.16, 0.16, 0.18)
_STREAM: Colour = (0.60, 0.78, 0.95)
_BROWN: Colour = (0.55, 0.33, 0.12)
_BLACK: Colour = (0.08, 0.06, 0.05)
_YOLK: Colour = (0.98, 0.80, 0.25)
_LAMP: Colour = (1.0, 0.75, 0.10)
_UNLIT: Colour = (0.25, 0.30, 0.28)
_WIRES: Colour = (0.45, 0.46, 0.48)
_AWAY = [0.0, 0.0, -40.0]


class Visuals:
    """Markers without physics that show the states of a kitchen to its cameras.

    Attributes:
        owners: body number of a marker -> name of the thing whose state it shows.
    """

    def __init__(self, physics: KitchenPhysics) -> None:
        self._physics, self._client = physics, physics.client
        self.owners: dict[int, str] = {}
        self._liquids = {
            name: self._marker(name, Part(Shape.CYLINDER, (_inside(spec.kind), _inside(spec.kind), 0.003)))
            for name, spec in physics.things.items()
            if spec.kind.form is Form.VESSEL
        }
        self._soils = {
            name: self._marker(name, Part(Shape.CYLINDER, (SOIL_M, SOIL_M, 0.003)))
            for name, fixture in physics.fixtures.items()
            if fixture.kind == "house plant"
        }
        self._stains = {
            name: [
                self._marker(name, Part(Shape.CYLINDER, (0.32 * spec.kind.size[0],) * 2 + (0.002,), colour=_STAIN)),
                self._marker(name, Part(Shape.BOX, (0.3 * spec.kind.size[0], 0.004, 0.4 * spec.kind.size[2]),
                                        colour=_STAIN)),
            ]
            for name, spec in physics.things.items()
            if spec.kind.form is Form.VESSEL
        }  # fmt: skip
        self._streams = {
            name: self._marker(name, Part(Shape.CYLINDER, (0.006, 0.006, 0.30), (0.0, 0.0, -0.15), _STREAM))
            for name, fixture in physics.fixtures.items()
            if fixture.stream is not None
        }
        self._screens = {name: self._screen(name) for name in self._with_screens()}
        self._shards = {
            name: self._marker(name, *_shards(spec.kind, spec.colour))
            for name, spec in physics.things.items()
            if spec.kind.material in FRAGILE
        }
        self._colours: dict[str, Colour] = {}

    def update(self, states: Mapping[str, ObjectState]) -> None:
        """Show these states."""
        for name, marker in self._liquids.items():
            self._show_liquid(name, marker, states[name])
        for name, marker in self._soils.items():
            self._show_soil(name, marker, states[name])
        for name, (floor, wall) in self._stains.items():
            self._show_stains(name, floor, wall, states[name])
        for name, marker in self._streams.items():
            fixture = self._physics.fixtures[name]
            place = fixture.to_world(fixture.stream or _AWAY) if states[name].on else np.asarray(_AWAY)
            self._move(marker, place)
        for name, marker in self._screens.items():
            self._show_screen(name, marker, states[name])
        for name, fixture in self._physics.fixtures.items():
            if fixture.kind == "toaster" and fixture.switch is not None:
                # the wires around the slot glow
                self._paint(name, _GLOW if states[name].on else _WIRES, fixture.switch.joint)
            elif fixture.kind == "stove burner":
                self._paint(name, _GLOW if states[name].on else _OFF)
            elif fixture.switch is not None and fixture.switch.kind is ControlKind.BUTTON:
                self._paint(name, _LAMP if states[name].on else _UNLIT, fixture.switch.joint)
        for name, spec in self._physics.things.items():
            state = states[name]
            if state.cracked and not state.cooked:
                self._paint(name, _YOLK)
            if state.cooked > 0.0:
                target = _BROWN if state.cooked <= 1.0 else _BLACK
                share = state.cooked if state.cooked <= 1.0 else state.cooked - 1.0
                start = spec.colour if state.cooked <= 1.0 else _BROWN
                self._paint(name, _mixed(start, target, min(1.0, share)))
        for name, marker in self._shards.items():
            if states[name].broken:
                self._show_shards(name, marker)

    def _with_screens(self) -> Iterator[str]:
        yield from (name for name, fixture in self._physics.fixtures.items() if fixture.kind == "television")
        yield from (name for name, spec in self._physics.things.items() if spec.kind.form is Form.LAPTOP)

    def _screen(self, name: str) -> int:
        """What a screen shows: a sky, a meadow and a sun on a television, a window with lines on a laptop."""
        fixture = self._physics.fixtures.get(name)
        if fixture is not None:
            wide, high = SCREEN_M
            return self._marker(
                name,
                Part(Shape.BOX, (0.002, wide, 0.6 * high), (0.001, 0.0, 0.2 * high), (0.35, 0.65, 1.0)),
                Part(Shape.BOX, (0.002, wide, 0.4 * high), (0.001, 0.0, -0.3 * high), (0.30, 0.85, 0.30)),
                Part(Shape.BOX, (0.004, 0.1, 0.1), (0.001, 0.2 * wide, 0.3 * high), (1.0, 0.95, 0.4)),
            )
        deep, wide = SCREEN_SIZE_M
        return self._marker(
            name,
            Part(Shape.BOX, (deep, wide, 0.001), colour=(0.75, 0.85, 1.0)),
            Part(Shape.BOX, (0.14 * deep, 0.8 * wide, 0.002), (0.3 * deep, 0.0, 0.0), (0.20, 0.40, 0.90)),
        )

    def _show_screen(self, name: str, marker: int, state: ObjectState) -> None:
        fixture = self._physics.fixtures.get(name)
        if not state.on:
            self._move(marker, np.asarray(_AWAY))
        elif fixture is not None:
            self._move(marker, fixture.to_world(screen_of(fixture)), fixture.rotation())
        else:
            place, rotation = self._physics.link_point(name, LID.joint, ON_LID_M)
            self._move(marker, place, rotation)

    def _show_liquid(self, name: str, marker: int, state: ObjectState) -> None:
        kind = self._physics.things[name].kind
        if state.volume_l <= 0.0:
            self._move(marker, np.asarray(_AWAY))
            return
        self._tint(name, marker, LIQUID_COLOURS[state.liquid])
        level = kind.wall_m + state.volume_l / 1000.0 / (np.pi * (kind.size[0] - kind.wall_m) ** 2)
        position, rotation = self._physics.pose(name)
        self._move(marker, position + rotation @ [0.0, 0.0, level - kind.size[2] / 2], rotation)

    def _show_soil(self, name: str, marker: int, state: ObjectState) -> None:
        """Wet soil is dark, with a tint of what was poured on it."""
        if state.volume_l <= 0.0:
            self._move(marker, np.asarray(_AWAY))
            return
        self._tint(name, marker, _mixed(_WET, LIQUID_COLOURS[state.liquid], _TINT))
        self._move(marker, self._physics.fixtures[name].to_world(soil_of(self._physics.fixtures[name])))

    def _tint(self, name: str, marker: int, colour: Colour) -> None:
        """Give the marker of a liquid its colour, if it has another one."""
        if self._colours.get(f"{name} liquid") != colour:
            self._colours[f"{name} liquid"] = colour
            pybullet.changeVisualShape(marker, -1, rgbaColor=[*colour, 1.0], physicsClientId=self._client)

    def _show_stains(self, name: str, floor: int, wall: int, state: ObjectState) -> None:
        if not state.dirty:
            for marker in (floor, wall):
                self._move(marker, np.asarray(_AWAY))
            return
        kind = self._physics.things[name].kind
        position, rotation = self._physics.pose(name)
        radius, _, height = kind.size
        self._move(
            floor, position + rotation @ [0.3 * radius, -0.2 * radius, kind.wall_m - height / 2 + 0.002], rotation
        )
        self._move(wall, position + rotation @ [0.0, radius + 0.001, 0.1 * height], rotation)

    def _show_shards(self, name: str, marker: int) -> None:
        """Shards where the thing, which is no longer shown, rests."""
        position, rotation = self._physics.pose(name)
        low = half_extent(self._physics.things[name].kind, rotation[2])
        self._move(marker, position - [0.0, 0.0, low])
        if self._colours.get(f"{name} shards") is None:
            self._colours[f"{name} shards"] = _STAIN
            body = self._physics.body(name)
            pybullet.changeVisualShape(body, -1, rgbaColor=[0.0] * 4, physicsClientId=self._client)

    def _paint(self, name: str, colour: Colour, link: int = -1) -> None:
        if self._colours.get(name) != colour:
            self._colours[name] = colour
            body = self._physics.body(name)
            pybullet.changeVisualShape(body, link, rgbaColor=[*colour, 1.0], physicsClientId=self._client)

    def _marker(self, owner: str, *parts: Part) -> int:
        shown = tuple(replace(part, solid=False) for part in parts)
        body = create_body(self._client, Assembly(Link(shown, 0.0)), (0.0, 0.0, -40.0), fixed=True)
        self.owners[body] = owner
        return body

    def _move(self, marker: int, position: np.ndarray, rotation: np.ndarray | None = None) -> None:
        turn = [0.0, 0.0, 0.0, 1.0] if rotation is None else quaternion_of(rotation).tolist()
        pybullet.resetBasePositionAndOrientation(marker, position.tolist(), turn, physicsClientId=self._client)


def _inside(kind: ThingKind) -> float:
    """Radius of the largest disc inside the walls of a vessel."""
    return kind.size[0] - kind.wall_m


def _shards(kind: ThingKind, colour: Colour) -> tuple[Part, ...]:
    """Pieces of a thing around its place on what it fell on; of an egg, its yolk as well."""
    radius, thick = kind.radius_m, max(kind.wall_m, 0.004)
    rings = [(0.3 * radius, 0.0), (0.8 * radius, 0.4), (1.3 * radius, 1.1)]
    pieces = [
        Part(Shape.BOX, (0.8 * radius, 0.5 * radius, thick), (away * math.cos(turn), away * math.sin(turn), thick),
             colour, (0.25 * math.sin(3 * turn), 0.25 * math.cos(2 * turn), 2.0 * turn))
        for number, (away, start) in enumerate(rings)
        for turn in (start + 2 * math.pi * side / (2 + number) for side in range(2 + number))
    ]  # fmt: skip
    yolk = Part(Shape.CYLINDER, (radius, radius, 0.003), (0.0, 0.0, 0.002), _YOLK)
    return (*pieces, yolk) if kind.material is Material.SHELL else tuple(pieces)


def _mixed(first: Colour, second: Colour, share: float) -> Colour:
    a, b, c = (one + share * (two - one) for one, two in zip(first, second, strict=True))
    return (a, b, c)

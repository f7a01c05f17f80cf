"""Things of 2 to 40 cm whose looks have states, and how cameras see them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pybullet
from scipy import ndimage

from nsrecover.core.observation import Observation
from sim.common.cameras import CameraRig, Light, take_picture
from sim.tabletop.objects import create_table
from sim.tabletop.scenes import TableSpec, Texture
from sim.tabletop.textures import paint, picture

Colour = tuple[float, float, float]
Pose = npt.NDArray[np.float64]

RIG = CameraRig(width=640, height=480)
RELIEF_M, PIXELS = 0.0006, 128
SOIL, INSIDE = np.array([0.30, 0.20, 0.08]), (0.16, 0.15, 0.14, 1.0)


class Shape(StrEnum):
    """What a thing is."""

    BLOCK = "block"
    ROUND = "round"
    BOX = "box"
    """It can be opened."""
    VESSEL = "vessel"
    """It can be filled."""


class State(StrEnum):
    """What can be seen of a thing and not felt."""

    DIRTY = "dirty"
    BROKEN = "broken"
    OPEN = "open"
    FULL = "full"


@dataclass(frozen=True)
class Thing:
    """An object.

    Attributes:
        identity: no other object has it.
        shape: what it is.
        size: sides in its own frame, metres.
        colour: red, green, blue in 0..1.
        texture: of its surface.
        position: x and y of its centre, metres.
        yaw: rotation about the vertical, radians.
        states: those that differ from the ordinary ones.
    """

    identity: int
    shape: Shape
    size: tuple[float, float, float]
    colour: Colour
    texture: Texture
    position: tuple[float, float]
    yaw: float
    states: frozenset[State] = frozenset()

    @property
    def box(self) -> npt.NDArray[np.float64]:
        """The box around it: centre and size (6,)."""
        length, width, height = self.size
        cos, sin = abs(math.cos(self.yaw)), abs(math.sin(self.yaw))
        if self.shape in (Shape.ROUND, Shape.VESSEL):
            cos, sin = 1.0, 0.0
        return np.array([*self.position, height / 2, cos * length + sin * width, sin * length + cos * width, height])

    @property
    def possible(self) -> tuple[State, ...]:
        """The states that it can have."""
        special = {Shape.BOX: (State.OPEN,), Shape.VESSEL: (State.FULL,)}.get(self.shape, ())
        return (State.DIRTY, State.BROKEN, *special)

    def create(self, client: int) -> None:
        """Create its bodies in a physics client; an inset is one of its own."""
        length, width, height = self.size
        self._shown(client, (length / 2, width / 2, height / 2), (1.0, 1.0, 1.0, 1.0), height / 2)
        paint(client, pybullet.getNumBodies(physicsClientId=client) - 1, surface(self))
        inset = _inset(self)
        if inset is not None:
            self._shown(client, (*inset[0], RELIEF_M), inset[1], height)

    def _shown(self, client: int, half: tuple[float, float, float], colour: Sequence[float], z: float) -> None:
        kind: dict[str, Any] = {"shapeType": pybullet.GEOM_BOX, "halfExtents": half}
        if self.shape in (Shape.ROUND, Shape.VESSEL):
            kind = {"shapeType": pybullet.GEOM_CYLINDER, "radius": half[0], "length": 2 * half[2]}
        shape = pybullet.createVisualShape(rgbaColor=colour, specularColor=[0.1] * 3, physicsClientId=client, **kind)
        turned = pybullet.getQuaternionFromEuler([0, 0, self.yaw])
        pybullet.createMultiBody(0, -1, shape, [*self.position, z], turned, physicsClientId=client)


def surface(thing: Thing) -> npt.NDArray[np.uint8]:
    """The image of a thing's surface (PIXELS, PIXELS, 3)."""
    rng = np.random.default_rng([thing.identity, 1])
    image = picture(thing.texture, thing.colour, rng, PIXELS) / 255.0
    if State.DIRTY in thing.states:
        cloud = ndimage.gaussian_filter(rng.standard_normal((PIXELS, PIXELS)), 9, mode="wrap")
        share = (cloud > np.quantile(cloud, rng.uniform(0.55, 0.75)))[..., None] * rng.uniform(0.7, 0.95)
        soil = SOIL if np.abs(SOIL - thing.colour).sum() > 0.5 else 2.2 * SOIL
        image = (1 - share) * image + share * soil
    if State.BROKEN in thing.states:
        crack = np.zeros((PIXELS, PIXELS), bool)
        for _ in range(3):
            start, way = rng.uniform(0, PIXELS, 2), rng.uniform(0, 2 * math.pi)
            for _ in range(150):
                way += rng.normal(0, 0.25)
                start = (start + np.array([math.cos(way), math.sin(way)])) % PIXELS
                crack[int(start[0]), int(start[1])] = True
        dark = np.mean(thing.colour) > 0.35
        image[ndimage.binary_dilation(crack, iterations=3)] = 0.04 if dark else 0.9
    return np.asarray(np.clip(255 * image, 0, 255), np.uint8)


def _inset(thing: Thing) -> tuple[tuple[float, float], tuple[float, ...]] | None:
    """Half sides and colour of what is drawn on the top: the inside of a box or vessel; None if there is none."""
    length, width, _ = thing.size
    if thing.shape is Shape.VESSEL:
        full = State.FULL in thing.states
        liquid = (*np.random.default_rng([thing.identity, 2]).uniform(0.2, 1.0, 3), 1.0)
        return (0.42 * length, 0.42 * width), liquid if full else INSIDE
    if thing.shape is Shape.BOX and State.OPEN in thing.states:
        return (0.43 * length, 0.43 * width), INSIDE
    return None


class Body(Protocol):
    """What can stand on a table."""

    def create(self, client: int) -> None:
        """Create its bodies in a physics client."""
        ...


class Table:
    """Things on a table, to be seen; a context manager."""

    def __init__(self, things: Sequence[Body], table: TableSpec, light: Light, seed: int) -> None:
        """Build the scene.

        Args:
            things: what stands on the table.
            table: the table.
            light: how it is lit.
            seed: of the table's texture.
        """
        self.things, self.light = tuple(things), light
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=self.client)
        create_table(self.client, table, seed)
        self._numbers = {0: 0}
        for index, thing in enumerate(self.things):
            first = pybullet.getNumBodies(physicsClientId=self.client)
            thing.create(self.client)
            for body in range(first, pybullet.getNumBodies(physicsClientId=self.client)):
                self._numbers[body] = index + 1

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *_: object) -> None:
        pybullet.disconnect(physicsClientId=self.client)

    def observe(self, offsets: Sequence[Pose | None] | None = None, time_s: float = 0.0) -> Observation:
        """What exact cameras see; instance numbers are those of the things from 1, without labels."""
        moved = offsets or [None] * len(RIG.views)
        pictures = [
            take_picture(self.client, view, RIG.width, RIG.height, self.light, offset)
            for view, offset in zip(RIG.views, moved, strict=True)
        ]
        number = np.zeros(max(self._numbers) + 2, np.int32)
        for body, index in self._numbers.items():
            number[body] = index
        return Observation(
            rgb=np.stack([each.rgb for each in pictures]),
            depth_m=np.stack([each.depth_m for each in pictures]),
            instances=np.stack([number[each.bodies] for each in pictures]),
            cameras=tuple(view.camera(RIG.width, RIG.height) for view in RIG.views),
            labels={},
            time_s=time_s,
        )

    def named(self, offsets: Sequence[Pose | None] | None = None) -> Observation:
        """The same with a name for each thing, "object 1" and so on."""
        names = {index + 1: f"object {index + 1}" for index in range(len(self.things))}
        return replace(self.observe(offsets), labels=names)

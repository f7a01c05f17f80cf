"""Outlines of objects as unions of convex polygons, and whether they touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pybullet

Array = npt.NDArray[np.float64]

CORNERS = 16
"""Corners of the outline of something round, which they enclose."""


class Form(StrEnum):
    """What an object looks like from above."""

    BAR = "bar"
    CORNER = "corner"
    CHANNEL = "channel"
    CRATE = "crate"
    CROSS = "cross"
    CUP = "cup"
    """Round, with a handle."""


@dataclass(frozen=True)
class Solid:
    """An object of the same outline at every height.

    Attributes:
        form: what it looks like from above.
        sides: in its own frame, metres.
        height: metres.
        wall: thickness of its walls or arms, metres.
        colour: red, green, blue in 0..1.
        place: x, y and yaw.
    """

    form: Form
    sides: tuple[float, float]
    height: float
    wall: float
    colour: tuple[float, float, float]
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def _bars(self) -> list[tuple[float, float, float, float]]:
        """Centre and sides of its rectangles, in its own frame."""
        (length, width), wall = self.sides, self.wall
        x, y = (length - wall) / 2, (width - wall) / 2
        low, left, right, high = (0, -y, length, wall), (-x, 0, wall, width), (x, 0, wall, width), (0, y, length, wall)
        match self.form:
            case Form.BAR:
                return [(0, 0, length, width)]
            case Form.CORNER:
                return [low, left]
            case Form.CHANNEL:
                return [low, left, right]
            case Form.CRATE:
                return [low, left, right, high]
            case Form.CROSS:
                return [(0, 0, length, wall), (0, 0, wall, width)]
        return [((length + width) / 4, 0, (length - width) / 2 + wall, wall)]  # the handle; the round part is no bar

    def outline(self, at: npt.ArrayLike | None = None) -> list[Array]:
        """Convex polygons (E, 2), counter-clockwise, metres, whose union it covers.

        Args:
            at: (2,) another place of its centre.
        """
        parts = [
            np.array([(x - a / 2, y - b / 2), (x + a / 2, y - b / 2), (x + a / 2, y + b / 2), (x - a / 2, y + b / 2)])
            for x, y, a, b in self._bars()
        ]
        if self.form is Form.CUP:
            turns = 2 * math.pi * np.arange(CORNERS) / CORNERS
            radius = self.sides[1] / 2
            around = np.stack([np.cos(turns), np.sin(turns)], axis=1) * radius / math.cos(math.pi / CORNERS)
            parts.append(around - [(self.sides[0] - self.sides[1]) / 4, 0])
        cos, sin = math.cos(self.place[2]), math.sin(self.place[2])
        middle = np.array(self.place[:2] if at is None else at, float)
        return [part @ np.array([[cos, sin], [-sin, cos]]) + middle for part in parts]

    @property
    def box(self) -> Array:
        """The box around it: centre and size (6,)."""
        points = np.concatenate(self.outline())
        low, high = points.min(axis=0), points.max(axis=0)
        return np.array([*(low + high) / 2, self.height / 2, *(high - low), self.height])

    def create(self, client: int) -> None:
        """Create its bodies in a physics client."""
        cos, sin = math.cos(self.place[2]), math.sin(self.place[2])
        shapes = [((x, y), {"shapeType": pybullet.GEOM_BOX, "halfExtents": [a / 2, b / 2, self.height / 2]})
                  for x, y, a, b in self._bars()]  # fmt: skip
        if self.form is Form.CUP:
            tall = {"shapeType": pybullet.GEOM_CYLINDER, "radius": self.sides[1] / 2, "length": self.height}
            shapes.append(((-(self.sides[0] - self.sides[1]) / 4, 0.0), tall))
        for (x, y), kind in shapes:
            shape = pybullet.createVisualShape(
                rgbaColor=[*self.colour, 1.0], specularColor=[0.1] * 3, physicsClientId=client, **kind
            )
            at = [self.place[0] + cos * x - sin * y, self.place[1] + sin * x + cos * y, self.height / 2]
            turned = pybullet.getQuaternionFromEuler([0, 0, self.place[2]])
            pybullet.createMultiBody(0, -1, shape, at, turned, physicsClientId=client)


def barriers(moved: Sequence[Array], taken: Sequence[Array]) -> tuple[Array, Array, npt.NDArray[np.intp]]:
    """Half-planes of the shifts with which an outline touches others: of each pair of parts, their Minkowski sum.

    Args:
        moved: convex parts, where they are without a shift.
        taken: convex parts of everything else, at least one.

    Returns:
        Outer normals (E, 2), offsets (E,), and where the half-planes of each pair start (K,): a shift touches a pair if
        it is inside all its half-planes.
    """
    normals, offsets, starts, count = list[Array](), list[Array](), [0], 0
    for own in moved:
        mine = _normals(own)
        for other in taken:
            both = np.concatenate([_normals(other), -mine])
            normals.append(both)
            offsets.append((other @ both.T).max(axis=0) - (own @ both.T).min(axis=0))
            count += len(both)
            starts.append(count)
    return np.concatenate(normals), np.concatenate(offsets), np.array(starts[:-1])


def clearance(shifts: Array, found: tuple[Array, Array, npt.NDArray[np.intp]]) -> Array:
    """Smallest gap along the normals of edges (P,), metres, that shifts (P, 2) leave; below 0: an overlap."""
    normals, offsets, starts = found
    return np.asarray(np.maximum.reduceat(shifts @ normals.T - offsets, starts, axis=1).min(axis=1))


def _normals(polygon: Array) -> Array:
    edges = np.roll(polygon, -1, axis=0) - polygon
    return np.asarray(np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1, keepdims=True))

"""What stands on the table at the start of an episode, as data: written to JSON, read back, and checked to fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

import numpy as np

from nsrecover.errors import InvalidConfiguration, UnknownObject, did_you_mean

WORKSPACE_X_M = (0.30, 0.75)
"""Where object centres may be, seen from the robot base: depth."""
WORKSPACE_Y_M = (-0.35, 0.35)
"""Where object centres may be: breadth."""
SIDE_RANGE_M = (0.02, 0.07)
"""Sides an object may have: the gripper opens 80 mm and its fingertips need 20 mm of height."""

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (0.85, 0.10, 0.10),
    "green": (0.10, 0.60, 0.15),
    "blue": (0.10, 0.20, 0.85),
    "yellow": (0.95, 0.85, 0.10),
    "cyan": (0.10, 0.80, 0.85),
    "magenta": (0.85, 0.15, 0.75),
    "white": (0.95, 0.95, 0.95),
    "orange": (0.95, 0.50, 0.05),
}
"""Colour name -> red, green, blue in 0..1."""


class ObjectKind(StrEnum):
    """What an object looks like; physically all of them are boxes."""

    CUBE = "cube"
    DIE = "die"
    LEGO = "lego"


@dataclass(frozen=True)
class ObjectSpec:
    """One object, standing on the table.

    Attributes:
        name: how plans call it, e.g. "red cube".
        kind: what it looks like.
        colour: a key of `COLOURS`.
        size: its sides in metres, in its own frame. A lego's second and third side are equal, so that it has the same
            box when it rolls onto another long face.
        position: x and y of its centre, metres.
        yaw: rotation about the vertical, radians.
    """

    name: str
    kind: ObjectKind
    colour: str
    size: tuple[float, float, float]
    position: tuple[float, float]
    yaw: float = 0.0

    def corners(self) -> np.ndarray:
        """The four corners of its footprint, (4, 2), metres, counter-clockwise."""
        half = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array(self.size[:2]) / 2
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return half @ np.array([[cos, sin], [-sin, cos]]) + np.array(self.position)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.name,
            "kind": str(self.kind),
            "colour": self.colour,
            "size": list(self.size),
            "position": list(self.position),
            "yaw": self.yaw,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ObjectSpec:
        """The inverse of `to_dict`.

        Raises:
            InvalidConfiguration: a field is missing or the kind is unknown.
        """
        try:
            return cls(
                name=str(data["name"]),
                kind=ObjectKind(data["kind"]),
                colour=str(data["colour"]),
                size=tuple(float(side) for side in data["size"]),  # type: ignore[arg-type]
                position=tuple(float(value) for value in data["position"]),  # type: ignore[arg-type]
                yaw=float(data["yaw"]),
            )
        except KeyError as error:
            raise InvalidConfiguration(
                f"expected an object with name, kind, colour, size, position and yaw, found no {error} in {dict(data)}"
            ) from None
        except (TypeError, ValueError) as error:
            raise InvalidConfiguration(f"object {data.get('name')!r} cannot be read: {error}") from None


@dataclass(frozen=True)
class SceneSpec:
    """All objects of a scene at its start.

    Attributes:
        objects: none may overlap another one or lie outside the workspace; see `check`.
        seed: what it was sampled from, for the record.
    """

    objects: tuple[ObjectSpec, ...]
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Object names, in order."""
        return tuple(item.name for item in self.objects)

    def __getitem__(self, name: str) -> ObjectSpec:
        """The object of that name.

        Raises:
            UnknownObject: there is none.
        """
        for item in self.objects:
            if item.name == name:
                return item
        raise UnknownObject(f"expected an object of the scene, found {name!r}.{did_you_mean(name, self.names)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"objects": [item.to_dict() for item in self.objects], "seed": self.seed}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SceneSpec:
        """The inverse of `to_dict`.

        Raises:
            InvalidConfiguration: a field is missing.
        """
        if "objects" not in data:
            raise InvalidConfiguration(f"expected a scene with a list of objects, found the keys {sorted(data)}")
        return cls(tuple(ObjectSpec.from_dict(item) for item in data["objects"]), int(data.get("seed", 0)))

    def check(self) -> None:
        """Check that the scene can be built.

        Raises:
            InvalidConfiguration: an object has an impossible size, colour, place or name; the message says which.
        """
        if not self.objects:
            raise InvalidConfiguration("expected at least one object in a scene, found none")
        if len(set(self.names)) != len(self.names):
            raise InvalidConfiguration(f"expected different object names, found {list(self.names)}")
        for item in self.objects:
            _check_object(item)
        for first, second in combinations(self.objects, 2):
            if footprint_gap(first, second) <= 0.0:
                raise InvalidConfiguration(
                    f"the {second.name} does not fit at {_place(second)}: it overlaps the {first.name} at "
                    f"{_place(first)}; move one of them"
                )


def _place(item: ObjectSpec) -> str:
    return f"({item.position[0]:.3f}, {item.position[1]:.3f})"


def _check_object(item: ObjectSpec) -> None:
    if item.colour not in COLOURS:
        raise InvalidConfiguration(
            f"the {item.name} has the colour {item.colour!r}.{did_you_mean(item.colour, COLOURS)}"
        )
    if len(item.size) != 3 or not all(SIDE_RANGE_M[0] <= side <= SIDE_RANGE_M[1] for side in item.size):
        raise InvalidConfiguration(
            f"the {item.name} does not fit the gripper: expected three sides of {SIDE_RANGE_M[0]} to "
            f"{SIDE_RANGE_M[1]} m, found {item.size}"
        )
    inside = all(
        low <= value <= high for value, (low, high) in zip(item.position, (WORKSPACE_X_M, WORKSPACE_Y_M), strict=True)
    )
    if not inside:
        raise InvalidConfiguration(
            f"the {item.name} does not fit on the table: expected x in {WORKSPACE_X_M} and y in {WORKSPACE_Y_M}, "
            f"found {_place(item)}"
        )


def footprint_gap(first: ObjectSpec, second: ObjectSpec) -> float:
    """Widest gap between the footprints of two objects along any of their edge normals, metres; negative: overlap."""
    corners = first.corners(), second.corners()
    gap = -math.inf
    for yaw in (first.yaw, first.yaw + math.pi / 2, second.yaw, second.yaw + math.pi / 2):
        axis = np.array([math.cos(yaw), math.sin(yaw)])
        a, b = corners[0] @ axis, corners[1] @ axis
        gap = max(gap, float(a.min() - b.max()), float(b.min() - a.max()))
    return gap

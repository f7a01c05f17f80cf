"""The scene at the start of an episode as data, with JSON conversion and checks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration, UnknownObject, did_you_mean
from sim.common.rounding import rounded
from sim.tabletop.imprecision import Imprecision

Array = npt.NDArray[np.float64]

WORKSPACE_X_M = (0.30, 0.75)
"""Range of object centres on the default table along x, away from the robot base."""
WORKSPACE_Y_M = (-0.35, 0.35)
"""Range of object centres on the default table along y."""
TABLE_LIMIT_X_M = (0.20, 1.20)
"""Limits of a workspace along x."""
TABLE_LIMIT_Y_M = (-0.80, 0.80)
"""Limits of a workspace along y."""
SIDE_RANGE_M = (0.02, 0.07)
"""Allowed sides of objects: the gripper opens 80 mm and its fingertips need 20 mm of height."""
LONGEST_M = 0.14
"""Longest side of an object that is no box; the gripper takes it by a shorter one."""

COLOURS: dict[str, tuple[float, float, float]] = {
    "red": (0.85, 0.10, 0.10),
    "green": (0.10, 0.60, 0.15),
    "blue": (0.10, 0.20, 0.85),
    "yellow": (0.95, 0.85, 0.10),
    "cyan": (0.10, 0.80, 0.85),
    "magenta": (0.85, 0.15, 0.75),
    "white": (0.95, 0.95, 0.95),
    "orange": (0.95, 0.50, 0.05),
    "purple": (0.45, 0.15, 0.70),
    "brown": (0.45, 0.26, 0.12),
    "pink": (0.98, 0.65, 0.75),
    "grey": (0.50, 0.50, 0.52),
    "black": (0.10, 0.10, 0.11),
    "lime": (0.65, 0.90, 0.15),
    "navy": (0.06, 0.08, 0.35),
    "teal": (0.05, 0.45, 0.45),
}
"""Colour name -> red, green, blue in 0..1."""

Span = tuple[float, float]
"""Lowest and highest value."""


class ObjectKind(StrEnum):
    """What an object is. Cubes, dice and lego bricks are boxes; `sim.tabletop.shapes` has the others."""

    CUBE = "cube"
    DIE = "die"
    LEGO = "lego"
    CYLINDER = "cylinder"
    """It stands on its end."""
    MUG = "mug"
    """A vessel with a handle along its x axis."""
    BOTTLE = "bottle"
    """A wide cylinder with a neck."""
    BLOB = "blob"
    """One of the 1,000 `random_urdfs` of pybullet_data, on the face on which it stands best."""


BOX_KINDS = (ObjectKind.CUBE, ObjectKind.DIE, ObjectKind.LEGO)
"""Kinds whose bodies are boxes."""
FLAT_KINDS = (*BOX_KINDS, ObjectKind.CYLINDER)
"""Kinds on which other objects can stand."""
NUM_BLOBS = 1000
"""How many `random_urdfs` there are."""


def kind_of(name: str) -> ObjectKind:
    """The kind of objects with this name.

    Raises:
        InvalidConfiguration: there is no such kind.
    """
    try:
        return ObjectKind(name)
    except ValueError:
        raise InvalidConfiguration(
            f"expected a kind of object, found {name!r}.{did_you_mean(str(name), map(str, ObjectKind))}"
        ) from None


class Texture(StrEnum):
    """Texture of a surface; the images are computed, see `sim.tabletop.textures`."""

    PLAIN = "plain"
    """One colour, no texture."""
    WOOD = "wood"
    """Rings and grain."""
    CHECKER = "checker"
    """Light and dark squares."""
    SPECKLE = "speckle"
    """Fine grains, like terrazzo."""


def texture_of(name: str) -> Texture:
    """The texture with this name.

    Raises:
        InvalidConfiguration: there is no such texture.
    """
    try:
        return Texture(name)
    except ValueError:
        raise InvalidConfiguration(
            f"expected a texture, found {name!r}.{did_you_mean(str(name), map(str, Texture))}"
        ) from None


@dataclass(frozen=True)
class TableSpec:
    """The table and its workspace.

    The arm's reach does not change: on a larger table it cannot reach all places.

    Attributes:
        x_m: range of object centres along x, away from the robot base.
        y_m: range of object centres along y.
        start_x_m: range of object centres along x at the start; None: `x_m` with a margin, so that there is room on
            every side.
        start_y_m: the same along y.
        colour: red, green, blue in 0..1.
        texture: of its top.
    """

    x_m: Span = WORKSPACE_X_M
    y_m: Span = WORKSPACE_Y_M
    start_x_m: Span | None = None
    start_y_m: Span | None = None
    colour: tuple[float, float, float] = (0.72, 0.66, 0.58)
    texture: Texture = Texture.PLAIN

    def __post_init__(self) -> None:
        for field in ("x_m", "y_m", "start_x_m", "start_y_m", "colour"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, tuple(float(value) for value in getattr(self, field)))
        object.__setattr__(self, "texture", texture_of(self.texture))
        for field, span, (low, high) in (("x_m", self.x_m, TABLE_LIMIT_X_M), ("y_m", self.y_m, TABLE_LIMIT_Y_M)):
            if len(span) != 2 or not (low <= span[0] and span[0] + 0.15 <= span[1] and span[1] <= high):
                raise InvalidConfiguration(
                    f"expected a table whose {field} are two numbers from {low} to {high}, at least 0.15 m apart, "
                    f"found {list(span)}"
                )
        for field, span, outer in (("start_x_m", self.start[0], self.x_m), ("start_y_m", self.start[1], self.y_m)):
            if len(span) != 2 or not outer[0] <= span[0] < span[1] <= outer[1]:
                raise InvalidConfiguration(
                    f"expected {field} inside the table's {list(outer)}, found {list(span)}; enlarge the table or "
                    f"choose a smaller start region"
                )
        if len(self.colour) != 3 or not all(0.0 <= value <= 1.0 for value in self.colour):
            raise InvalidConfiguration(f"expected a table colour of three numbers 0 to 1, found {list(self.colour)}")

    @property
    def start(self) -> tuple[Span, Span]:
        """Ranges of object centres at the start: x and y."""
        (x_low, x_high), (y_low, y_high) = self.x_m, self.y_m
        inner_x = (round(x_low + 0.06, 6), round(x_high - 0.07, 6))
        inner_y = (round(y_low + 0.08, 6), round(y_high - 0.08, 6))
        return self.start_x_m or inner_x, self.start_y_m or inner_y

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "x_m": list(self.x_m),
            "y_m": list(self.y_m),
            "start_x_m": None if self.start_x_m is None else list(self.start_x_m),
            "start_y_m": None if self.start_y_m is None else list(self.start_y_m),
            "colour": list(self.colour),
            "texture": str(self.texture),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TableSpec:
        """The inverse of `to_dict`; missing fields get their defaults.

        Raises:
            InvalidConfiguration: a field is unknown or has an invalid value.
        """
        try:
            return cls(**data)
        except (TypeError, ValueError) as error:
            raise InvalidConfiguration(f"the table {dict(data)} cannot be read: {error}") from None


TABLE = TableSpec()
"""The default table."""


@dataclass(frozen=True)
class ObjectSpec:
    """One object on the table.

    Attributes:
        name: its name in plans, e.g. "red cube".
        kind: its appearance.
        colour: a key of `COLOURS`.
        size: its sides in metres, in its own frame. A lego's second and third side are equal, so that it has the same
            box when it rolls onto another long face.
        position: x and y of its centre, metres.
        yaw: rotation about the vertical, radians.
        texture: of its faces; only boxes have others than the plain one.
        model: of a blob, its number among the `random_urdfs`; None for any other kind. A blob keeps the proportions of
            its model.
    """

    name: str
    kind: ObjectKind
    colour: str
    size: tuple[float, float, float]
    position: tuple[float, float]
    yaw: float = 0.0
    texture: Texture = Texture.PLAIN
    model: int | None = None

    def corners(self) -> Array:
        """The four corners of a rectangle around its footprint, (4, 2), metres, counter-clockwise."""
        half = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * np.array(self.size[:2]) / 2
        cos, sin = math.cos(self.yaw), math.sin(self.yaw)
        return rounded(half @ np.array([[cos, sin], [-sin, cos]]) + np.array(self.position))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the model only if there is one."""
        model = {} if self.model is None else {"model": self.model}
        return {
            "name": self.name,
            "kind": str(self.kind),
            "colour": self.colour,
            "size": list(self.size),
            "position": list(self.position),
            "yaw": self.yaw,
            "texture": str(self.texture),
            **model,
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
                kind=kind_of(data["kind"]),
                colour=str(data["colour"]),
                size=tuple(float(side) for side in data["size"]),  # type: ignore[arg-type]
                position=tuple(float(value) for value in data["position"]),  # type: ignore[arg-type]
                yaw=float(data["yaw"]),
                texture=texture_of(data.get("texture", Texture.PLAIN)),
                model=None if data.get("model") is None else int(data["model"]),
            )
        except KeyError as error:
            raise InvalidConfiguration(
                f"expected an object with name, kind, colour, size, position and yaw, found no {error} in {dict(data)}"
            ) from None
        except (TypeError, ValueError) as error:
            raise InvalidConfiguration(f"object {data.get('name')!r} cannot be read: {error}") from None


@dataclass(frozen=True)
class SceneSpec:
    """A scene at its start.

    Attributes:
        objects: all objects; none may overlap another one or lie outside the workspace, see `check`.
        seed: seed of the textures; also the number of the episode it was sampled for.
        table: the table.
        room_counts: whether an object deviates, too, if it is turned so that it takes more room than expected, see
            `sim.tabletop.truth.deviations`; the arm then leaves objects at their yaw.
        imprecision: of an arm in this scene; None: it measures exactly and grips firmly.
    """

    objects: tuple[ObjectSpec, ...]
    seed: int = 0
    table: TableSpec = TABLE
    room_counts: bool = False
    imprecision: Imprecision | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Object names, in order."""
        return tuple(item.name for item in self.objects)

    def __getitem__(self, name: str) -> ObjectSpec:
        """The object with this name.

        Raises:
            UnknownObject: there is no such object.
        """
        for item in self.objects:
            if item.name == name:
                return item
        raise UnknownObject(f"expected an object of the scene, found {name!r}.{did_you_mean(name, self.names)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data: dict[str, Any] = {"objects": [item.to_dict() for item in self.objects], "seed": self.seed}
        data |= {"table": self.table.to_dict()} | ({"room_counts": True} if self.room_counts else {})
        return data if self.imprecision is None else data | {"imprecision": asdict(self.imprecision)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SceneSpec:
        """The inverse of `to_dict`; a scene without a table gets the default one.

        Raises:
            InvalidConfiguration: a field is missing.
        """
        if "objects" not in data:
            raise InvalidConfiguration(f"expected a scene with a list of objects, found the keys {sorted(data)}")
        return cls(
            tuple(ObjectSpec.from_dict(item) for item in data["objects"]),
            int(data.get("seed", 0)),
            TableSpec.from_dict(data.get("table", {})),
            bool(data.get("room_counts", False)),
            Imprecision(**data["imprecision"]) if "imprecision" in data else None,
        )

    def check(self) -> None:
        """Check that the scene can be built.

        Raises:
            InvalidConfiguration: an object has an invalid size, colour, place or name; the message names it.
        """
        if not self.objects:
            raise InvalidConfiguration("expected at least one object in a scene, found none")
        if len(set(self.names)) != len(self.names):
            raise InvalidConfiguration(f"expected different object names, found {list(self.names)}")
        for item in self.objects:
            _check_object(item, self.table)
        for first, second in combinations(self.objects, 2):
            if footprint_gap(first, second) <= 0.0:
                raise InvalidConfiguration(
                    f"the {second.name} does not fit at {_place(second)}: it overlaps the {first.name} at "
                    f"{_place(first)}; move one of them"
                )


def _place(item: ObjectSpec) -> str:
    return f"({item.position[0]:.3f}, {item.position[1]:.3f})"


def _check_object(item: ObjectSpec, table: TableSpec) -> None:
    if item.colour not in COLOURS:
        raise InvalidConfiguration(
            f"the {item.name} has the colour {item.colour!r}.{did_you_mean(item.colour, COLOURS)}"
        )
    low, high = SIDE_RANGE_M
    longest = high if item.kind in BOX_KINDS else LONGEST_M
    if len(item.size) != 3 or not all(low <= side <= longest for side in item.size) or min(item.size[:2]) > high:
        held = "" if item.kind in BOX_KINDS else f", one of the horizontal ones at most {high} m"
        raise InvalidConfiguration(
            f"the {item.name} does not fit the gripper: expected three sides of {low} to {longest} m{held}, "
            f"found {item.size}"
        )
    if (item.kind is ObjectKind.BLOB) != (item.model is not None) or not 0 <= (item.model or 0) < NUM_BLOBS:
        raise InvalidConfiguration(
            f"expected a blob with the model 0 to {NUM_BLOBS - 1}, and no model for any other kind, found the "
            f"{item.name}, a {item.kind}, with model {item.model}"
        )
    if item.texture is not Texture.PLAIN and item.kind not in BOX_KINDS:
        raise InvalidConfiguration(f"expected a plain {item.kind}, found the {item.name} with texture {item.texture}")
    if not all(low <= value <= high for value, (low, high) in zip(item.position, (table.x_m, table.y_m), strict=True)):
        raise InvalidConfiguration(
            f"the {item.name} does not fit on the table: expected x in {table.x_m} and y in {table.y_m}, "
            f"found {_place(item)}; move it, or enlarge the table"
        )


def footprint_gap(first: ObjectSpec, second: ObjectSpec) -> float:
    """Largest gap between the footprints of two objects along their edge normals, metres; negative if they overlap."""
    return float(footprint_gaps(first, second.corners()[None], np.array([second.yaw]))[0])


def footprint_gaps(item: ObjectSpec, corners: Array, yaws: Array) -> Array:
    """Gaps between one object's footprint and others along the best edge normal, (M,) metres.

    Args:
        item: one object.
        corners: (M, 4, 2) footprints of the others.
        yaws: (M,) their rotations.
    """
    own = np.broadcast_to(item.yaw, yaws.shape)
    angles = np.stack([own, own + math.pi / 2, yaws, yaws + math.pi / 2], axis=1)
    axes = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    a, b = axes @ item.corners().T, axes @ corners.transpose(0, 2, 1)
    gaps = np.maximum(a.min(axis=2) - b.max(axis=2), b.min(axis=2) - a.max(axis=2))
    return rounded(gaps.max(axis=1))

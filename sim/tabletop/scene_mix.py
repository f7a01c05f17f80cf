"""Distribution of random scenes: counts, kinds, colours, sizes, table, textures and light, as configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nsrecover.errors import InvalidConfiguration, require_known
from sim.common.cameras import Light
from sim.tabletop.blobs import HELD_OUT, TRAINING, blob_size
from sim.tabletop.scenes import (
    BOX_KINDS,
    COLOURS,
    SIDE_RANGE_M,
    TABLE,
    ObjectKind,
    Span,
    TableSpec,
    Texture,
    kind_of,
    texture_of,
)
from sim.tabletop.shapes import HANDLE_M

MOST = 50
"""Maximum number of objects in a scene."""

_SPANS = ("cube_m", "die_m", "lego_length_m", "lego_width_m")


@dataclass(frozen=True)
class LightMix:
    """Distribution of the light: a lamp above the table.

    Attributes:
        ambient: range of the share of light without a direction; the lamp gives the rest.
        tint: lowest red, green and blue of the lamp; the highest is 1.
        tilt: maximum tilt of the lamp from the vertical along x and y, metres sideways per metre up.
    """

    ambient: Span = (0.52, 0.68)
    tint: float = 0.93
    tilt: float = 0.6

    def __post_init__(self) -> None:
        object.__setattr__(self, "ambient", tuple(float(value) for value in self.ambient))
        if not (len(self.ambient) == 2 and 0.0 <= self.ambient[0] <= self.ambient[1] <= 1.0):
            raise InvalidConfiguration(f"expected ambient as two rising numbers in 0..1, found {list(self.ambient)}")
        if not (0.0 <= self.tint <= 1.0 and self.tilt >= 0.0):
            raise InvalidConfiguration(
                f"expected a tint in 0..1 and a tilt of at least 0, found tint={self.tint}, tilt={self.tilt}"
            )

    def sample(self, rng: np.random.Generator) -> Light:
        """A random lamp; brightness and tint vary as between morning and evening."""
        ambient = float(rng.uniform(*self.ambient))
        tint = rng.uniform(self.tint, 1.0, 3)
        return Light(
            direction=(float(rng.uniform(-self.tilt, self.tilt)), float(rng.uniform(-self.tilt, self.tilt)), 1.0),
            colour=(float(tint[0]), float(tint[1]), float(tint[2])),
            ambient=ambient,
            diffuse=1.0 - ambient,
        )


@dataclass(frozen=True)
class SceneMix:
    """The distribution of random scenes; all entries of a list are equally likely.

    Attributes:
        counts: numbers of objects, 1 to `MOST`.
        kinds: kinds of objects; those that are no boxes have textures of their own, and sizes of `sample_shape`.
        colours: keys of `scenes.COLOURS`. Every colour and kind is used once before one is used again; then
            the objects get numbers: "red cube", "red cube 2".
        cube_m: range of the side of a cube.
        die_m: range of the side of a die.
        lego_length_m: range of the long side of a lego.
        lego_width_m: range of the short sides of a lego.
        table: the table.
        gap_m: minimum gap between objects at the start; an open finger needs 45 mm to pass between them.
        yaw_jitter: maximum angle between objects and the axes, radians.
        textures: of objects; with a single one, no random number is drawn.
        table_textures: of the table; if empty, the table keeps its own.
        light: distribution of the light; None: the camera rig's light.
        held_out: whether blobs are of the models that nothing is trained or tuned on.
    """

    counts: tuple[int, ...] = (3, 4, 4, 5, 5, 5, 6)
    kinds: tuple[ObjectKind, ...] = BOX_KINDS
    colours: tuple[str, ...] = ("red", "green", "blue", "yellow", "cyan", "magenta", "white", "orange")
    cube_m: Span = (0.040, 0.055)
    die_m: Span = (0.036, 0.046)
    lego_length_m: Span = (0.056, 0.068)
    lego_width_m: Span = (0.034, 0.042)
    table: TableSpec = TABLE
    gap_m: float = 0.045
    yaw_jitter: float = math.radians(4.0)
    textures: tuple[Texture, ...] = (Texture.PLAIN,)
    table_textures: tuple[Texture, ...] = ()
    light: LightMix | None = LightMix()
    held_out: bool = False

    def __post_init__(self) -> None:
        # configuration files give lists and strings
        for name in ("counts", "colours"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in _SPANS:
            object.__setattr__(self, name, tuple(float(side) for side in getattr(self, name)))
        for name in ("textures", "table_textures"):
            object.__setattr__(self, name, tuple(texture_of(texture) for texture in getattr(self, name)))
        object.__setattr__(self, "kinds", tuple(kind_of(kind) for kind in self.kinds))
        for colour in self.colours:
            require_known(colour, COLOURS, "colours")
        for name in ("counts", "kinds", "colours", "textures"):
            _check_filled(name, getattr(self, name))
        if not all(isinstance(count, int) and 1 <= count <= MOST for count in self.counts):
            raise InvalidConfiguration(f"expected counts as numbers from 1 to {MOST}, found {list(self.counts)}")
        low, high = SIDE_RANGE_M
        for name in _SPANS:
            span = getattr(self, name)
            if len(span) != 2 or not low <= span[0] <= span[1] <= high:
                raise InvalidConfiguration(
                    f"expected {name} as two rising numbers from {low} to {high}, which the gripper can take, "
                    f"found {list(span)}"
                )
        if not (0.0 < self.gap_m <= 0.3 and 0.0 <= self.yaw_jitter <= math.pi / 4):
            raise InvalidConfiguration(
                f"expected gap_m above 0 and up to 0.3 and yaw_jitter from 0 to {math.pi / 4:.3f}, found "
                f"gap_m={self.gap_m}, yaw_jitter={self.yaw_jitter}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: everything that decides which scene a seed gives."""
        data = asdict(self) | {"table": self.table.to_dict()}
        if not self.held_out:
            del data["held_out"]  # collections from before there were blobs keep their description
        return {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}

    def sample_size(self, rng: np.random.Generator, kind: ObjectKind) -> tuple[float, float, float]:
        """Random sides of an object of this kind, metres; `sample_shape` also knows blobs."""
        if kind is ObjectKind.LEGO:
            width = round(float(rng.uniform(*self.lego_width_m)), 4)
            return (round(float(rng.uniform(*self.lego_length_m)), 4), width, width)
        if kind not in BOX_KINDS:
            low, high, tall = _ROUND_M[kind]
            width, height = round(float(rng.uniform(low, high)), 4), round(float(rng.uniform(*tall)), 4)
            return (round(width + (HANDLE_M if kind is ObjectKind.MUG else 0.0), 4), width, height)
        side = round(float(rng.uniform(*(self.die_m if kind is ObjectKind.DIE else self.cube_m))), 4)
        return (side, side, side)

    def sample_shape(self, rng: np.random.Generator, kind: ObjectKind) -> tuple[tuple[float, float, float], int | None]:
        """Random sides of an object of this kind, metres, and its model if it is a blob."""
        if kind is not ObjectKind.BLOB:
            return self.sample_size(rng, kind), None
        models = HELD_OUT if self.held_out else TRAINING
        while True:
            model = int(rng.integers(models.start, models.stop))
            size = blob_size(model)
            if size is not None:
                return size, model


_ROUND_M: dict[ObjectKind, tuple[float, float, Span]] = {
    ObjectKind.CYLINDER: (0.036, 0.060, (0.040, 0.090)),
    ObjectKind.MUG: (0.056, 0.066, (0.065, 0.095)),
    ObjectKind.BOTTLE: (0.046, 0.064, (0.095, 0.130)),
}
"""Smallest and largest width, and range of heights."""


def _check_filled(name: str, values: Sequence[object]) -> None:
    if not values:
        raise InvalidConfiguration(f"expected at least one of {name}, found none")


DEFAULT_MIX = SceneMix()
"""Few objects of eight colours on the default table, in changing light."""

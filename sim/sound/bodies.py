"""Bodies that ring when they are hit: materials, shapes, and the modes that follow from them.

A body is reduced to what decides its sound: a material, a shape with its size, and a mass. The frequencies of its modes
are those of a free block, a thin ring or a plate in bending, by the formulas of Fletcher and Rossing, "The Physics of
Musical Instruments" (2nd edition, chapters 2, 3 and 21). A mode of frequency f decays with exp(-d t), where

    d = pi f eta + c

with the loss factor eta of the material, which does not depend on the shape (Wildes and Richards 1988; van den Doel
and Pai 1998; Klatzky, Pai and Krotkov 2000 found that listeners tell materials by it), and a constant c for the losses
to what the body stands on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration, require_known

Array = npt.NDArray[np.float64]
Vector = tuple[float, float, float]

RATE_HZ = 16_000
"""Sampling rate of everything that is synthesised."""
HIGHEST_HZ = 7_200.0
"""Modes above are left out, so that none is folded back at half the sampling rate."""
LOWEST_HZ = 40.0
"""Modes below are not radiated by things of this size."""
MOST_MODES = 24
"""Modes of one body; if it has more, these stand for all of them."""
SPEED_OF_SOUND_M_S = 343.0


class Material(StrEnum):
    """What a body is made of."""

    WOOD = "wood"
    METAL = "metal"
    CERAMIC = "ceramic"
    GLASS = "glass"
    PLASTIC = "plastic"
    FOOD = "food"
    SHELL = "shell"
    RUBBER = "rubber"


class Shape(StrEnum):
    """How a body vibrates."""

    SOLID = "solid"
    """a block; size: three sides"""
    HOLLOW = "hollow"
    """a vessel with a thin wall; size: two diameters and the height"""
    PLATE = "plate"
    """a flat plate; size: two sides; its thickness counts, the third number does not"""


@dataclass(frozen=True)
class MaterialProperties:
    """What decides how a material sounds.

    Attributes:
        density_kg_m3: mass per volume.
        young_pa: Young's modulus.
        loss_factor: share of the energy of a vibration that is lost per radian.
        support_loss_hz: decay rate that is the same for all modes, 1/s: losses to hands, tables and the air.
    """

    density_kg_m3: float
    young_pa: float
    loss_factor: float
    support_loss_hz: float

    @property
    def wave_speed_m_s(self) -> float:
        """Speed of longitudinal waves in a bar."""
        return math.sqrt(self.young_pa / self.density_kg_m3)


# Densities and moduli: round values of engineering tables (beech, steel, stoneware, soda-lime glass, polypropylene;
# potato: Mohsenin, "Physical Properties of Plant and Animal Materials"). Loss factors: of the order of the tables in
# Cremer, Heckl and Petersson, "Structure-Borne Sound", rather their upper ends, because kitchenware is neither free nor
# in one piece. Support losses are chosen so that the ring of a steel pot is over after about a second, of a glass and a
# mug after a third of one.
MATERIALS: Mapping[Material, MaterialProperties] = {
    Material.WOOD: MaterialProperties(700.0, 11e9, 0.03, 25.0),
    Material.METAL: MaterialProperties(7800.0, 200e9, 0.001, 4.0),
    Material.CERAMIC: MaterialProperties(2400.0, 60e9, 0.004, 12.0),
    Material.GLASS: MaterialProperties(2500.0, 70e9, 0.002, 8.0),
    Material.PLASTIC: MaterialProperties(1000.0, 1.8e9, 0.06, 40.0),
    Material.FOOD: MaterialProperties(1050.0, 3e6, 0.4, 60.0),
    Material.SHELL: MaterialProperties(2000.0, 30e9, 0.05, 120.0),
    Material.RUBBER: MaterialProperties(1100.0, 5e6, 0.5, 80.0),
}


@dataclass(frozen=True)
class Body:
    """A body that sounds when it is hit.

    Attributes:
        name: of the object.
        material: what it is made of.
        shape: how it vibrates.
        size_m: see `Shape`, metres.
        mass_kg: infinity for what is fixed.
        thickness_m: of the wall or plate, metres.
    """

    name: str
    material: Material
    shape: Shape
    size_m: Vector
    mass_kg: float = math.inf
    thickness_m: float = 0.004

    def __post_init__(self) -> None:
        for field, kind in (("material", Material), ("shape", Shape)):
            value, known = getattr(self, field), [str(each) for each in kind]
            require_known(value, known, f"a {field} of {self.name!r}")
            object.__setattr__(self, field, kind(value))
        object.__setattr__(self, "size_m", tuple(float(side) for side in self.size_m))
        if len(self.size_m) != 3 or not all(0 < side < 100 for side in (*self.size_m, self.thickness_m)):
            raise InvalidConfiguration(
                f"expected three sides and a thickness of {self.name!r} above 0, in metres, found {self.size_m} and "
                f"{self.thickness_m}"
            )
        if not self.mass_kg > 0:
            raise InvalidConfiguration(f"expected a mass of {self.name!r} above 0 kg, found {self.mass_kg}")

    @property
    def properties(self) -> MaterialProperties:
        """Of its material."""
        return MATERIALS[self.material]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; an infinite mass becomes null."""
        data = asdict(self) | {"material": str(self.material), "shape": str(self.shape), "size_m": list(self.size_m)}
        return data | {"mass_kg": None if math.isinf(self.mass_kg) else self.mass_kg}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Body:
        """The inverse of `to_dict`."""
        mass = math.inf if data["mass_kg"] is None else data["mass_kg"]
        return cls(**{**data, "mass_kg": mass, "size_m": tuple(data["size_m"])})


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of a body that can be heard.

    Attributes:
        frequencies_hz: (M,) ascending.
        decays_hz: (M,) decay rates d of exp(-d t), 1/s.
        weights: (M,) share of the body's energy that each mode, or the modes that it stands for, radiates; less than
            1 in all, because what is small compared with the wavelength radiates badly.
        mobility: velocity per force of the body, m/(N s): of two bodies, the more mobile one gets more of the energy.
    """

    frequencies_hz: Array
    decays_hz: Array
    weights: Array
    mobility: float

    def __len__(self) -> int:
        return len(self.frequencies_hz)


@lru_cache(maxsize=512)
def modes_of(body: Body) -> Modes:
    """The modes of a body between `LOWEST_HZ` and `HIGHEST_HZ`; a small hard block has none."""
    properties = body.properties
    frequencies = np.sort(_FREQUENCIES[body.shape](body))
    frequencies = frequencies[(frequencies >= LOWEST_HZ) & (frequencies <= HIGHEST_HZ)]
    counts = np.ones(len(frequencies))
    if len(frequencies) > MOST_MODES:
        # each kept mode stands for its group; the lowest ones, which lie far apart, are all kept
        edges = np.unique(np.geomspace(1, len(frequencies) + 1, MOST_MODES + 1).astype(int)) - 1
        groups = list(itertools.pairwise(edges))
        frequencies = np.array([frequencies[(low + high) // 2] for low, high in groups])
        counts = np.array([high - low for low, high in groups], float)
    decays = math.pi * frequencies * properties.loss_factor + properties.support_loss_hz
    radius = max(body.size_m[:2]) / 2
    wave = (2 * math.pi * frequencies * radius / SPEED_OF_SOUND_M_S) ** 2
    return Modes(frequencies, decays, counts / max(1.0, counts.sum()) * wave / (1 + wave), _mobility(body))


def vector_of(point: npt.ArrayLike) -> Vector:
    """A point (3,) in millimetres as plain numbers, metres, which identifies an event."""
    x, y, z = (round(float(value), 3) for value in np.asarray(point))
    return x, y, z


def _block(body: Body) -> Array:
    """Standing waves between opposite faces and their combinations."""
    sides = np.array(body.size_m)
    numbers = np.indices((4, 4, 4)).reshape(3, -1).T[1:]
    return np.asarray(body.properties.wave_speed_m_s / 2 * np.linalg.norm(numbers / sides, axis=1))


def _ring(body: Body) -> Array:
    """Bending of the wall around a vessel, with n = 2, 3, ... waves; handles and flaws split every mode in two."""
    radius = (body.size_m[0] + body.size_m[1]) / 4
    n = np.arange(2, 14)
    bending = n * (n**2 - 1) / np.sqrt(n**2 + 1)
    first = bending * body.thickness_m * body.properties.wave_speed_m_s / (2 * math.pi * math.sqrt(12) * radius**2)
    # chosen: a second family, up to a third higher, stands for the waves along the height
    families = np.concatenate([first * (1 + 0.33 * k * min(1.0, body.size_m[2] / (2 * radius))) for k in range(2)])
    return np.concatenate([families * 0.994, families * 1.006])


def _plate(body: Body) -> Array:
    """Bending of a plate whose edges are simply supported."""
    speed = body.properties.wave_speed_m_s / math.sqrt(1 - 0.3**2)
    m, n = np.indices((41, 41))[:, 1:, 1:].reshape(2, -1)
    lengths = (m / body.size_m[0]) ** 2 + (n / body.size_m[1]) ** 2
    return np.asarray(math.pi / 2 * speed * body.thickness_m / math.sqrt(12) * lengths)


_FREQUENCIES = {Shape.SOLID: _block, Shape.HOLLOW: _ring, Shape.PLATE: _plate}


def _mobility(body: Body) -> float:
    """Of an infinite plate with the thickness of the wall, 1/(2.3 rho c h²) (Cremer, Heckl and Petersson)."""
    properties = body.properties
    thickness = min(body.size_m) if body.shape is Shape.SOLID else body.thickness_m
    return 1 / (2.3 * properties.density_kg_m3 * properties.wave_speed_m_s * thickness**2)

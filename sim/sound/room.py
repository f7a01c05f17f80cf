"""The room: direct sound and first reflections by mirror images, the rest as a statistical decay.

The six first reflections of a box-shaped room come from the mirror images of the source (Allen and Berkley 1979). The
rest is noise that falls by 60 dB within the reverberation time, with the energy of the diffuse field in a room with
that absorption (Kuttruff, "Room Acoustics": reverberant over direct power at 1 m is 16 pi / A, with Sabine's absorption
area A = 0.161 V / T). High frequencies fade faster, because furniture and air absorb them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration
from sim.sound.bodies import RATE_HZ, SPEED_OF_SOUND_M_S, Array

Vector = tuple[float, float, float]

NEAREST_M = 0.1
"""Sources nearer than this are as loud as at this distance."""
FADES_HZ = 3000.0
"""From here on sound fades twice as fast: absorption of furniture and air."""


@dataclass(frozen=True)
class Room:
    """A box-shaped room.

    Attributes:
        low_m: corner with the smallest coordinates, in the world frame.
        high_m: the opposite corner.
        reverberation_s: time in which sound fades by 60 dB; 0: no reflections. Furnished rooms of a flat have about
            half a second (the reference of ISO 16283).
        seed: of the noise that the late reflections are.
    """

    low_m: Vector = (-1.5, -2.0, -0.8)
    high_m: Vector = (2.7, 2.0, 1.7)
    reverberation_s: float = 0.45
    seed: int = 0

    def __post_init__(self) -> None:
        if not all(high - low >= 1.0 for low, high in zip(self.low_m, self.high_m, strict=True)):
            raise InvalidConfiguration(
                f"expected a room of at least 1 m from low_m to high_m, found {self.low_m} to {self.high_m}"
            )
        if not 0 <= self.reverberation_s <= 2:
            raise InvalidConfiguration(f"expected reverberation_s from 0 to 2, found {self.reverberation_s}")

    @property
    def absorption_m2(self) -> float:
        """Sabine's equivalent absorption area."""
        volume = math.prod(high - low for low, high in zip(self.low_m, self.high_m, strict=True))
        return 0.161 * volume / max(self.reverberation_s, 1e-3)

    @property
    def reflection(self) -> float:
        """Factor on the sound pressure at a wall."""
        a, b, c = (high - low for low, high in zip(self.low_m, self.high_m, strict=True))
        surface = 2 * (a * b + b * c + a * c)
        return math.sqrt(max(0.0, 1 - self.absorption_m2 / surface)) if self.reverberation_s else 0.0

    def contains(self, point: Sequence[float]) -> bool:
        """Whether a point is inside the room."""
        return all(low < at < high for low, at, high in zip(self.low_m, point, self.high_m, strict=True))

    def arrivals(self, source: Vector, listener: Vector) -> list[tuple[int, float]]:
        """Delay in samples and gain relative to 1 m of the direct sound and, inside the room, of six reflections."""
        images = [(np.array(source, float), 1.0)]
        if self.reflection > 0 and self.contains(source):
            for axis in range(3):
                for wall in (self.low_m[axis], self.high_m[axis]):
                    image = np.array(source, float)
                    image[axis] = 2 * wall - image[axis]
                    images.append((image, self.reflection))
        found = []
        for image, gain in images:
            distance = float(np.linalg.norm(image - np.array(listener)))
            found.append((round(distance / SPEED_OF_SOUND_M_S * RATE_HZ), gain / max(distance, NEAREST_M)))
        return found


@lru_cache(maxsize=32)
def late_response(room: Room) -> npt.NDArray[np.float32]:
    """The late reflections of an impulse at 1 m, the same everywhere in the room; empty without reverberation."""
    if not room.reverberation_s:
        return np.zeros(0, np.float32)
    time = np.arange(round(room.reverberation_s * RATE_HZ)) / RATE_HZ
    rng = np.random.default_rng([room.seed, 3])
    decay = math.log(1000) / room.reverberation_s
    low, high = _split(rng.standard_normal(len(time)))
    wave = low * np.exp(-decay * time) + high * np.exp(-2 * decay * time)
    # the mirror images cover the time until the walls have been reached once
    sides = [high_m - low_m for low_m, high_m in zip(room.low_m, room.high_m, strict=True)]
    free = 4 * math.prod(sides) / (2 * (sides[0] * sides[1] + sides[1] * sides[2] + sides[0] * sides[2]))
    begin = min(len(time) - 1, round(free / SPEED_OF_SOUND_M_S * RATE_HZ))
    wave[:begin] = 0.0
    energy = 16 * math.pi / room.absorption_m2 * math.exp(-2 * decay * begin / RATE_HZ)
    return np.asarray(wave * math.sqrt(energy / float(wave @ wave)), np.float32)


def _split(noise: Array) -> tuple[Array, Array]:
    """Noise below and above `FADES_HZ`."""
    spectrum = np.fft.rfft(noise)
    below = np.fft.rfftfreq(len(noise), 1 / RATE_HZ) < FADES_HZ
    low = np.fft.irfft(np.where(below, spectrum, 0), len(noise))
    return low, noise - low

"""Textures for surfaces, computed from a seed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pybullet
from PIL import Image

from sim.tabletop.scenes import Texture

Array = npt.NDArray[np.float64]


def _wood(rng: np.random.Generator, size: int) -> Array:
    """Rings around a centre far outside the picture, with fine grain along them."""
    v, u = np.mgrid[0:size, 0:size] / size
    heart = rng.uniform((-1.5, 0.2), (-0.5, 0.8))
    waves = np.zeros((size, size))
    for _ in range(3):
        along, across, phase = rng.uniform((0.5, 1.0, 0.0), (2.0, 3.0, 1.0))
        waves += rng.uniform(0.01, 0.04) * np.sin(2 * np.pi * (along * u + across * v + phase))
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(14, 20) * (np.hypot(0.3 * (u - heart[0]), v - heart[1]) + waves))
    grain = np.repeat(rng.random((size, max(1, size // 16))), 16, axis=1)[:, :size]
    return np.asarray(0.62 + 0.28 * rings + 0.10 * grain)


def _checker(rng: np.random.Generator, size: int) -> Array:
    fields = int(rng.integers(3, 6)) * 2
    row, column = np.mgrid[0:size, 0:size] * fields // size
    return np.where((row + column) % 2 == 0, 1.0, 0.62)


def _speckle(rng: np.random.Generator, size: int) -> Array:
    grains = rng.random((size // 2, size // 2))
    shade = np.select([grains < 0.12, grains > 0.9], [0.55, 1.12], 0.9)
    return np.kron(shade, np.ones((2, 2)))


_SHADES: dict[Texture, Callable[[np.random.Generator, int], Array]] = {
    Texture.WOOD: _wood,
    Texture.CHECKER: _checker,
    Texture.SPECKLE: _speckle,
}


def picture(
    texture: Texture, colour: Sequence[float], rng: np.random.Generator, size: int = 64
) -> npt.NDArray[np.uint8]:
    """A square image of a surface.

    Args:
        texture: kind of texture.
        colour: red, green, blue in 0..1; the image has lighter and darker shades of it.
        rng: source of randomness.
        size: height and width in pixels, an even number.

    Returns:
        (size, size, 3).
    """
    shade = _SHADES[texture](rng, size) if texture in _SHADES else np.ones((size, size))
    return np.asarray(np.clip(shade[..., None] * np.asarray(colour) * 255.0, 0, 255), dtype=np.uint8)


def paint(client: int, body: int, pixels: npt.NDArray[np.uint8]) -> None:
    """Put an image on every face of a body's base, for the lifetime of the physics client.

    Args:
        client: physics client.
        body: body number.
        pixels: (H, W, 3).
    """
    # the renderer reads textures only from files
    handle, path = tempfile.mkstemp(suffix=".png")
    os.close(handle)
    try:
        Image.fromarray(pixels).save(path)
        number = pybullet.loadTexture(path, physicsClientId=client)
    finally:
        os.unlink(path)
    pybullet.changeVisualShape(body, -1, textureUniqueId=number, rgbaColor=[1.0, 1.0, 1.0, 1.0], physicsClientId=client)

"""Colours and texture of object crops, which tell objects apart that no network was trained on.

The soft histogram of colours has few bins of lightness, which depends on the light, and more of colour. Weak colours
are spread out, for most real things are nearly grey. The histogram of gradients says how finely an object is
patterned. What most things have in common is subtracted from both, so that the cosine of two objects is near 0 if they
are alike in that alone.
"""

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray

LIGHTNESS_BINS, COLOUR_BINS, GRADIENT_BINS = 2, 7, 8
COLOURS = LIGHTNESS_BINS * COLOUR_BINS**2
SIZE = COLOURS + GRADIENT_BINS
"""Length of the features."""

GRADIENT_SHARE = 0.27
"""Weight of the gradients in the cosine of two objects."""

STRONGEST, SPREAD = 90.0, 0.9
"""Chroma in CIELAB that is shown as 1, and the power by which weaker ones are spread."""

COMMON, GREY_WIDTH = 0.7, 0.45
"""Share of what most things have in common that is subtracted, and how far their colours are from grey."""

FEWEST = 30
"""An object with fewer pixels inside its outline is described by all of its pixels."""

_LINEAR = np.where(
    np.arange(256) > 10, ((np.arange(256) / 255 + 0.055) / 1.055) ** 2.4, np.arange(256) / (255 * 12.92)
).astype(np.float32)
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]],
    dtype=np.float32,
) / np.array([[0.95047], [1.0], [1.08883]], dtype=np.float32)


def colour_features(crops: npt.NDArray[np.uint8]) -> FloatArray:
    """Colours and texture (B, `SIZE`) of object crops (B, S, S, 3), black beside the object; unit length."""
    shown: npt.NDArray[np.bool_] = np.asarray(crops.any(axis=-1))
    lab = _lab(crops)
    colours = _colour_histogram(lab, _inside(shown, 1))
    gradients = _gradient_histogram(lab[..., 0], _inside(shown, 2))
    parts = [
        np.sqrt(share) * _unit(np.sqrt(found) - COMMON * usual)
        for share, found, usual in (
            (1 - GRADIENT_SHARE, colours, _GREYS),
            (GRADIENT_SHARE, gradients, _TEXTURES),
        )
    ]
    return np.asarray(np.concatenate(parts, axis=1), dtype=np.float32)


def _lab(crops: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """CIELAB of sRGB images (..., 3)."""
    xyz = _LINEAR[crops] @ _XYZ.T
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def _inside(shown: npt.NDArray[np.bool_], pixels: int) -> npt.NDArray[np.bool_]:
    """Masks (B, S, S) without so many pixels along the outline, unless too few would be left."""
    inner = shown
    for _ in range(pixels):
        padded = np.pad(inner, ((0, 0), (1, 1), (1, 1)))
        inner = inner & padded[:, 2:, 1:-1] & padded[:, :-2, 1:-1] & padded[:, 1:-1, 2:] & padded[:, 1:-1, :-2]
    enough = inner.sum(axis=(1, 2)) >= FEWEST
    return np.asarray(np.where(enough[:, None, None], inner, shown))


def _colour_histogram(lab: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Shares (B, `COLOURS`) of pixels; each is divided between the bins around it."""
    crop, rows, columns = np.nonzero(mask)
    pixels = lab[crop, rows, columns]
    chroma = np.hypot(pixels[:, 1], pixels[:, 2])[:, None] + 1e-6
    spread = pixels[:, 1:] / chroma * (chroma / STRONGEST) ** SPREAD
    places = np.column_stack([pixels[:, 0] / 100, (spread + 1) / 2]) * [LIGHTNESS_BINS - 1, *[COLOUR_BINS - 1] * 2]
    places = np.clip(places, 0, np.array([LIGHTNESS_BINS, COLOUR_BINS, COLOUR_BINS]) - 1.001)
    low = places.astype(int)
    above = places - low
    found = np.zeros(len(lab) * COLOURS)
    for corner in np.ndindex(2, 2, 2):
        weight = np.where(corner, above, 1 - above).prod(axis=1)
        light, a, b = (low + corner).T
        bins = ((crop * LIGHTNESS_BINS + light) * COLOUR_BINS + a) * COLOUR_BINS + b
        found += np.bincount(bins, weight, len(found))
    return _shares(found.reshape(len(lab), COLOURS))


def _gradient_histogram(lightness: npt.NDArray[np.float32], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Shares (B, `GRADIENT_BINS`) of pixels by the logarithm of the change of lightness from pixel to pixel."""
    down = np.zeros_like(lightness)
    across = np.zeros_like(lightness)
    down[:, 1:-1] = (lightness[:, 2:] - lightness[:, :-2]) / 2
    across[:, :, 1:-1] = (lightness[:, :, 2:] - lightness[:, :, :-2]) / 2
    crop, rows, columns = np.nonzero(mask)
    change = np.hypot(down, across)[crop, rows, columns]
    places = np.clip(np.log2(change + 0.5) + 1, 0, 5.999) / 6 * (GRADIENT_BINS - 1)
    low = places.astype(int)
    found = np.zeros(len(lightness) * GRADIENT_BINS)
    for corner, weight in ((0, 1 - (places - low)), (1, places - low)):
        found += np.bincount(crop * GRADIENT_BINS + low + corner, weight, len(found))
    return _shares(found.reshape(len(lightness), GRADIENT_BINS))


def _shares(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    shares: npt.NDArray[np.float64] = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)
    return shares


def _unit(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    units: npt.NDArray[np.float64] = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return units


def _usual() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Square roots of the histograms of most things: colours near grey, gradients of the middle bins."""
    line = np.linspace(-1, 1, COLOUR_BINS)
    greys = np.exp(-(line[:, None] ** 2 + line**2) / (2 * GREY_WIDTH**2))
    textures = np.exp(-(((np.arange(GRADIENT_BINS) - (GRADIENT_BINS - 1) / 2) / 2.3) ** 2))
    return _unit(np.tile(greys.ravel(), LIGHTNESS_BINS)), _unit(textures)


_GREYS, _TEXTURES = _usual()

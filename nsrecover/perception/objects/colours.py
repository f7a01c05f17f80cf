"""Colours of object crops under the light of the table, which tell objects apart that no network was trained on.

Pixels are divided by the colour of the table near the object, so that a lamp, an exposure or a shadow changes little.
Their chroma and brightness make a histogram, blurred by one bin; the square roots of its shares are the feature.
"""

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core.scene import FloatArray

BINS = (16, 16, 6)
"""Bins of the shares of red and green, and of brightness."""

SIZE = 16 * 16 * 6
"""Length of the features."""

GREY = 128.0
"""The table is shown in this grey, 0 to 255."""

DARK = 8.0
"""Added to each channel: the chroma of what is dark is noise."""

LOW, SPAN = np.array([0.13, 0.17, 0.0]), np.array([0.47, 0.37, 1.0])
"""Least shares of red and green, and brightness, of the first bins, and what all bins span."""

DARKEST_TABLE = 16.0
"""Table colours below this are taken for this."""

FEWEST = 30
"""An object with fewer pixels inside its outline is described by all of its pixels."""


def colour_features(crops: npt.NDArray[np.uint8], table_light: FloatArray | None = None) -> FloatArray:
    """Colours (B, `SIZE`) of object crops (B, S, S, 3), black beside the object; unit length.

    Args:
        crops: the crops.
        table_light: (B, 3) colour of the table near each, 0 to 255; grey if None.
    """
    light = np.full((len(crops), 3), GREY) if table_light is None else table_light
    found = [pixel_colours(_inner(crop), each) for crop, each in zip(crops, light, strict=True)]
    return np.asarray(found, np.float32).reshape(-1, SIZE)


def pixel_colours(pixels: npt.NDArray[np.uint8], table_light: FloatArray) -> FloatArray:
    """The feature (`SIZE`,) of pixels (M, 3) near which the table has a colour (3,), 0 to 255."""
    lit = np.clip(pixels * (GREY / np.maximum(table_light, DARKEST_TABLE)), 0, 255) + DARK
    total = lit.sum(axis=1, keepdims=True)
    places = np.concatenate([lit[:, :2] / total, total / (3 * (255 + DARK))], axis=1)
    bins = (np.clip((places - LOW) / SPAN, 0, 0.999) * BINS).astype(np.intp)
    counts = np.bincount(np.ravel_multi_index(tuple(bins.T), BINS), minlength=SIZE).reshape(BINS)
    blurred = ndimage.gaussian_filter(counts.astype(np.float32), 1.0, mode="nearest", truncate=3.0)
    return np.asarray(np.sqrt(blurred.ravel() / max(float(blurred.sum()), 1e-9)), np.float32)


def _inner(crop: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Pixels (M, 3) of a crop (S, S, 3) without its outline, unless too few would be left."""
    shown = crop.any(axis=-1)
    inner = ndimage.binary_erosion(shown)
    return np.asarray(crop[inner if inner.sum() >= FEWEST else shown])

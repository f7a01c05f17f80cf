"""Pixels of a surface that differ between two images once light is taken out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import FloatArray

EDGES_PX = 400
"""What differs by mistake lies at edges: of fewer pixels than this a larger share does, by the square root of their
number."""

OTHER_SHARE, MAYBE_OTHER_SHARE = 0.6, 0.4
"""Share from which on it is another object rather than another state, and from which on it is if the object is found
elsewhere."""

FEWEST_PIXELS, FEWEST_CHANGED = 40, 25
"""An object that both images show in fewer pixels is not compared, and a change of fewer pixels does not count."""

BRIGHTER, TINTED = 0.4, 0.18
"""Change of the logarithm of a pixel that light does not explain: of all channels together, and of one of them alone.
"""

TINTED_ALL = 0.1
"""The same of one channel if half of the surface or more is tinted: neither noise nor a shadow does that. Of fewer
pixels than `EDGES_PX` a stronger tint counts: by the square root of their number."""

TURNED_LIGHT = 0.3
"""Most by which a whole object may become brighter or darker besides, as light comes from elsewhere."""

DARK = 0.08
"""Added to colours in 0..1, whose logarithms are noisy where it is dark."""

BLUR_PX = 2.0
"""Standard deviation of the blur that takes noise out of both images."""


def different(
    before: npt.NDArray[np.uint8],
    now: npt.NDArray[np.uint8],
    both: npt.NDArray[np.bool_],
    light: FloatArray,
    by: tuple[int, int] = (0, 0),
    brightness: bool = True,
    fixed: bool = False,
) -> tuple[float, float]:
    """Share of the pixels of a mask that differ between two images (H, W, 3), and how much brighter all of them are.

    Args:
        before: an image.
        now: the other one.
        both: (H, W) pixels that count.
        light: (3,) how many times as bright the second one is.
        by: rows and columns by which the second one is shifted.
        brightness: whether brightness counts, or colour alone.
        fixed: whether brightness alone counts, that of the whole mask included.

    Returns:
        The share, and the median change of the logarithm of their brightness.
    """
    if by != (0, 0):
        now, both = np.roll(now, by, (0, 1)), both & np.roll(both, by, (0, 1))
        if both.sum() < FEWEST_PIXELS:
            return 1.0, 0.0
    first, second = _blurred(before, both) / 255, _blurred(now, both) / (255 * light)
    change = np.log(second + DARK) - np.log(first + DARK)
    brighter = change.mean(axis=1)
    tint = np.abs(change - brighter[:, None]).max(axis=1)
    tinted = tint > TINTED
    evenly = float(np.median(brighter))
    if fixed:
        return float((np.abs(brighter) > BRIGHTER / 2).mean()), evenly
    brighter -= np.clip(evenly, -TURNED_LIGHT, TURNED_LIGHT)
    differs = tinted | (np.abs(brighter) > BRIGHTER) if brightness else tinted
    share = float(differs.mean()) if differs.sum() >= FEWEST_CHANGED else 0.0
    all_of_it = np.median(tint) > TINTED_ALL * max(np.sqrt(EDGES_PX / both.sum()), 1.0)
    return max(share, OTHER_SHARE) if all_of_it else share, evenly  # not more: states tint, too


def _blurred(image: npt.NDArray[np.uint8], mask: npt.NDArray[np.bool_]) -> FloatArray:
    """Colours (P, 3), 0 to 255, of the pixels of a mask, mixed with those of their neighbours in the mask."""
    weight = mask.astype(np.float32)
    parts = [ndimage.gaussian_filter(image[..., c] * weight, BLUR_PX, truncate=2.0)[mask] for c in range(3)]
    total = ndimage.gaussian_filter(weight, BLUR_PX, truncate=2.0)[mask]
    return np.asarray(np.stack(parts, axis=1) / total[:, None], np.float32)

"""Pixels of a surface that differ between two images once light is taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import FloatArray


@dataclass(frozen=True)
class PixelRules:
    """Which differences of pixels light does not explain.

    Attributes:
        edges_px: what differs by mistake lies at edges: of fewer pixels than this a larger share does, by the square
            root of their number.
        other_share: share from which on it is another object rather than another state.
        maybe_other_share: share from which on it is if the object is found elsewhere.
        fewest_pixels: an object that both images show in fewer pixels is not compared.
        fewest_changed: a change of fewer pixels does not count.
        brighter: change of the logarithm of a pixel, of all channels together, that light does not explain.
        tinted: change of one channel alone that it does not explain.
        tinted_all: the same of one channel if half of the surface or more is tinted: neither noise nor a shadow does
            that. Of fewer pixels than `edges_px` a stronger tint counts: by the square root of their number.
        turned_light: most by which a whole object may become brighter or darker besides, as light comes from elsewhere.
        dark: added to colours in 0..1, whose logarithms are noisy where it is dark.
        blur_px: standard deviation of the blur that takes noise out of both images.
    """

    edges_px: int = 400
    other_share: float = 0.6
    maybe_other_share: float = 0.4
    fewest_pixels: int = 40
    fewest_changed: int = 25
    brighter: float = 0.4
    tinted: float = 0.18
    tinted_all: float = 0.1
    turned_light: float = 0.3
    dark: float = 0.08
    blur_px: float = 2.0


RULES = PixelRules()


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
        if both.sum() < RULES.fewest_pixels:
            return 1.0, 0.0
    first, second = _blurred(before, both) / 255, _blurred(now, both) / (255 * light)
    change = np.log(second + RULES.dark) - np.log(first + RULES.dark)
    brighter = change.mean(axis=1)
    tint = np.abs(change - brighter[:, None]).max(axis=1)
    tinted = tint > RULES.tinted
    evenly = float(np.median(brighter))
    if fixed:
        return float((np.abs(brighter) > RULES.brighter / 2).mean()), evenly
    brighter -= np.clip(evenly, -RULES.turned_light, RULES.turned_light)
    differs = tinted | (np.abs(brighter) > RULES.brighter) if brightness else tinted
    share = float(differs.mean()) if differs.sum() >= RULES.fewest_changed else 0.0
    all_of_it = np.median(tint) > RULES.tinted_all * max(np.sqrt(RULES.edges_px / both.sum()), 1.0)
    return max(share, RULES.other_share) if all_of_it else share, evenly  # not more: states tint, too


def _blurred(image: npt.NDArray[np.uint8], mask: npt.NDArray[np.bool_]) -> FloatArray:
    """Colours (P, 3), 0 to 255, of the pixels of a mask, mixed with those of their neighbours in the mask."""
    weight = mask.astype(np.float32)
    parts = [ndimage.gaussian_filter(image[..., c] * weight, RULES.blur_px, truncate=2.0)[mask] for c in range(3)]
    total = ndimage.gaussian_filter(weight, RULES.blur_px, truncate=2.0)[mask]
    return np.asarray(np.stack(parts, axis=1) / total[:, None], np.float32)

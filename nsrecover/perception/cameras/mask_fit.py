"""Whether masks show what rises from the table, or would if they were mirrored or shifted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage, signal

from nsrecover.core import Observation
from nsrecover.perception.lifting import to_world


@dataclass(frozen=True)
class MaskFitRules:
    """When masks are taken for mirrored or shifted.

    Attributes:
        width_px: images are read at about so many columns.
        rises_m: least height above the table of what stands on it.
        highest_m: largest height of it.
        ring_px: width of the surroundings of masks.
        furthest: masks may be shifted by this share of the image's width.
        fewest: a single mask fits in many places.
        fitting: masks are mirrored or shifted if they then fit at least so well, 1 being exactly.
        now: and if they fit now at most this part of it.
    """

    width_px: int = 160
    rises_m: float = 0.012
    highest_m: float = 0.6
    ring_px: int = 2
    furthest: float = 0.25
    fewest: int = 2
    fitting: float = 0.35
    now: float = 0.7


RULES = MaskFitRules()


def misplaced_masks(observation: Observation, view: int) -> str | None:
    """How the masks of one view have to be changed to show what rises from the table; None if they do, or none do."""
    step = max(observation.depth_m.shape[2] // RULES.width_px, 1)
    depth = observation.depth_m[view, ::step, ::step]
    rows, columns = np.nonzero(depth > 0)
    heights = to_world(observation, view, step * rows, step * columns)[:, 2]
    raised = np.zeros(depth.shape, np.float32)
    raised[rows, columns] = (heights > RULES.rises_m) & (heights < RULES.highest_m)
    shown = observation.instances[view, ::step, ::step]
    masks = shown > 0
    if len(np.unique(shown[masks])) < RULES.fewest or (now := _fit(masks, raised)) > RULES.now:
        return None
    found = max(_others(masks, raised, step), key=lambda each: each[0])
    return found[1] if found[0] > RULES.fitting and now < RULES.now * found[0] else None


def _others(masks: npt.NDArray[np.bool_], raised: npt.NDArray[np.float32], step: int) -> Iterator[tuple[float, str]]:
    """How well mirrored and shifted masks fit, and what was done to them."""
    yield _fit(masks[:, ::-1], raised), "mirrored from left to right"
    yield _fit(masks[::-1], raised), "mirrored from top to bottom"
    yield _fit(masks[::-1, ::-1], raised), "turned by half a circle"
    fits = signal.fftconvolve(raised, _weights(masks)[::-1, ::-1], mode="full")
    height, width = masks.shape
    far = round(RULES.furthest * width)
    near = fits[max(height - 1 - far, 0) : height + far, width - 1 - far : width + far]
    down, right = np.unravel_index(near.argmax(), near.shape)
    down, right = step * (int(down) - min(height - 1, far)), step * (int(right) - far)
    yield float(near.max()), f"shifted by {right:+d} pixels to the right and {down:+d} down"


def _weights(masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """(H, W) that add up to 1 within masks and to -1 in what surrounds them."""
    ring = ndimage.binary_dilation(masks, iterations=RULES.ring_px) & ~masks
    return np.asarray(masks / masks.sum() - ring / max(ring.sum(), 1))


def _fit(masks: npt.NDArray[np.bool_], raised: npt.NDArray[np.float32]) -> float:
    """Share of masks that rises from the table, less that of what surrounds them."""
    return float((_weights(masks) * raised).sum())

"""Whether masks show what rises from the table, or would if they were mirrored or shifted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import ndimage, signal

from nsrecover.core import Observation
from nsrecover.perception.lifting import to_world

WIDTH_PX = 160
"""Images are read at about so many columns."""

RISES_M, HIGHEST_M = 0.012, 0.6
"""Heights above the table of what stands on it."""

RING_PX = 2
"""Width of the surroundings of masks."""

FURTHEST = 0.25
"""Masks may be shifted by this share of the image's width."""

FEWEST = 2
"""A single mask fits in many places."""

FITTING, NOW = 0.35, 0.7
"""Masks are mirrored or shifted if they then fit at least so well, 1 being exactly, and now at most this part of it."""


def misplaced_masks(observation: Observation, view: int) -> str | None:
    """How the masks of one view have to be changed to show what rises from the table; None if they do, or none do."""
    step = max(observation.depth_m.shape[2] // WIDTH_PX, 1)
    depth = observation.depth_m[view, ::step, ::step]
    rows, columns = np.nonzero(depth > 0)
    heights = to_world(observation, view, step * rows, step * columns)[:, 2]
    raised = np.zeros(depth.shape, np.float32)
    raised[rows, columns] = (heights > RISES_M) & (heights < HIGHEST_M)
    shown = observation.instances[view, ::step, ::step]
    masks = shown > 0
    if len(np.unique(shown[masks])) < FEWEST or (now := _fit(masks, raised)) > NOW:
        return None
    found = max(_others(masks, raised, step), key=lambda each: each[0])
    return found[1] if found[0] > FITTING and now < NOW * found[0] else None


def _others(masks: npt.NDArray[np.bool_], raised: npt.NDArray[np.float32], step: int) -> Iterator[tuple[float, str]]:
    """How well mirrored and shifted masks fit, and what was done to them."""
    yield _fit(masks[:, ::-1], raised), "mirrored from left to right"
    yield _fit(masks[::-1], raised), "mirrored from top to bottom"
    yield _fit(masks[::-1, ::-1], raised), "turned by half a circle"
    fits = signal.fftconvolve(raised, _weights(masks)[::-1, ::-1], mode="full")
    height, width = masks.shape
    far = round(FURTHEST * width)
    near = fits[max(height - 1 - far, 0) : height + far, width - 1 - far : width + far]
    down, right = np.unravel_index(near.argmax(), near.shape)
    down, right = step * (int(down) - min(height - 1, far)), step * (int(right) - far)
    yield float(near.max()), f"shifted by {right:+d} pixels to the right and {down:+d} down"


def _weights(masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """(H, W) that add up to 1 within masks and to -1 in what surrounds them."""
    ring = ndimage.binary_dilation(masks, iterations=RING_PX) & ~masks
    return np.asarray(masks / masks.sum() - ring / max(ring.sum(), 1))


def _fit(masks: npt.NDArray[np.bool_], raised: npt.NDArray[np.float32]) -> float:
    """Share of masks that rises from the table, less that of what surrounds them."""
    return float((_weights(masks) * raised).sum())

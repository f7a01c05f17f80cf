"""What is known of objects that are out of sight, wholly or in part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.structs import FloatArray, SceneGraph

NOISE_M = 0.004
"""How far the side of a camera box may be off without meaning anything."""


def hidden_in_place(earlier: FloatArray, now: FloatArray) -> npt.NDArray[np.bool_]:
    """Objects of which a part is hidden, and the visible rest is where it was.

    A rigid object does not shrink. If less of it is seen than before, and all that is seen lies inside the box it
    had, then something stands in front of it; there is no reason to believe that it moved.

    Args:
        earlier: (N, 6) boxes before.
        now: (N, 6) boxes of the parts that are visible now.

    Returns:
        (N,).
    """
    low, high = earlier[:, :3] - earlier[:, 3:] / 2, earlier[:, :3] + earlier[:, 3:] / 2
    low_now, high_now = now[:, :3] - now[:, 3:] / 2, now[:, :3] + now[:, 3:] / 2
    inside = np.all((low_now >= low - NOISE_M) & (high_now <= high + NOISE_M), axis=1)
    smaller = np.any(now[:, 3:] < earlier[:, 3:] - 2 * NOISE_M, axis=1)
    return np.asarray(inside & smaller, dtype=np.bool_)


def remember(earlier: SceneGraph, now: SceneGraph) -> SceneGraph:
    """Fill in what is hidden now with what was known before.

    Args:
        earlier: the last scene graph.
        now: the new one, over the same names in the same order.

    Returns:
        `now`; objects that are not seen at all keep their earlier box and appearance, those that are partly hidden
        where they were keep their earlier box. `seen` stays as observed.
    """
    unseen = ~now.seen[:, None]
    hidden = unseen | hidden_in_place(earlier.boxes, now.boxes)[:, None]
    return replace(
        now,
        boxes=np.where(hidden, earlier.boxes, now.boxes),
        visual=np.where(unseen, earlier.visual, now.visual),
    )

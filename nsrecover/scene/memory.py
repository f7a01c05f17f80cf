"""What is known of objects that are out of sight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsrecover.structs import SceneGraph


def remember(earlier: SceneGraph, now: SceneGraph) -> SceneGraph:
    """Fill in the objects that are not seen now with what was known of them.

    Args:
        earlier: the last scene graph.
        now: the new one, over the same names in the same order.

    Returns:
        `now`, with box and appearance of unseen objects taken from `earlier`; `seen` stays as observed.
    """
    unseen = ~now.seen[:, None]
    return replace(
        now,
        boxes=np.where(unseen, earlier.boxes, now.boxes),
        visual=np.where(unseen, earlier.visual, now.visual),
    )

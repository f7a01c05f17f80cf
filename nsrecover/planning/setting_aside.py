"""Placement samplers: free places for objects that block others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nsrecover.core.scene import FloatArray
from nsrecover.models.free_place import FreeSpaceModel, are_free, find_free_place
from nsrecover.planning.places import SLACK_M

ENUMERATED_M = 0.05
"""Spacing of the places that `enumerated_places` names."""

PlacementSampler = Callable[[FreeSpaceModel, FloatArray, Sequence[FloatArray]], Sequence[FloatArray]]
"""Free places (6,) for an object (6,), given sets of obstacles (M, 6) to keep clear of: the preferred set first, the
necessary one last."""


def proposed_place(models: FreeSpaceModel, box: FloatArray, obstacles: Sequence[FloatArray]) -> Sequence[FloatArray]:
    """The checked proposal of the free-space transformer: one place or none (Kalithasan et al., section V, item 2)."""
    for boxes in obstacles:
        found = find_free_place(models, box, boxes)
        if found is not None:
            return [found]
    return []


def enumerated_places(models: FreeSpaceModel, box: FloatArray, obstacles: Sequence[FloatArray]) -> Sequence[FloatArray]:
    """Every free place of a grid over the table, for the search without the transformer (ablation NoFree)."""
    x_min, y_min, x_max, y_max = models.workspace
    x, y = np.meshgrid(np.arange(x_min, x_max, ENUMERATED_M), np.arange(y_min, y_max, ENUMERATED_M), indexing="ij")
    centres = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
    free = centres[are_free(centres, box[3:5], obstacles[-1], models, SLACK_M)]
    return [np.array([*centre, box[5] / 2, *box[3:]], dtype=np.float32) for centre in free]

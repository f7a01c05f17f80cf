"""Placement samplers: free places for objects that block others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from nsrecover.core.scene import FloatArray
from nsrecover.models.free_place import FreeSpaceModel, Table, are_free, find_free_place, proposed_free_place
from nsrecover.planning.places import SLACK_M

ENUMERATED_M = 0.05
"""Spacing of the places that `enumerated_places` names."""

PlacementSampler = Callable[[Table, FloatArray, Sequence[FloatArray]], Sequence[FloatArray]]
"""Free places (6,) for an object (6,), given sets of obstacles (M, 6) to keep clear of: the preferred set first, the
necessary one last."""


def nearest_place(table: Table, box: FloatArray, obstacles: Sequence[FloatArray]) -> Sequence[FloatArray]:
    """The nearest free place, by exact geometry: one or none."""
    return _first(partial(find_free_place, table), box, obstacles)


@dataclass(frozen=True)
class ProposedPlace:
    """The checked proposal of a free-space transformer: one place or none (Kalithasan et al., section V, item 2).

    Attributes:
        model: proposes, for instance a `nsrecover.models.bundle.Bundle`.
    """

    model: FreeSpaceModel

    def __call__(self, table: Table, box: FloatArray, obstacles: Sequence[FloatArray]) -> Sequence[FloatArray]:
        """The place; the table is that of the model."""
        return _first(partial(proposed_free_place, self.model), box, obstacles)


def _first(
    find: Callable[[FloatArray, FloatArray], FloatArray | None], box: FloatArray, obstacles: Sequence[FloatArray]
) -> Sequence[FloatArray]:
    places = (find(box, boxes) for boxes in obstacles)
    place = next((place for place in places if place is not None), None)
    return [] if place is None else [place]


def enumerated_places(table: Table, box: FloatArray, obstacles: Sequence[FloatArray]) -> Sequence[FloatArray]:
    """Every free place of a grid over the table, for the search without a place for what is in the way (NoFree)."""
    x_min, y_min, x_max, y_max = table.workspace
    x, y = np.meshgrid(np.arange(x_min, x_max, ENUMERATED_M), np.arange(y_min, y_max, ENUMERATED_M), indexing="ij")
    centres = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
    free = centres[are_free(centres, box[3:5], obstacles[-1], table, SLACK_M)]
    return [np.array([*centre, box[5] / 2, *box[3:]], dtype=np.float32) for centre in free]

"""Which detections of different cameras show the same object, if detectors number them independently.

Two cameras see different faces of an object: between the middles of what they see lies, along the direction from one
camera's face to the other's, up to the length of the object, and across it next to nothing. Looks decide where this
leaves a choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from nsrecover.core.scene import FloatArray

ACROSS_M = 0.02
"""Distance across the viewing directions at which the cost of a pair is 1."""

LONGEST_M = 0.1
"""Length of the largest object; middles of visible parts are not farther apart along the viewing directions."""

LOOKS_WEIGHT = 1.0
"""Cost of entirely different looks; of the same object from two sides they differ, too."""

IDENTITY_WEIGHT = 1.0
"""Cost of taking two sightings for one object, for every unit by which no known object explains both as well as it
explains each."""

APART = 2.0
"""Detections whose pair costs more show two objects."""


@dataclass(frozen=True, eq=False)
class Sighting:
    """What one view shows of one object.

    Attributes:
        view: number of the view.
        box: (6,) around what is visible.
        visual: (D,) unit appearance feature.
        direction: (3,) unit vector along which the camera looks.
        name: what the detector calls the object, if it does.
        costs: (N,) how badly it fits each known object; none if no object is known.
    """

    view: int
    box: FloatArray
    visual: FloatArray
    direction: FloatArray
    name: str | None = None
    costs: FloatArray | None = None


def join_views(sightings: Sequence[Sighting]) -> list[list[int]]:
    """Group sightings by object; no object has two of one view.

    Sightings with the same name show the same object, with different names different ones.

    Args:
        sightings: of all views.

    Returns:
        Positions in `sightings`, for each object.
    """
    groups: list[list[int]] = []
    for view in sorted({one.view for one in sightings}):
        fresh = [i for i, one in enumerate(sightings) if one.view == view]
        costs = np.array([[_cost(sightings, i, group) for group in groups] for i in fresh]).reshape(len(fresh), -1)
        rows, columns = linear_sum_assignment(np.minimum(costs, APART))
        joined = {fresh[r]: groups[c] for r, c in zip(rows, columns, strict=True) if costs[r, c] < APART}
        for i in fresh:
            if i in joined:
                joined[i].append(i)
            else:
                groups.append([i])
    return groups


def _cost(sightings: Sequence[Sighting], number: int, group: Sequence[int]) -> float:
    """How badly a sighting fits those of other views that are already together."""
    one, others = sightings[number], [sightings[i] for i in group]
    named = [other.name for other in others if other.name is not None]
    if one.name is not None and named:
        return 0.0 if one.name in named else np.inf
    return float(np.mean([_difference(one, other) for other in others]))


def _difference(one: Sighting, other: Sighting) -> float:
    # tops are seen by all cameras, lower ends may be hidden
    offset = np.append(one.box[:2] - other.box[:2], one.box[2] + one.box[5] / 2 - other.box[2] - other.box[5] / 2)
    way = np.append(other.direction[:2] - one.direction[:2], 0.0)
    along = 0.0
    if (length := float(np.linalg.norm(way))) > 1e-6:
        along = float(offset @ way) / length
        offset = offset - along * way / length
    beyond = max(along - LONGEST_M, -along, 0.0)
    looks = 1.0 - float(one.visual @ other.visual)
    return (
        (float(np.linalg.norm(offset)) + beyond) / ACROSS_M
        + LOOKS_WEIGHT * looks
        + IDENTITY_WEIGHT * _regret(one, other)
    )


def _regret(one: Sighting, other: Sighting) -> float:
    """How much worse two sightings fit the same known object than each fits the object that it fits best."""
    if one.costs is None or other.costs is None or not len(one.costs):
        return 0.0
    return float((one.costs + other.costs).min() - one.costs.min() - other.costs.min())

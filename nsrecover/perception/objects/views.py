"""Which detections of different cameras show the same object, if detectors number them independently.

Two cameras see different faces of an object: between the middles of what they see lies, along the direction from one
camera's face to the other's, up to the length of the object, and across it next to nothing. Looks decide where this
leaves a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from nsrecover.core.scene import FloatArray


@dataclass(frozen=True)
class JoiningRules:
    """When detections of two views show one object.

    Attributes:
        across_m: distance across the viewing directions at which the cost of a pair is 1.
        longest_m: length of the largest object; middles of visible parts are not farther apart along the viewing
            directions.
        looks_weight: cost of entirely different looks; of the same object from two sides they differ, too.
        identity_weight: cost of taking two sightings for one object, for every unit by which no known object explains
            both as well as it explains each.
        apart: detections whose pair costs more show two objects.
    """

    across_m: float = 0.02
    longest_m: float = 0.1
    looks_weight: float = 1.5
    identity_weight: float = 1.0
    apart: float = 2.0


RULES = JoiningRules()


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


def join_views(sightings: Sequence[Sighting], unit: float = 1.0) -> list[list[int]]:
    """Group sightings by object; no object has two of one view.

    Sightings with the same name show the same object, with different names different ones.

    Args:
        sightings: of all views.
        unit: what a difference of looks is multiplied with (`LooksGate.unit`).

    Returns:
        Positions in `sightings`, for each object.
    """
    groups: list[list[int]] = []
    if not sightings:
        return groups
    pairs = _differences(sightings, unit)
    for view in sorted({one.view for one in sightings}):
        fresh = [i for i, one in enumerate(sightings) if one.view == view]
        costs = np.array([pairs[np.ix_(fresh, group)].mean(axis=1) for group in groups]).reshape(-1, len(fresh)).T
        for column, group in enumerate(groups):
            if named := {sightings[i].name for i in group} - {None}:
                for row, i in enumerate(fresh):
                    if sightings[i].name is not None:
                        costs[row, column] = 0.0 if sightings[i].name in named else np.inf
        rows, columns = linear_sum_assignment(np.minimum(costs, RULES.apart))
        joined = {fresh[r]: groups[c] for r, c in zip(rows, columns, strict=True) if costs[r, c] < RULES.apart}
        for i in fresh:
            if i in joined:
                joined[i].append(i)
            else:
                groups.append([i])
    return groups


def _differences(sightings: Sequence[Sighting], unit: float) -> FloatArray:
    """How badly sightings of different views fit each other in pairs, (M, M)."""
    boxes = np.array([one.box for one in sightings])
    visual = np.array([one.visual for one in sightings])
    directions = np.array([one.direction[:2] for one in sightings])
    # tops are seen by all cameras, lower ends may be hidden
    places = np.column_stack([boxes[:, :2], boxes[:, 2] + boxes[:, 5] / 2])
    offset = places[:, None] - places[None]  # (M, M, 3)
    way = directions[None] - directions[:, None]
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    way = np.where(length > 1e-6, way / np.maximum(length, 1e-6), 0.0)
    along = (offset[..., :2] * way).sum(axis=-1)
    across = offset.copy()
    across[..., :2] -= along[..., None] * way
    beyond = np.maximum(np.maximum(along - RULES.longest_m, -along), 0.0)
    looks = unit * (1.0 - visual @ visual.T)
    return np.asarray(
        (np.linalg.norm(across, axis=-1) + beyond) / RULES.across_m
        + RULES.looks_weight * looks
        + RULES.identity_weight * _regrets(sightings)
    )


def _regrets(sightings: Sequence[Sighting]) -> FloatArray:
    """How much worse two sightings fit the same known object than each fits the object that it fits best, (M, M)."""
    known = [one.costs for one in sightings if one.costs is not None and len(one.costs)]
    if len(known) < len(sightings):
        return np.zeros((len(sightings), len(sightings)), dtype=np.float32)
    costs = np.array(known)
    least = costs.min(axis=1)
    return np.asarray((costs[:, None] + costs[None]).min(axis=-1) - least[:, None] - least[None])

"""Masks that segmenters split or merge, put right with the known sizes of the objects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray
from nsrecover.perception.detections import Detections
from nsrecover.perception.lifting import MIN_PIXELS, box_around, view_pixels

LARGER_M = 0.012
"""A detection is too large for its object if a side is longer than it can be by more than this."""

AROUND_M = 0.008
"""Points that are this close to a box may belong to it."""

SAMPLE = 200
"""So many points of a mask are enough to see whether it shows several objects."""

LEAST_SHARE = 0.12
"""Smallest share of a mask's points that makes another object of it."""

ALIKE = 0.5
"""Parts of one object look at least this much alike (cosine)."""


def absorb_fragments(
    detections: Detections, found: npt.NDArray[np.intp], sizes: FloatArray
) -> tuple[Detections, npt.NDArray[np.intp]]:
    """Join detections that no object has to the objects of which they show a part.

    Args:
        detections: M of them.
        found: (N,) the detection of each object, -1 for none.
        sizes: (N, K, 3) sides that each object may have.

    Returns:
        The same without these parts: detections, and `found` for them.
    """
    groups: list[list[int]] = [[i] for i in range(len(detections))]
    for part in np.setdiff1d(np.arange(len(detections)), found).tolist():
        for row, own in enumerate(found.tolist()):
            if own < 0 or detections.visual[part] @ detections.visual[own] < ALIKE:
                continue
            together = box_around(np.concatenate([detections.points[own], detections.points[part]]))
            if fits(together, sizes[row]):
                groups[own].append(part)
                groups[part] = []
                break
    kept = [group for group in groups if group]
    new_row = {group[0]: row for row, group in enumerate(kept)}
    moved = np.array([new_row.get(int(own), -1) for own in found], dtype=np.intp)
    return (detections if len(kept) == len(detections) else detections.joined(kept)), moved


def separate_merged(
    observation: Observation, places: FloatArray, sizes: FloatArray
) -> tuple[Observation, dict[int, int]]:
    """Give masks that show several objects as many numbers.

    A mask that is too large for any object whose place it covers is divided by these places; what lies in none of them
    keeps the number.

    Args:
        observation: the views.
        places: (N, P, 6) boxes at which each of N objects may be.
        sizes: (N, K, 3) sides that each may have.

    Returns:
        The observation with new numbers, and for each of these the number of the mask that it is a part of.
    """
    instances, origin = observation.instances.copy(), dict[int, int]()
    for view in range(len(observation.cameras)):
        rows, columns, points, shown = view_pixels(observation, view)
        for number in np.unique(shown).tolist():
            own = np.flatnonzero(shown == number)
            some = own[:: max(len(own) // SAMPLE, 1)]
            if len(own) < 2 * MIN_PIXELS or not np.ptp(_divided(points[some], places, sizes)):
                continue
            owners = _divided(points[own], places, sizes)
            for owner in np.unique(owners)[1:].tolist():
                new = int(instances.max()) + 1
                origin[new] = number
                part = own[owners == owner]
                instances[view, rows[part], columns[part]] = new
    if not origin:
        return observation, origin
    if observation.shared_ids:  # a part of a mask in one view has no number in the others
        apart = int(instances.max()) + 1
        for view, image in enumerate(instances):
            for number in np.unique(image[image > 0]).tolist():
                origin[number + view * apart] = origin.get(number, number)
            image[image > 0] += view * apart
    return replace(observation, instances=instances, shared_ids=False), origin


def _divided(points: FloatArray, places: FloatArray, sizes: FloatArray) -> npt.NDArray[np.intp]:
    """For points (M, 3) of one mask the object on which each lies (M,); all the same if the mask shows one object."""
    offset = np.abs(points[:, None, None] - places[None, :, :, :3]) - places[None, :, :, 3:] / 2  # (M, N, P, 3)
    outside = np.linalg.norm(np.maximum(offset, 0.0), axis=-1).min(axis=-1)  # (M, N)
    owners = np.where(outside.min(axis=1) < AROUND_M, outside.argmin(axis=1), -1)
    least = max(MIN_PIXELS, LEAST_SHARE * len(points))
    large = [owner for owner in np.unique(owners).tolist() if np.count_nonzero(owners == owner) >= least]
    objects = [owner for owner in large if owner >= 0]
    box = box_around(points)
    if len(large) < 2 or any(fits(box, sizes[owner]) for owner in objects):
        return np.zeros(len(points), dtype=np.intp)
    distance = np.where(np.isin(np.arange(places.shape[0]), objects), outside, np.inf)
    known = distance.min(axis=1) < AROUND_M if -1 in large else True
    return np.asarray(np.where(known, distance.argmin(axis=1), -1), dtype=np.intp)


def fits(box: FloatArray, sizes: FloatArray) -> bool:
    """Whether a box (6,) is not larger than an object with some sides (K, 3), whichever way it lies."""
    excess = np.sort(box[3:]) - np.sort(sizes, axis=1)
    return bool((excess < LARGER_M).all(axis=1).any())

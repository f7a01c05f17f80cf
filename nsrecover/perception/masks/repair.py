"""Masks that segmenters split or merge, corrected with the known sizes of the objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.core.geometry import gaps
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import ViewPixels, box_around, lift_views
from nsrecover.perception.objects.detections import Detections


@dataclass(frozen=True)
class RepairRules:
    """When masks were split or merged.

    Attributes:
        same_looks: masks of one view that touch and look as much alike as this may be parts of one object.
        touch_m: boxes with a smaller gap touch.
        larger_m: a detection is too large for its object if a side is longer than it can be by more than this.
        around_m: points that are this close to a box may belong to it.
        sample: number of points of a mask that suffices to decide whether it shows several objects.
        least_share: smallest share of a mask's points that makes another object of it.
    """

    same_looks: float = 0.92
    touch_m: float = 0.01
    larger_m: float = 0.012
    around_m: float = 0.008
    sample: int = 200
    least_share: float = 0.12


RULES = RepairRules()


_ANGLES = np.radians(np.arange(-45.0, 45.0, 1.0))


def absorb_fragments(
    detections: Detections, found: npt.NDArray[np.intp], sizes: FloatArray, origin: Mapping[int, int], differ: float
) -> tuple[Detections, npt.NDArray[np.intp]]:
    """Join detections that no object has to the objects of which they show a part.

    What was cut from an object's mask, looks like it and is no other known object shows it, too: the object is larger
    than it seemed.

    Args:
        detections: M of them.
        found: (N,) the detection of each object, -1 for none.
        sizes: (N, K, 3) sides that each object may have.
        origin: new number -> number of the mask that it was a part of, from `separate_merged`.
        differ: how much looks of parts of one object differ at most (1 - cosine).

    Returns:
        The same without these parts: detections, and `found` for them.
    """
    groups: list[list[int]] = [[i] for i in range(len(detections))]
    for part in np.setdiff1d(np.arange(len(detections)), found).tolist():
        for row, own in enumerate(found.tolist()):
            if own < 0 or detections.visual[part] @ detections.visual[own] < 1 - differ:
                continue
            both = (detections.points[own], detections.points[part])  # equally many: few ones are not left out as wrong
            masks = [{origin.get(each, each) for each in detections.numbers[index]} for index in (own, part)]
            if masks[0] & masks[1] or shows_one(
                np.concatenate([each[:: max(len(each) // RULES.sample, 1)] for each in both]), sizes[row]
            ):
                groups[own].append(part)
                groups[part] = []
                break
    kept = [group for group in groups if group]
    new_row = {group[0]: row for row, group in enumerate(kept)}
    moved = np.array([new_row.get(int(own), -1) for own in found], dtype=np.intp)
    return (detections if len(kept) == len(detections) else detections.joined(kept)), moved


def join_parts(detections: Detections, differ: float) -> Detections:
    """Detections without a label become parts of one that touches them and looks like them, if there is one.

    `differ` is how much looks of parts of one object differ at most (1 - cosine).
    """
    groups: list[list[int]] = [[i] for i in range(len(detections))]
    named = [i for i, label in enumerate(detections.labels) if label is not None]
    for part in np.setdiff1d(np.arange(len(detections)), named).tolist():
        likeness = detections.visual[named] @ detections.visual[part]
        touching = (gaps(detections.boxes[part], detections.boxes[named]) < RULES.touch_m).all(axis=-1)
        likeness[~touching] = -1.0
        if len(named) and likeness.max() > 1 - differ:
            groups[named[int(likeness.argmax())]].append(part)
            groups[part] = []
    return detections.joined([group for group in groups if group])


def separate_by_other_views(observation: Observation, masks: Detections) -> tuple[Observation, dict[int, int]]:
    """Give masks that show what another view shows as several objects as many numbers.

    Args:
        observation: the views; every one has its own numbers.
        masks: one detection for each mask.

    Returns:
        As for `separate_merged`.
    """
    origin, lifted = dict[int, int](), lift_views(observation)
    by_view = [[i for i, numbers in enumerate(masks.numbers) if numbers[0] in image] for image in observation.instances]
    for view, other in permutations(range(len(by_view)), 2):
        shown = [i for i in by_view[other] if len(masks.points[i]) >= LIFTING.min_pixels]
        # the label of a mask that is divided belongs to the part that has no other one
        places = _whole(masks.chosen(sorted(shown, key=lambda i: masks.labels[i] is not None))).boxes
        if len(places) > 1:
            observation, parts = separate_merged(
                observation, lifted, places[:, None], places[:, None, 3:], (view,), elsewhere=False
            )
            origin |= {new: origin.get(old, old) for new, old in parts.items()}
    return observation, origin


def _whole(masks: Detections) -> Detections:
    """Masks of one view, those that touch and look alike together: they may be parts of one object."""
    groups: list[list[int]] = []
    for i, box in enumerate(masks.boxes):
        for group in groups:
            together = (gaps(box, masks.boxes[group]) < RULES.touch_m).all(axis=-1) & (
                masks.visual[group] @ masks.visual[i] > RULES.same_looks
            )
            if together.any():
                group.append(i)
                break
        else:
            groups.append([i])
    return masks.joined(groups)


def separate_merged(
    observation: Observation,
    lifted: Sequence[ViewPixels],
    places: FloatArray,
    sizes: FloatArray,
    views: Sequence[int] | None = None,
    elsewhere: bool = True,
) -> tuple[Observation, dict[int, int]]:
    """Give masks that show several objects as many numbers.

    A mask that is too large for any object whose place it covers is divided by these places; what lies in none of them
    keeps the number, or else what is on the first of the objects.

    Args:
        observation: the views.
        lifted: pixels of each that show objects.
        places: (N, P, 6) boxes at which each of N objects may be.
        sizes: (N, K, 3) sides that each may have.
        views: numbers of the views to look at; all of them if None.
        elsewhere: whether an object may be in none of the places.

    Returns:
        The observation with new numbers, and for each of these the number of the mask that it is a part of.
    """
    instances, origin = observation.instances.copy(), dict[int, int]()
    for view in range(len(observation.cameras)) if views is None else views:
        rows, columns, points = lifted[view][:3]
        shown = observation.instances[view][rows, columns]
        for number in np.unique(shown).tolist():
            own = np.flatnonzero(shown == number)
            some = own[:: max(len(own) // RULES.sample, 1)]
            if len(own) < 2 * LIFTING.min_pixels or not np.ptp(_divided(points[some], places, sizes, elsewhere)):
                continue
            owners = _divided(points[own], places, sizes, elsewhere)
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


def _divided(points: FloatArray, places: FloatArray, sizes: FloatArray, elsewhere: bool) -> npt.NDArray[np.intp]:
    """For points (M, 3) of one mask the object on which each lies (M,); all the same if the mask shows one object."""
    box = box_around(points)
    near = (
        (np.abs(places[..., :3] - box[:3]) < (places[..., 3:] + box[3:]) / 2 + RULES.around_m).all(axis=-1).any(axis=-1)
    )
    if all(shows_one(points, each) for each in sizes[near]):
        return np.zeros(len(points), dtype=np.intp)
    offset = np.abs(points[:, None, None] - places[None, :, :, :3]) - places[None, :, :, 3:] / 2  # (M, N, P, 3)
    outside = np.linalg.norm(np.maximum(offset, 0.0), axis=-1).min(axis=-1)  # (M, N)
    owners = np.where(outside.min(axis=1) < RULES.around_m, outside.argmin(axis=1), -1)
    least = max(LIFTING.min_pixels, RULES.least_share * len(points))
    large = [owner for owner in np.unique(owners).tolist() if np.count_nonzero(owners == owner) >= least]
    objects = [owner for owner in large if owner >= 0]
    large = large if elsewhere else objects
    if len(large) < 2 or any(shows_one(points, sizes[owner]) for owner in objects):
        return np.zeros(len(points), dtype=np.intp)
    distance = np.where(np.isin(np.arange(places.shape[0]), objects), outside, np.inf)
    known = distance.min(axis=1) < RULES.around_m if -1 in large else True
    return np.asarray(np.where(known, distance.argmin(axis=1), -1), dtype=np.intp)


def shows_one(points: FloatArray, sizes: FloatArray) -> bool:
    """Whether points (M, 3) are not more than an object with some sides (K, 3) shows, also if it was turned.

    An object that was turned about the vertical has a wider axis-aligned box, and the same smallest rectangle.
    """
    box = box_around(points)
    if fits(box, sizes):
        return True
    _, low, high = smallest_rectangle(points[:: max(len(points) // RULES.sample, 1), :2])
    return fits(np.array([*box[:3], *(high - low), box[5]], dtype=np.float32), sizes)


def smallest_rectangle(places: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Angle of the smallest rectangle around places (M, 2), and its lower and upper corner in its own axes (2,)."""
    cos, sin = np.cos(_ANGLES)[:, None], np.sin(_ANGLES)[:, None]
    turned = np.stack([cos * places[:, 0] + sin * places[:, 1], cos * places[:, 1] - sin * places[:, 0]])  # (2, A, M)
    cut = int(LIFTING.trim * (len(places) - 1))
    ordered = np.partition(turned, (cut, len(places) - 1 - cut), axis=-1)
    low, high = ordered[..., cut], ordered[..., len(places) - 1 - cut]
    best = int((high - low).prod(axis=0).argmin())
    return float(_ANGLES[best]), low[:, best], high[:, best]


def fits(box: FloatArray, sizes: FloatArray) -> bool:
    """Whether a box (6,) is not larger than an object with some sides (K, 3), whichever way it lies."""
    excess = np.sort(box[3:]) - np.sort(sizes, axis=1)
    return bool((excess < RULES.larger_m).all(axis=1).any())

"""What a person writes in a day against dataset VIII: a rule of place and of colours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

from nsrecover.core.observation import Observation
from sim.datasets.changes.episodes import Event

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FEWEST_PIXELS, OVERLAP = 12, 0.3
BINS = (12, 8, 6)
"""Hue, saturation and value: 576 bins."""
DARK, RATIO = 0.08, 0.35
"""Added to colours before they are divided; natural logarithm of a ratio that light does not explain."""
PLACE_M, LOOKS, SURFACE, OTHER = 0.015, 0.36, 0.03, 0.60
"""Chosen on seed 0 for at most 1 % of false alarms: distance of the same place, histograms that differ, share of a
surface that changed, histograms of another object rather than another state."""


@dataclass(frozen=True, eq=False)
class Found:
    """What an arm says of an object of the first observation.

    Attributes:
        at: (3,) where it was, metres.
        event: what became of it.
        now: (3,) where it is; None if it is gone.
    """

    at: Array
    event: Event
    now: Array | None


@dataclass(frozen=True, eq=False)
class Seen:
    """An object as the cameras see it.

    Attributes:
        masks: view -> (H, W).
        middles: view -> (3,) median of its points.
        box: (6,) centre and size.
        histograms: view -> histogram of its colours.
    """

    masks: dict[int, Mask]
    middles: dict[int, Array]
    box: Array
    histograms: dict[int, Array]


@dataclass(frozen=True, eq=False)
class Pair:
    """Both observations with their objects, and colours of the second one as in the light of the first.

    Attributes:
        first: the first observation.
        second: the second one.
        before: objects of the first.
        after: objects of the second.
        colours: (2, V, H, W, 3) in 0..1.
    """

    first: Observation
    second: Observation
    before: list[Seen]
    after: list[Seen]
    colours: Array


def pair_of(first: Observation, second: Observation) -> Pair:
    """Segment both observations, and remove the difference of light that the table shows."""
    colours = np.stack([first.rgb, second.rgb]) / 255.0
    for view in range(len(first.rgb)):
        ground = (first.instances[view] == 0) & (second.instances[view] == 0) & (first.depth_m[view] > 0)
        then, now = (np.median(colours[time, view][ground], axis=0) for time in (0, 1))
        colours[1, view] *= then / np.maximum(now, 0.02)
    colours = np.clip(colours, 0, 1)
    return Pair(first, second, objects_of(first, colours[0]), objects_of(second, colours[1]), colours)


def points_of(seen: Observation, view: int, mask: Mask) -> Array:
    """Points (P, 3) of a mask in the world."""
    rows, columns = np.nonzero(mask & (seen.depth_m[view] > 0))
    depth, camera = seen.depth_m[view][rows, columns].astype(float), seen.cameras[view]
    pixels = np.stack([columns + 0.5, rows + 0.5, np.ones(len(rows))])
    rays = np.linalg.inv(camera.intrinsics.astype(float)) @ pixels
    turn, shift = camera.world_from_camera[:3, :3].astype(float), camera.world_from_camera[:3, 3]
    return np.asarray((turn @ (rays * depth)).T + shift)


def objects_of(seen: Observation, colours: Array) -> list[Seen]:
    """Objects, with colours (V, H, W, 3): masks of the views whose boxes overlap on the table belong together."""
    views: list[list[Seen]] = []
    for view, image in enumerate(seen.instances):
        views.append([])
        for number in np.unique(image[image > 0]):
            mask = image == number
            points = points_of(seen, view, mask)
            if len(points) >= FEWEST_PIXELS:
                low, high = np.quantile(points, (0.03, 0.97), axis=0)
                box = np.concatenate([(low + high) / 2, high - low])
                looks = {view: histogram(colours[view], mask)}
                views[-1].append(Seen({view: mask}, {view: np.median(points, axis=0)}, box, looks))
    one, other = views
    cost = np.array([[-_overlap(a.box, b.box) for b in other] for a in one]).reshape(len(one), len(other))
    pairs = [(i, j) for i, j in zip(*linear_sum_assignment(cost), strict=True) if cost[i, j] < -OVERLAP]
    joined = [_joined(one[i], other[j]) for i, j in pairs]
    rest = [a for i, a in enumerate(one) if i not in {p[0] for p in pairs}]
    return joined + rest + [b for j, b in enumerate(other) if j not in {p[1] for p in pairs}]


def _overlap(one: Array, other: Array) -> float:
    """Shared area of two boxes on the table over the smaller one."""
    low = np.maximum(one[:2] - one[3:5] / 2, other[:2] - other[3:5] / 2)
    high = np.minimum(one[:2] + one[3:5] / 2, other[:2] + other[3:5] / 2)
    areas = [max(float(np.prod(each[3:5])), 1e-6) for each in (one, other)]
    return float(np.prod(np.maximum(high - low, 0)) / min(areas))


def _joined(one: Seen, other: Seen) -> Seen:
    low = np.minimum(one.box[:3] - one.box[3:] / 2, other.box[:3] - other.box[3:] / 2)
    high = np.maximum(one.box[:3] + one.box[3:] / 2, other.box[:3] + other.box[3:] / 2)
    box = np.concatenate([(low + high) / 2, high - low])
    return Seen(one.masks | other.masks, one.middles | other.middles, box, one.histograms | other.histograms)


def away(one: Seen, other: Seen) -> float:
    """How far two objects are apart: as the camera has it in which they are nearer; metres."""
    common = [view for view in one.middles if view in other.middles]
    if not common:
        return float(np.linalg.norm(one.box[:3] - other.box[:3]))
    return min(float(np.linalg.norm(one.middles[v] - other.middles[v])) for v in common)


def histogram(colours: Array, mask: Mask) -> Array:
    """Histogram of hue, saturation and value, smoothed over neighbouring bins, of sum 1."""
    rgb = colours[mask]
    high, low = rgb.max(axis=1), rgb.min(axis=1)
    spread = np.maximum(high - low, 1e-6)
    which = rgb.argmax(axis=1)
    rolled = np.stack([rgb[:, 1] - rgb[:, 2], rgb[:, 2] - rgb[:, 0], rgb[:, 0] - rgb[:, 1]], axis=1)
    hue = (rolled[np.arange(len(rgb)), which] / spread + 2 * which) / 6 % 1.0
    values = np.stack([hue, spread / np.maximum(high, 1e-6), high], axis=1)
    counts, _ = np.histogramdd(values, BINS, [(0, 1)] * 3)
    soft = ndimage.gaussian_filter(counts, 0.7, mode=("wrap", "nearest", "nearest"))
    return np.asarray(soft / max(soft.sum(), 1e-9)).ravel()


def looks_differ(one: Seen, other: Seen) -> float:
    """Hellinger distance of the histograms in the same view, 0 to 1; the larger one of two views."""
    views = [v for v in one.masks if v in other.masks]
    compared = [(v, v) for v in views] or [(v, w) for v in one.masks for w in other.masks]
    found = [1 - float(np.sqrt(one.histograms[v] * other.histograms[w]).sum()) for v, w in compared]
    return math.sqrt(max(0.0, max(found) if views else min(found)))


def changed_surface(pair: Pair, one: Seen, other: Seen) -> float:
    """Share of the pixels of an object that stays whose colour differs more than the light explains; of two views."""
    found = [0.0]
    for view in set(one.masks) & set(other.masks):
        both = ndimage.binary_erosion(one.masks[view] & other.masks[view])
        if both.sum() >= FEWEST_PIXELS:
            then, now = (ndimage.gaussian_filter(pair.colours[t, view], (2, 2, 0))[both] + DARK for t in (0, 1))
            ratio = np.log(now / then)
            found.append(float((np.abs(ratio - np.median(ratio, axis=0)).max(axis=1) > RATIO).mean()))
    return max(found)


def still_there(pair: Pair, one: Seen) -> bool:
    """Whether the depth at an object's pixels is as before, so that only its mask is missing."""
    for view, mask in one.masks.items():
        both = mask & (pair.first.depth_m[view] > 0) & (pair.second.depth_m[view] > 0)
        change = np.abs(pair.first.depth_m[view] - pair.second.depth_m[view])[both]
        if both.sum() >= FEWEST_PIXELS and np.median(change) < 0.006:
            return True
    return False


def _matched(cost: Array, most: float) -> dict[int, int]:
    """Rows and columns that belong together at the least cost, none above a limit."""
    rows, columns = linear_sum_assignment(np.minimum(cost, 10 * most))
    return {int(i): int(j) for i, j in zip(rows, columns, strict=True) if cost[i, j] <= most}


def _table(pair: Pair, compare: Callable[[Seen, Seen], float]) -> Array:
    rows = [[compare(one, other) for other in pair.after] for one in pair.before]
    return np.array(rows).reshape(len(pair.before), len(pair.after))


def _told(pair: Pair, row: int, event: Event, column: int | None) -> Found:
    at = pair.before[row].box[:3]
    return Found(at, event, at if event is Event.NOTHING and column is None else _place(pair, column))


def _place(pair: Pair, column: int | None) -> Array | None:
    return None if column is None else pair.after[column].box[:3]


def _rest(pair: Pair, row: int) -> Found:
    """What is said of an object that is seen nowhere."""
    return _told(pair, row, Event.NOTHING if still_there(pair, pair.before[row]) else Event.MISSING, None)


def by_rule(pair: Pair) -> list[Found]:
    """What is in its place and looks the same stays; the rest is looked for by its looks; then kinds are told apart."""
    same = _matched(_table(pair, away), PLACE_M)
    looks = _table(pair, looks_differ)
    stays = {
        i for i, j in same.items()
        if looks[i, j] <= LOOKS and changed_surface(pair, pair.before[i], pair.after[j]) <= SURFACE
    }  # fmt: skip
    free = {j for j in range(len(pair.after)) if j not in {same[i] for i in stays}}
    cost = looks.copy()
    for i in range(len(pair.before)):
        for j in range(len(pair.after)):
            sizes = np.abs(np.sort(pair.before[i].box[3:]) - np.sort(pair.after[j].box[3:])).max()
            worse = i in same and looks[i, j] >= looks[i, same[i]]
            if i in stays or j not in free or same.get(i) == j or worse or sizes > 0.04:
                cost[i, j] = 1e3
    moved = _matched(cost, LOOKS)
    found = []
    for i in range(len(pair.before)):
        if i in stays:
            found.append(_told(pair, i, Event.NOTHING, same[i]))
        elif i in moved:
            found.append(_told(pair, i, Event.MOVED, moved[i]))
        elif i in same and same[i] not in moved.values():
            event = Event.REPLACED if looks[i, same[i]] > OTHER else Event.STATE
            found.append(_told(pair, i, event, same[i]))
        else:
            found.append(_rest(pair, i))
    return found

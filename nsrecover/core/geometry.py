"""Axis-aligned boxes: overlap, gaps and support, for one box, or many, against many."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import Box, FloatArray

CONTACT_M = 0.012
"""Two faces nearer than this count as touching: camera boxes are good to a few millimetres."""

SAME_SIZE_M = 0.008
"""Sides that differ by less are the same side: camera boxes are good to a few millimetres."""


def as_box(array: FloatArray | npt.NDArray[np.float64]) -> Box:
    """A box (6,) as a tuple of floats."""
    x, y, z, width, depth, height = (float(value) for value in array)
    return x, y, z, width, depth, height


def bottom(boxes: npt.ArrayLike) -> FloatArray:
    """Height of the underside of each box, (...,) for boxes (..., 6)."""
    array = np.asarray(boxes, dtype=np.float32)
    return np.asarray(array[..., 2] - array[..., 5] / 2, dtype=np.float32)


def top(boxes: npt.ArrayLike) -> FloatArray:
    """Height of the upper side of each box, (...,) for boxes (..., 6)."""
    array = np.asarray(boxes, dtype=np.float32)
    return np.asarray(array[..., 2] + array[..., 5] / 2, dtype=np.float32)


def _many(boxes: npt.ArrayLike) -> FloatArray:
    """Boxes (..., M, 6) from one box, none, or any number of them."""
    array = np.asarray(boxes, dtype=np.float32)
    return array if array.ndim > 1 else array.reshape(-1, 6)


def gaps(box: npt.ArrayLike, others: npt.ArrayLike) -> FloatArray:
    """Signed gaps along each axis of boxes (..., 6) to others (..., M, 6): (..., M, 3), negative where they overlap."""
    a, b = np.asarray(box, dtype=np.float32)[..., None, :], _many(others)
    return np.asarray(np.abs(a[..., :3] - b[..., :3]) - (a[..., 3:] + b[..., 3:]) / 2, dtype=np.float32)


def footprint_overlap(box: npt.ArrayLike, others: npt.ArrayLike) -> FloatArray:
    """Share of the smaller footprint that boxes (..., 6) share with others (..., M, 6), from above: (..., M)."""
    a, b = np.asarray(box, dtype=np.float32)[..., None, :], _many(others)
    sides = np.clip(-gaps(box, b)[..., :2], 0.0, np.minimum(a[..., 3:5], b[..., 3:5]))
    smaller = np.minimum(a[..., 3] * a[..., 4], b[..., 3] * b[..., 4])
    return np.asarray(sides[..., 0] * sides[..., 1] / np.maximum(smaller, 1e-9), dtype=np.float32)


def intersects(box: npt.ArrayLike, others: npt.ArrayLike, slack_m: float = 0.004) -> npt.NDArray[np.bool_]:
    """Whether boxes (..., 6) run more than `slack_m` deep into each of the others (M, 6): (..., M)."""
    return np.asarray(np.all(gaps(box, others) < -slack_m, axis=-1), dtype=np.bool_)


SAME_ROOM = 0.3
"""Share of the room of two boxes together that is in both, from which on two objects would be in one place."""


def shared_room(box: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Volume that boxes (..., 6) have in common with each of the others (M, 6): (..., M), cubic metres."""
    a, b = np.asarray(box, dtype=np.float32)[..., None, :], _many(others)
    shared = np.clip(-gaps(box, b), 0.0, np.minimum(a[..., 3:], b[..., 3:])).prod(axis=-1)
    return np.asarray(shared, dtype=np.float32)


def same_room(box: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether boxes (..., 6) take up so much of the room of others (M, 6) that both cannot be there: (..., M)."""
    a, b = np.asarray(box, dtype=np.float32)[..., None, :], _many(others)
    shared = shared_room(box, b)
    together = a[..., 3:].prod(axis=-1) + b[..., 3:].prod(axis=-1) - shared
    return np.asarray(shared > SAME_ROOM * together, dtype=np.bool_)


BOX_ERROR_M = 0.005
"""How far the centre of a camera box may be off because one of its faces is."""


def rigid_shift(boxes: npt.ArrayLike, others: npt.ArrayLike) -> FloatArray:
    """How far boxes (..., 6) have moved to become others (..., 6), by both of their faces on every axis: (..., 3).

    A rigid object moves both faces of an axis equally far. Where one face has moved more, an outlier or an occlusion
    has changed the box, and its centre says too much; therefore the face counts that has moved less, and none if they
    moved apart or together. The centre is corrected by `BOX_ERROR_M` at most, as the sides may have been wrong before.
    """
    a, b = np.asarray(boxes, dtype=np.float32), np.asarray(others, dtype=np.float32)
    centre, grown = b[..., :3] - a[..., :3], np.minimum(np.abs(b[..., 3:] - a[..., 3:]) / 2, BOX_ERROR_M)
    return np.asarray(np.sign(centre) * np.maximum(np.abs(centre) - grown, 0.0), dtype=np.float32)


TURNS = np.linspace(0.0, np.pi / 2, 19, dtype=np.float32)
"""Turns about the vertical with which sides are compared, radians."""


def with_sides(boxes: FloatArray, sides: FloatArray) -> FloatArray:
    """Boxes (..., 6) with other sides (..., 3), on the same undersides."""
    middles = boxes[..., :3].copy()
    middles[..., 2] += (sides[..., 2] - boxes[..., 5]) / 2
    return np.concatenate([middles, sides], axis=-1)


def same_side_up(boxes: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """P(boxes (..., 6) stand upright on the same side as others (..., 6)): (...,).

    0.5 if they have the sides of an object with another side up, `SAME_SIZE_M` higher or lower, or if they are that far
    from the sides around an upright one. Part of an object may be hidden: less of it says nothing.
    """
    first, second = np.asarray(boxes, dtype=np.float32), np.asarray(others, dtype=np.float32)
    a, b = first[..., 3:], second[..., 3:]
    apart = np.abs(np.sort(a, axis=-1) - np.sort(b, axis=-1)).max(axis=-1)
    # a turn fits many sides: those have to be twice as near
    apart = np.minimum(apart, 2 * np.minimum(_apart_if_turned(a, b), _apart_if_turned(b, a)))
    higher = np.abs(a[..., 2] - b[..., 2])
    comparable = apart < np.minimum(higher / 2, SAME_SIZE_M)
    turned = np.where(comparable, np.exp2(-((higher / SAME_SIZE_M) ** 4)), 1.0)
    leaning = np.exp2(-((_askew(first, second) / SAME_SIZE_M) ** 4))
    return np.asarray(np.minimum(turned, leaning), dtype=np.float32)


def _askew(boxes: FloatArray, seen: FloatArray) -> FloatArray:
    """How far seen boxes (..., 6) are from those of upright objects (..., 6), turned about the vertical or not: (...,).

    A leaning object is wider, or higher, than an upright one. Its top has moved and its height has changed: a hidden
    underside changes only its height, and an error of depth moves its underside, too. A turn widens both sides; one of
    them may be hidden in part.
    """
    higher = np.minimum(top(seen) - top(boxes), seen[..., 5] - boxes[..., 5])
    p, q = boxes[..., 3, None], boxes[..., 4, None]
    around = np.stack([p * np.cos(TURNS) + q * np.sin(TURNS), p * np.sin(TURNS) + q * np.cos(TURNS)], axis=-1)
    wider = seen[..., None, 3:5] - around
    beyond = np.maximum(wider, -wider / 2).max(axis=-1).min(axis=-1)
    beyond = np.minimum(beyond, wider[..., 0, :].max(axis=-1))
    return np.asarray(np.hypot(np.maximum(beyond, 0.0), np.maximum(higher, 0.0)), dtype=np.float32)


def _apart_if_turned(sides: FloatArray, seen: FloatArray) -> FloatArray:
    """How far seen sides (..., 3) are from those around an object with some sides (..., 3): on any of them, turned.

    Around a rectangle p, q that is turned by t are sides with the sum (p + q)(cos t + sin t) and the difference
    (p - q)(cos t - sin t).
    """
    total, difference = seen[..., 0] + seen[..., 1], np.abs(seen[..., 0] - seen[..., 1])
    found = []
    for upright in range(3):
        p, q = (sides[..., i] for i in range(3) if i != upright)
        turn = np.clip(total / np.maximum(p + q, 1e-6), 1.0, np.sqrt(2.0))
        expected = np.abs(p - q) * np.sqrt(np.maximum(2.0 - turn**2, 0.0))
        off = (seen[..., 2] - sides[..., upright], total - (p + q) * turn, difference - expected)
        found.append(np.abs(np.stack(off)).max(axis=0))
    return np.asarray(np.min(found, axis=0), np.float32)


def fits_into(boxes: npt.ArrayLike, others: npt.ArrayLike, room_m: float) -> npt.NDArray[np.float32]:
    """P(boxes (..., 6) need no more room than others (..., 6)): (...,); 0.5 if one is `room_m` wider or higher.

    Boxes that need less room fit: part of an object may be hidden, or it was squared up.
    """
    a, b = np.asarray(boxes, dtype=np.float32)[..., 3:], np.asarray(others, dtype=np.float32)[..., 3:]
    more = np.maximum((a - b).max(axis=-1), 0.0)
    return np.asarray(np.exp2(-((more / room_m) ** 4)), dtype=np.float32)


def near_enough(
    boxes: npt.ArrayLike, others: npt.ArrayLike, tolerance_m: float | npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """P(objects with boxes (..., 6) are within a tolerance of those of others (..., 6)): (...,); 0.5 at the tolerance.

    A turn about the vertical widens both horizontal sides and leaves the centre where it is. Every other difference of
    the sides is taken for a face that an outlier or an occlusion has moved, and the centre is corrected by it.
    """
    a, b = np.asarray(boxes, dtype=np.float32), np.asarray(others, dtype=np.float32)
    longer = a[..., 3:] - b[..., 3:]
    longer[..., :2] -= np.maximum(longer[..., :2].min(axis=-1, keepdims=True), 0.0)
    away = np.maximum(np.abs(a[..., :3] - b[..., :3]) - np.abs(longer) / 2, 0.0)
    return np.asarray(np.exp2(-((np.linalg.norm(away, axis=-1) / tolerance_m) ** 4)), dtype=np.float32)


def turned_over(boxes: npt.ArrayLike, others: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether boxes (..., 6) have the sides of others (..., 6) with another one upright: (...,)."""
    return np.asarray(same_side_up(boxes, others) < 0.5, dtype=np.bool_)

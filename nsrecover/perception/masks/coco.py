"""Run lengths and polygons of COCO, with the pixels that pycocotools gives them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidObservation
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

Mask = npt.NDArray[np.bool_]

FINE = 5
"""Polygons are traced on a grid this much finer than the pixels."""

OUTSIDE = 0.05
"""Share of a side of the image by which a polygon may lie outside of it."""


def run_lengths(mask: Mask) -> JsonObject:
    """COCO run lengths of a mask (H, W), uncompressed: lengths of runs down the columns, background first."""
    flat = np.asarray(mask, np.bool_).T.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return {"size": list(mask.shape), "counts": [0, *lengths] if flat.size and flat[0] else lengths}


def of_runs(runs: JsonMapping, height: int, width: int) -> Mask:
    """Mask (H, W) of run lengths.

    Raises:
        InvalidObservation: they are none, or of an image of another size.
    """
    try:
        size, counts = [_whole(side) for side in runs["size"]], runs["counts"]
        lengths = _decompressed(counts) if isinstance(counts, str | bytes) else [_whole(each) for each in counts]
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise InvalidObservation(
            f"expected COCO run lengths with `size` and `counts`, found a mask without ({problem})"
        ) from problem
    if size != [height, width] or sum(lengths) != height * width or min(lengths, default=0) < 0:
        raise InvalidObservation(
            f"expected run lengths of {height} x {width} pixels, as the image, found size {size} and {sum(lengths)} "
            "pixels; COCO's size is [height, width]"
        )
    flat = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return np.ascontiguousarray(flat.reshape(width, height).T)


def _whole(number: Any) -> int:
    if isinstance(number, bool | str) or number != int(number):
        raise ValueError(f"{number!r} is no whole number")
    return int(number)


def _decompressed(text: str | bytes) -> list[int]:
    """Run lengths of COCO's compressed text: five bits a character; from the fourth on relative to two before."""
    data = text.encode() if isinstance(text, str) else text
    if not all(48 <= each < 112 for each in data):
        raise ValueError("characters that compressed run lengths do not have")
    lengths: list[int] = []
    place = 0
    while place < len(data):
        value, shift, more = 0, 0, True
        while more:
            bits = data[place] - 48
            value |= (bits & 0x1F) << shift
            more = bool(bits & 0x20)
            place, shift = place + 1, shift + 5
            if not more and bits & 0x10:
                value |= -1 << shift
        lengths.append(value + lengths[-2] if len(lengths) > 2 else value)
    return lengths


def of_polygons(polygons: Sequence[Any], height: int, width: int) -> Mask:
    """Mask (H, W) of the union of polygons.

    Raises:
        InvalidObservation: they are none, in parts of the image's size instead of pixels, or of a larger image.
    """
    rows = [_corners(each) for each in polygons]
    corners = np.concatenate(rows)
    if corners.min() >= 0 and corners.max() <= 1 and max(height, width) > 2:
        raise InvalidObservation(
            f"expected polygons in pixels of the image, {height} x {width}, found coordinates from {corners.min():.3g} "
            f"to {corners.max():.3g}, which are shares of its sides; multiply x by {width} and y by {height}"
        )
    spare = np.maximum(OUTSIDE * np.array([width, height]), 2)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if (low < -spare).any() or (high > np.array([width, height]) + spare).any():
        raise InvalidObservation(
            f"expected polygons inside the image, {width} wide and {height} high, found x from {low[0]:.4g} to "
            f"{high[0]:.4g} and y from {low[1]:.4g} to {high[1]:.4g}; scale them to the image"
        )
    return np.asarray(np.any([_filled(each, height, width) for each in rows], axis=0), np.bool_)


def _corners(polygon: Any) -> npt.NDArray[np.float64]:
    """Corners (N, 2) of a polygon: x1, y1, x2, y2, ... or pairs."""
    try:
        points = np.zeros(0) if isinstance(polygon, str) else np.asarray(polygon, np.float64).ravel()
    except (TypeError, ValueError):
        points = np.zeros(0)
    if len(points) < 6 or len(points) % 2 or not np.isfinite(points).all():
        raise InvalidObservation(
            f"expected polygons as [[x1, y1, x2, y2, x3, y3, ...], ...] in pixels, found {str(polygon)[:40]}"
        )
    return points.reshape(-1, 2)


def _filled(corners: npt.NDArray[np.float64], height: int, width: int) -> Mask:
    """Pixels of one polygon: those with an odd number of crossings of its outline before them in their column."""
    fine = np.trunc(FINE * corners + 0.5).astype(np.int64)
    u, v = (np.concatenate(parts) for parts in zip(*map(_line, fine, np.roll(fine, -1, axis=0)), strict=True))
    step = np.flatnonzero(np.diff(u)) + 1
    column = (np.minimum(u[step], u[step - 1]) + 0.5) / FINE - 0.5
    row = np.ceil(np.clip((np.minimum(v[step], v[step - 1]) + 0.5) / FINE - 0.5, 0, height))
    inside = (column == np.floor(column)) & (column >= 0) & (column <= width - 1)
    place = column[inside].astype(np.int64) * height + row[inside].astype(np.int64)
    crossings = np.bincount(place, minlength=height * width + 1)[: height * width]
    return np.ascontiguousarray((np.cumsum(crossings) % 2 == 1).reshape(width, height).T)


def _line(
    start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Points of the fine grid on a line, both ends included; rounded from the same end in both directions."""
    across, down = np.abs(end - start).tolist()
    axis = 0 if across >= down else 1
    low, high = (end, start) if start[axis] > end[axis] else (start, end)
    run = np.arange(max(across, down) + 1)
    slope = (high[1 - axis] - low[1 - axis]) / max(run[-1], 1)
    along, beside = run + low[axis], np.trunc(low[1 - axis] + slope * run + 0.5).astype(np.int64)
    if low is not start:
        along, beside = along[::-1], beside[::-1]
    return (along, beside) if axis == 0 else (beside, along)

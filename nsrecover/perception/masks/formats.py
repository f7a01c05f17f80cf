"""Instance masks as detectors deliver them: label images, run lengths and polygons of COCO, stacks of binary masks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from nsrecover.errors import InvalidObservation
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

Mask = npt.NDArray[np.bool_]


def mask_of(segmentation: Any, height: int, width: int) -> Mask:
    """One binary mask (H, W).

    Args:
        segmentation: a binary image (H, W); COCO run lengths `{"size": [H, W], "counts": ...}`, as a list of numbers or
            compressed text; or COCO polygons `[[x1, y1, x2, y2, ...], ...]`, pixels.
        height: H.
        width: W.

    Raises:
        InvalidObservation: it is of another form or size.
    """
    if isinstance(segmentation, Mapping):
        return _of_runs(segmentation, height, width)
    if isinstance(segmentation, np.ndarray) and segmentation.ndim == 2:
        if segmentation.shape != (height, width):
            raise InvalidObservation(
                f"expected a mask of {height} x {width} pixels, as the image, found {segmentation.shape}; resize "
                "masks to the image, without interpolation"
            )
        return np.asarray(segmentation != 0, np.bool_)
    if isinstance(segmentation, Sequence) and segmentation and not isinstance(segmentation, str):
        return _of_polygons(segmentation, height, width)
    raise InvalidObservation(
        f"expected a mask as an image, COCO run lengths or polygons, found {type(segmentation).__name__}"
    )


def instances_of(
    detections: Sequence[JsonMapping], height: int, width: int
) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    """Instance image (H, W) and labels, number -> name, of the detections of one image.

    Where masks overlap, the smaller one is in front.

    Args:
        detections: each with `segmentation`, see `mask_of`, `name`, and optionally `number`, 1, 2, ... otherwise.
        height: H.
        width: W.

    Raises:
        InvalidObservation: a mask cannot be used, or a number occurs twice.
    """
    found = []
    for place, each in enumerate(detections, start=1):
        if "segmentation" not in each or "name" not in each:
            raise InvalidObservation(
                f"expected `name` and `segmentation` in every detection, found {sorted(each)} in detection {place}"
            )
        found.append((int(each.get("number", place)), str(each["name"]), mask_of(each["segmentation"], height, width)))
    numbers = [number for number, _, _ in found]
    if len(set(numbers)) < len(numbers) or min(numbers, default=1) < 1:
        raise InvalidObservation(f"expected a different number above 0 for each detection, found {numbers}")
    instances = np.zeros((height, width), np.int32)
    for number, _, mask in sorted(found, key=lambda each: -int(each[2].sum())):
        instances[mask] = number
    return instances, {number: name for number, name, _ in found}


def run_lengths(mask: Mask) -> JsonObject:
    """COCO run lengths of a mask (H, W), uncompressed: lengths of runs down the columns, background first."""
    flat = np.asarray(mask, np.bool_).T.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return {"size": list(mask.shape), "counts": [0, *lengths] if flat.size and flat[0] else lengths}


def _of_runs(runs: JsonMapping, height: int, width: int) -> Mask:
    try:
        size, counts = list(map(int, runs["size"])), runs["counts"]
        lengths = _decompressed(counts) if isinstance(counts, str | bytes) else list(map(int, counts))
    except (KeyError, TypeError, ValueError, IndexError) as problem:
        raise InvalidObservation(
            f"expected COCO run lengths with `size` and `counts`, found a mask without ({problem})"
        ) from problem
    if size != [height, width] or sum(lengths) != height * width or min(lengths, default=0) < 0:
        raise InvalidObservation(
            f"expected run lengths of {height} x {width} pixels, as the image, found size {size} and {sum(lengths)} "
            "pixels"
        )
    flat = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return np.ascontiguousarray(flat.reshape(width, height).T)


def _decompressed(text: str | bytes) -> list[int]:
    """Run lengths of COCO's compressed text: five bits a character; from the fourth on relative to two before."""
    data = text.encode() if isinstance(text, str) else text
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


def _of_polygons(polygons: Sequence[Any], height: int, width: int) -> Mask:
    image = Image.new("1", (width, height))
    draw = ImageDraw.Draw(image)
    for polygon in polygons:
        points = np.asarray(polygon, np.float64).ravel() if not isinstance(polygon, str) else np.zeros(0)
        if len(points) < 6 or len(points) % 2 or not np.isfinite(points).all():
            raise InvalidObservation(
                f"expected polygons as [[x1, y1, x2, y2, x3, y3, ...], ...] in pixels, found {str(polygon)[:40]}"
            )
        draw.polygon([(float(x), float(y)) for x, y in points.reshape(-1, 2)], fill=1)
    return np.asarray(image, np.bool_)

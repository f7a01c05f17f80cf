"""Instance masks as detectors deliver them: label images, run lengths and polygons of COCO, stacks of binary masks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.coco import Mask, of_polygons, of_runs, run_lengths
from nsrecover.util.untrusted_json import JsonMapping

__all__ = ["Mask", "instances_of", "mask_of", "run_lengths"]

SAME_OBJECT = 0.6
"""Masks that share this part of their pixels (intersection over union) show one object, as detectors suppress them."""

PERCENT = 100
"""Largest coordinate of polygons in percent of the image."""

LARGEST = int(np.iinfo(np.int32).max)
"""Largest number of a detection."""


def mask_of(segmentation: Any, height: int, width: int) -> Mask:
    """One binary mask (H, W).

    Args:
        segmentation: an image (H, W), array, tensor or nested lists, of 0 and 1 or 0 and 255; COCO run lengths
            `{"size": [H, W], "counts": ...}`, as a list of numbers or compressed text, or a list of these; or COCO
            polygons `[[x1, y1, x2, y2, ...], ...]`, pixels.
        height: H.
        width: W.

    Raises:
        InvalidObservation: it is of another form or size, or not binary.
    """
    if isinstance(segmentation, Mapping):
        return of_runs(segmentation, height, width)
    if hasattr(segmentation, "__array__") or hasattr(segmentation, "__array_interface__"):
        return _of_image(np.asarray(segmentation), height, width)
    if not isinstance(segmentation, Sequence) or isinstance(segmentation, str | bytes):
        raise InvalidObservation(
            f"expected a mask as an image, COCO run lengths or polygons, found {type(segmentation).__name__}"
        )
    if not segmentation:
        raise InvalidObservation("expected a mask, found no polygon; leave out what was not found")
    if all(isinstance(each, Mapping) for each in segmentation):
        return np.asarray(np.any([of_runs(each, height, width) for each in segmentation], axis=0), np.bool_)
    if all(isinstance(each, int | float) for each in segmentation):
        return of_polygons([segmentation], height, width)
    rows = _rows(segmentation)
    # as polygons, lists of 0 and 1 would be in shares of the image, which are refused, too
    if rows is not None and (rows.shape == (height, width) or _binary(rows)):
        return _of_image(rows, height, width)
    return of_polygons(segmentation, height, width)


def _rows(segmentation: Sequence[Any]) -> npt.NDArray[np.generic] | None:
    """Nested lists of one length as an array (M, N); None if they are something else."""
    sizes = {len(row) if isinstance(row, Sequence | np.ndarray) else -1 for row in segmentation}
    if len(sizes) != 1 or min(sizes) < 1:
        return None
    found = np.asarray(segmentation)
    return found if found.ndim == 2 and found.dtype.kind in "biuf" else None


def _of_image(image: npt.NDArray[np.generic], height: int, width: int) -> Mask:
    flat = image
    if image.ndim == 3 and 1 in (image.shape[0], image.shape[2]):  # a batch or a channel of one
        flat = image[0] if image.shape[0] == 1 else image[..., 0]
    if flat.shape != (height, width):
        raise InvalidObservation(
            f"expected a mask of {height} x {width} pixels, as the image, found {image.shape}; ask the detector for "
            "masks or polygons at the size of the image, or undo its padding and resize without interpolation"
        )
    if not _binary(flat):
        found = (
            f"{flat.dtype}" if flat.dtype.kind not in "biuf" else f"values from {flat.min():.3g} to {flat.max():.3g}"
        )
        raise InvalidObservation(
            f"expected a mask of 0 and 1, or 0 and 255, found {found}; compare probabilities with 0.5, logits with 0, "
            "and label images with the number of the object"
        )
    return np.asarray(flat != 0, np.bool_)


def _binary(image: npt.NDArray[np.generic]) -> bool:
    """Whether an image has no other values than 0 and 1, or 0 and 255."""
    if image.dtype == np.bool_:
        return True
    return image.dtype.kind in "iuf" and any(bool(((image == 0) | (image == on)).all()) for on in (1, 255))


@dataclass(frozen=True)
class _Detection:
    """What a detector found: number and name, its mask, and how sure it is, or None."""

    number: int
    name: str
    mask: Mask
    confidence: float | None

    @property
    def pixels(self) -> int:
        """Their number."""
        return int(self.mask.sum())

    def surer_than(self, confidence: float) -> bool:
        """Whether it was found with more confidence."""
        return self.confidence is not None and self.confidence > confidence


def instances_of(
    detections: Sequence[JsonMapping], height: int, width: int
) -> tuple[npt.NDArray[np.int32], dict[int, str]]:
    """Instance image (H, W) and labels, number -> name, of the detections of one image.

    Where masks overlap, the smaller one is in front; what is covered by others is left out. Of detections of the same
    pixels the most confident one counts.

    Args:
        detections: each with `segmentation`, see `mask_of`, `name`, and optionally `number`, 1, 2, ... otherwise, and
            `confidence` or `score`.
        height: H.
        width: W.

    Raises:
        InvalidObservation: a mask cannot be used or shows nothing, a number occurs twice, or the same pixels are found
            twice, without a confidence to choose by.
    """
    if not isinstance(detections, Sequence) or isinstance(detections, str | bytes):
        raise InvalidObservation(f"expected a list of detections, found {type(detections).__name__}")
    found = [_detection(each, place, height, width) for place, each in enumerate(detections, start=1)]
    if len(found) > 1 and not any(hasattr(each["segmentation"], "__array__") for each in detections):
        _check_percent(found)
    numbers = [each.number for each in found]
    if len(set(numbers)) < len(numbers) or min(numbers, default=1) < 1 or max(numbers, default=1) > LARGEST:
        raise InvalidObservation(
            f"expected a different number from 1 to {LARGEST} for each detection, found {numbers}; number objects anew"
        )
    found = _once_each(found)
    instances = np.zeros((height, width), np.int32)
    for each in sorted(found, key=lambda one: -one.pixels):
        instances[each.mask] = each.number
    if empty := [each for each in found if not each.pixels]:
        raise InvalidObservation(
            f"expected pixels of each detection, found none of {empty[0].name!r} ({empty[0].number}); leave it out"
        )
    seen = set(np.unique(instances).tolist())
    return instances, {each.number: each.name for each in found if each.number in seen}


def _check_percent(found: Sequence[_Detection]) -> None:
    """Refuse polygons of several objects that all are in one corner of a large image: they are in percent.

    Raises:
        InvalidObservation: they are.
    """
    seen = np.any([each.mask for each in found], axis=0)
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if min(seen.shape) < 2 * PERCENT or not len(rows) or max(rows[-1], columns[-1]) > PERCENT:
        return
    if max(rows[-1] - rows[0], columns[-1] - columns[0]) > PERCENT / 2:
        height, width = seen.shape
        raise InvalidObservation(
            f"expected polygons in pixels of an image of {width} x {height}, found those of {len(found)} objects "
            f"within {PERCENT} pixels of its corner, as if in percent; multiply x by {width / PERCENT:g} and y by "
            f"{height / PERCENT:g}"
        )


def _detection(given: JsonMapping, place: int, height: int, width: int) -> _Detection:
    if not isinstance(given, Mapping) or "segmentation" not in given or "name" not in given:
        found = sorted(given) if isinstance(given, Mapping) else type(given).__name__
        raise InvalidObservation(
            f"expected `name` and `segmentation` in every detection, found {found} in detection {place}"
        )
    number, name, confidence = given.get("number", place), given["name"], given.get("confidence")
    if not isinstance(name, str) or not name.strip():
        raise InvalidObservation(f"expected a text as `name` of a detection, found {name!r} in detection {place}")
    confidence = given.get("score") if confidence is None else confidence
    try:
        whole, sure = int(number), None if confidence is None else float(confidence)
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidObservation(
            f"expected numbers as `number` and `confidence`, found {number!r} and {confidence!r} in detection {place}"
        ) from problem
    if (isinstance(number, float) and number != whole) or (sure is not None and not np.isfinite(sure)):
        raise InvalidObservation(
            f"expected a whole `number` and a finite `confidence`, found {number} and {confidence} in detection {place}"
        )
    return _Detection(whole, str(name), mask_of(given["segmentation"], height, width), sure)


def _once_each(found: Sequence[_Detection]) -> list[_Detection]:
    """The detections without those of an object that was found with more confidence.

    As detectors do it: only what is kept itself suppresses others.

    Raises:
        InvalidObservation: two show the same pixels with the same confidence, or without.
    """
    kept = list[_Detection]()
    for each in sorted(found, key=lambda one: -np.inf if one.confidence is None else -one.confidence):
        same = [other for other in kept if _same_object(each, other)]
        if any(each.confidence is not None and other.surer_than(each.confidence) for other in same):
            continue
        if same:
            raise InvalidObservation(
                f"expected each object once, found the same pixels as {same[0].name!r} and as {each.name!r}; give each "
                "detection its `confidence`, or suppress overlapping ones of all classes in the detector"
            )
        kept.append(each)
    return [each for each in found if any(each is one for one in kept)]


def _same_object(one: _Detection, other: _Detection) -> bool:
    together = int((one.mask & other.mask).sum())
    return 0 < together >= SAME_OBJECT * (one.pixels + other.pixels - together)

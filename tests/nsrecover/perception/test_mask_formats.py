"""Masks of detectors: images, run lengths and polygons."""

from typing import Any

import numpy as np
import pytest

from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.formats import instances_of, mask_of, run_lengths

MASK = np.zeros((5, 7), np.bool_)
MASK[1:4, 2:5] = True

COMPRESSED = {"size": [5, 7], "counts": ";320009"}
"""The same mask as pycocotools writes it: the runs 11, 3, 2, 3, 2, 3, 11; later ones relative to two before."""


def test_run_lengths_come_back() -> None:
    assert run_lengths(MASK)["counts"] == [11, 3, 2, 3, 2, 3, 11]
    rng = np.random.default_rng(0)
    for mask in [MASK, ~MASK, rng.random((5, 7)) > 0.5, np.ones((5, 7), np.bool_), np.zeros((5, 7), np.bool_)]:
        np.testing.assert_array_equal(mask_of(run_lengths(mask), 5, 7), mask)


def test_compressed_run_lengths_polygons_and_images_are_the_same_mask() -> None:
    for given in (COMPRESSED, [[2, 1, 5, 1, 5, 4, 2, 4]], MASK.astype(np.uint8)):
        np.testing.assert_array_equal(mask_of(given, 5, 7), MASK)


def test_detections_become_instances_with_the_smaller_one_in_front() -> None:
    whole = run_lengths(np.ones((5, 7), np.bool_))
    instances, labels = instances_of(
        [{"name": "cup", "number": 4, "segmentation": run_lengths(MASK)}, {"name": "tray", "segmentation": whole}], 5, 7
    )
    assert labels == {4: "cup", 2: "tray"}
    np.testing.assert_array_equal(instances, np.where(MASK, 4, 2))
    assert instances_of([], 5, 7)[1] == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": [7, 5], "counts": [35]}, "as the image"),
        ({"size": [5, 7], "counts": [34]}, "34 pixels"),
        ({"counts": [35]}, "`size` and `counts`"),
        ([[1, 2, 3]], "polygons as"),
        (np.zeros((5, 6)), "without interpolation"),
        ("cup", "polygons"),
    ],
)
def test_masks_that_cannot_be_used_are_refused(given: Any, message: str) -> None:
    with pytest.raises(InvalidObservation, match=message):
        mask_of(given, 5, 7)


def test_numbers_that_occur_twice_are_refused() -> None:
    with pytest.raises(InvalidObservation, match="different number"):
        instances_of([{"name": n, "number": 1, "segmentation": MASK} for n in "ab"], 5, 7)

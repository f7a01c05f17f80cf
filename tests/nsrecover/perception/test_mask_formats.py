"""Masks of detectors: images, run lengths and polygons."""

import numpy as np
import pytest

from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.formats import instances_of, mask_of, run_lengths

MASK = np.zeros((5, 7), np.bool_)
MASK[1:4, 2:5] = True


def test_run_lengths_come_back() -> None:
    for mask in (~MASK, np.random.default_rng(0).random((5, 7)) > 0.5, np.ones((5, 7), np.bool_)):
        np.testing.assert_array_equal(mask_of(run_lengths(mask), 5, 7), mask)


def test_detections_become_instances_with_the_smaller_one_in_front() -> None:
    whole = run_lengths(np.ones((5, 7), np.bool_))
    instances, labels = instances_of(
        [{"name": "cup", "number": 4, "segmentation": run_lengths(MASK)}, {"name": "tray", "segmentation": whole}], 5, 7
    )
    assert labels == {4: "cup", 2: "tray"}
    np.testing.assert_array_equal(instances, np.where(MASK, 4, 2))
    assert instances_of([], 5, 7)[1] == {}


def test_numbers_that_occur_twice_are_refused() -> None:
    with pytest.raises(InvalidObservation, match="different number"):
        instances_of([{"name": n, "number": 1, "segmentation": MASK} for n in "ab"], 5, 7)

"""Masks of parts and of two objects are put right with the known sizes."""

from __future__ import annotations

import numpy as np

from nsrecover.perception.detections import Detections
from nsrecover.perception.mask_repair import absorb_fragments, fits, separate_merged

SIDE = 0.05
SIZES = np.full((2, 1, 3), SIDE, dtype=np.float32)
PLACES = {0: (0.5, 0.0), 1: (0.5, 0.052)}
EXPECTED = np.array([[*PLACES[i], SIDE / 2, SIDE, SIDE, SIDE] for i in PLACES], dtype=np.float32)


def cloud(number: int, half: int | None = None) -> np.ndarray:
    """Points on a cube, or on one half of it."""
    rng = np.random.default_rng(number)
    points = rng.uniform(-SIDE / 2, SIDE / 2, (2000, 3)) + np.array([*PLACES[number], SIDE / 2])
    if half is not None:
        points = points[(points[:, 0] > PLACES[number][0]) == bool(half)]
    return points.astype(np.float32)


def detections(*clouds: np.ndarray, looks: tuple[int, ...]) -> Detections:
    return Detections(
        tuple((i + 1,) for i in range(len(clouds))),
        (None,) * len(clouds),
        clouds,
        np.eye(4, dtype=np.float32)[list(looks)],
        np.full(len(clouds), 100.0, dtype=np.float32),
    )


def test_the_other_part_of_an_object_is_joined_to_it() -> None:
    split = detections(cloud(0, 0), cloud(1), cloud(0, 1), looks=(0, 1, 0))
    mended, found = absorb_fragments(split, np.array([0, 1]), SIZES)
    assert found.tolist() == [0, 1]
    assert mended.numbers == ((1, 3), (2,))
    assert np.abs(mended.boxes[0] - EXPECTED[0]).max() < 0.003


def test_another_object_is_no_part() -> None:
    beside = detections(cloud(0), cloud(1), looks=(0, 0))
    mended, found = absorb_fragments(beside, np.array([0, -1]), SIZES)
    assert len(mended) == 2
    assert found.tolist() == [0, -1]
    other_colour = detections(cloud(0, 0), cloud(0, 1), looks=(0, 1))
    assert len(absorb_fragments(other_colour, np.array([0, -1]), SIZES)[0]) == 2


def test_a_mask_of_two_objects_is_separated() -> None:
    merged = detections(np.concatenate([cloud(0), cloud(1)]), looks=(0,))
    mended, found = separate_merged(merged, np.array([0, -1]), SIZES, EXPECTED)
    assert found.tolist() == [0, 1]
    assert np.abs(mended.boxes - EXPECTED).max() < 0.006


def test_points_on_an_object_that_is_seen_are_left_to_it() -> None:
    one_view = detections(np.concatenate([cloud(0), cloud(1, 1)]), cloud(1, 0), looks=(0, 1))
    mended, found = separate_merged(one_view, np.array([0, 1]), SIZES, EXPECTED)
    assert found.tolist() == [0, 1]
    assert np.abs(mended.boxes[0] - EXPECTED[0]).max() < 0.006


def test_what_fits_is_left_alone() -> None:
    fine = detections(cloud(0), cloud(1), looks=(0, 1))
    mended, found = separate_merged(fine, np.array([0, 1]), SIZES, EXPECTED)
    assert mended is fine
    assert found.tolist() == [0, 1]


def test_an_object_may_lie_on_any_side() -> None:
    brick = np.array([[0.03, 0.05, 0.08]], dtype=np.float32)
    assert fits(np.array([0, 0, 0, 0.08, 0.03, 0.05], np.float32), brick)
    assert not fits(np.array([0, 0, 0, 0.08, 0.08, 0.05], np.float32), brick)

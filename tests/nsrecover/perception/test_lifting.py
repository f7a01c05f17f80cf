"""Boxes from depth and masks with the errors of real sensors, on an image that is drawn by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from nsrecover.core.observation import Camera, Observation
from nsrecover.perception.lifting import (
    box_around,
    lift_points,
    table_height,
    to_world,
)
from nsrecover.perception.objects.detections import lift_boxes
from tests.nsrecover.seen_from_above import EYE_M, SIDE
from tests.nsrecover.seen_from_above import seen as seen_from_above


@pytest.fixture
def seen() -> Observation:
    """A cube of 5 cm on a table, seen from straight above: 16 pixels wide."""
    return seen_from_above((0.0, 0.0, SIDE))


def error_mm(observation: Observation) -> float:
    """Largest error of the place and sides of what is visible, the upper face."""
    (box,), found = lift_boxes(observation, [1])
    assert found.tolist() == [True]
    top = box[2] + box[5] / 2
    return 1000 * float(np.abs([*box[:2], *box[3:5] - SIDE, top - SIDE]).max())


@pytest.mark.parametrize("pixels", [1, 2, 3])
def test_a_mask_that_bleeds_over_the_edge_does_not_matter(seen: Observation, pixels: int) -> None:
    grown = ndimage.binary_dilation(seen.instances[0], iterations=pixels)[None].astype(np.int32)
    assert error_mm(replace(seen, instances=grown)) == pytest.approx(error_mm(seen), abs=0.1)


def test_readings_between_object_and_background_do_not_matter(seen: Observation) -> None:
    depth, rng = seen.depth_m.copy(), np.random.default_rng(0)
    mask = seen.instances[0] > 0
    edge = mask & ~ndimage.binary_erosion(mask)
    depth[0][edge] = rng.uniform(EYE_M - SIDE, EYE_M, edge.sum())
    assert error_mm(replace(seen, depth_m=depth)) < 6


def test_noise_and_single_wild_readings_do_not_matter(seen: Observation) -> None:
    rng = np.random.default_rng(1)
    depth = seen.depth_m + rng.normal(0, 0.002, seen.depth_m.shape).astype(np.float32)
    rows, columns = np.nonzero(seen.instances[0])
    wild = rng.choice(len(rows), 8, replace=False)
    depth[0, rows[wild], columns[wild]] -= 0.2
    assert error_mm(replace(seen, depth_m=depth)) < 6


def test_a_bias_of_depth_is_seen_at_the_table(seen: Observation) -> None:
    biased = replace(seen, depth_m=seen.depth_m + np.float32(0.006))
    assert table_height(biased, 0) == pytest.approx(-0.006, abs=1e-4)
    assert error_mm(biased) < 4


def test_a_small_part_far_from_the_rest_is_left_out(seen: Observation) -> None:
    instances, depth = seen.instances.copy(), seen.depth_m.copy()
    instances[0, 10:14, 10:14], depth[0, 10:14, 10:14] = 1, 0.8
    astray = replace(seen, instances=instances, depth_m=depth)
    whole, compact = (len(lift_points(astray, 0, numbers)[0]) for numbers in ((), (1,)))
    assert 0 < whole - compact < 16  # at the edge of the small part depth bends, too
    assert error_mm(astray) == pytest.approx(error_mm(seen), abs=0.1)


def test_what_stands_reaches_down_to_the_table_and_what_is_stacked_does_not() -> None:
    low = np.random.default_rng(3).uniform([0, 0, 0.008], [0.05, 0.05, 0.05], (500, 3)).astype(np.float32)
    assert box_around(low)[2] - box_around(low)[5] / 2 == pytest.approx(0.0, abs=1e-6)
    high = low + np.array([0, 0, 0.05], np.float32)
    assert box_around(high)[2] - box_around(high)[5] / 2 == pytest.approx(0.059, abs=0.002)


def test_pixels_are_where_a_camera_with_two_focal_lengths_and_a_turned_pose_sees_them() -> None:
    k = np.array([[100, 0, 3], [0, 50, 2], [0, 0, 1]], np.float32)
    pose = np.array([[0, -1, 0, 0.5], [1, 0, 0, 0.1], [0, 0, 1, 0.2], [0, 0, 0, 1]], np.float32)
    depth = np.full((1, 4, 6), 2.0, np.float32)
    rgb, instances = np.zeros((1, 4, 6, 3), np.uint8), np.zeros((1, 4, 6), np.int32)
    observation = Observation(rgb, depth, instances, (Camera(k, pose),), {})
    # the middles of the pixels: half a pixel from their corners
    x, y = 2 * (4.5 - 3) / 100, 2 * (1.5 - 2) / 50
    found = to_world(observation, 0, np.array([1]), np.array([4]))
    np.testing.assert_allclose(found, [[0.5 - y, 0.1 + x, 2.2]], atol=1e-6)

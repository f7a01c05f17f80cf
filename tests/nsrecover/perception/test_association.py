"""Detections are matched to known objects by looks, place and size; what fits nothing is new."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.objects.association import LooksGate, associate, association_costs

RED, GREEN, BLUE = np.eye(3, dtype=np.float32)


def box(x: float, y: float, side: float = 0.04) -> list[float]:
    return [x, y, side / 2, side, side, side]


def match(looks, boxes, seen_looks, seen_boxes, first_looks=None) -> list[int]:
    boxes, seen_boxes = np.array(boxes, np.float32), np.array(seen_boxes, np.float32).reshape(-1, 6)
    seen_looks = np.array(seen_looks, np.float32).reshape(-1, 3)
    visual = np.stack([looks, looks if first_looks is None else first_looks], axis=1)
    sizes = np.stack([boxes[:, 3:]] * 2, axis=1)
    return associate(association_costs(visual, sizes, boxes[:, None, :3], seen_looks, seen_boxes)).tolist()


@pytest.mark.parametrize(
    ("looks", "known", "seen", "found"),
    [
        # looks outweigh places when two objects are swapped
        ([RED, BLUE], [box(0.4, 0), box(0.6, 0)], [box(0.6, 0), box(0.4, 0)], [0, 1]),
        # places tell objects apart that look alike, and so do sizes if they were moved
        ([RED, RED], [box(0.4, 0), box(0.6, 0)], [box(0.6, 0.01), box(0.4, 0.01)], [1, 0]),
        ([RED, RED], [box(0.4, 0, 0.03), box(0.6, 0, 0.06)], [box(0.5, 0.2, 0.06), box(0.5, -0.2, 0.03)], [1, 0]),
        # the second one is where it was; covered, it seems as large as the first one did between its neighbours
        ([RED, RED], [box(0.4, 0, 0.041), box(0.6, 0, 0.045)], [box(0.4, 0.22, 0.045), box(0.6, 0, 0.042)], [0, 1]),
    ],
)
def test_looks_places_and_sizes_tell_objects_apart(looks, known, seen, found) -> None:
    assert match(looks, known, looks, seen) == found


def test_how_objects_looked_at_first_tells_them_apart_when_the_last_look_was_poor() -> None:
    reddish, orange = (np.array([1, g, 0], np.float32) / np.hypot(1, g) for g in (0.2, 0.9))
    places, now = [box(0.4, 0), box(0.4, 0.1)], [box(0.45, 0.07), box(0.45, 0.03)]
    # lying askew and half hidden, the first one looked like the second, near whose place it is now
    assert match([orange, orange], places, [reddish, orange], now) == [1, 0]
    assert match([orange, orange], places, [reddish, orange], now, first_looks=[reddish, orange]) == [0, 1]


def test_a_few_pixels_at_the_edge_of_an_image_show_an_object_that_is_lost() -> None:
    known, reddish = np.array([box(0.4, 0)], np.float32), np.array([[0.5, np.sqrt(0.75), 0]], np.float32)
    reddened = np.array([[0.72, np.sqrt(1 - 0.72**2), 0]], np.float32)

    def found(looks: np.ndarray, seen: list[float], pixels: float) -> list[int]:
        boxes, shown = np.array([seen], np.float32), (np.float32([800]), np.float32([pixels]))
        costs = association_costs(
            RED[None, None],
            known[:, None, 3:],
            known[:, None, :3],
            looks,
            boxes,
            pixels=shown,
            gate=LooksGate(0.36, 0.6),
        )
        return associate(costs).tolist()

    whole, slice_ = [0.6, 0.3, 0.021, 0.042, 0.038, 0.041], [0.6, 0.3, 0.03, 0.04, 0.02, 0.009]
    assert found(reddish, whole, 140) == [0]
    assert found(reddish, whole, 400) == [-1], "of many pixels the appearance counts"
    assert found(reddish, slice_, 140) == [-1], "other sides, and another colour"
    assert found(reddened, slice_, 140) == [0]
    assert found(reddish, [0.6, 0.3, 0.03, 0.06, 0.04, 0.04], 140) == [-1], "larger than the object"
    assert found(GREEN[None], whole, 140) == [-1]


def test_a_gate_keeps_its_share_of_other_images_of_the_same_objects() -> None:
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(200):
        differences = rng.gamma(2.0, 0.03, 60)
        gate = LooksGate.calibrated(differences[:40])
        assert gate.part >= gate.elsewhere
        kept.append((differences[40:] <= gate.elsewhere).mean())
    assert 0.94 < np.mean(kept) < 0.98
    with pytest.raises(InvalidConfiguration, match="at least 20 pairs"):
        LooksGate.calibrated([0.1] * 19)

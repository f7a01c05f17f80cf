"""Free places: the nearest one is exact, held against a fine grid; no proposal gets through the check that collides."""

from dataclasses import dataclass

import numpy as np
import pytest

from nsrecover.models.free_place import (
    MARGINS_M,
    find_free_place,
    is_free,
    nearest_free_place,
    proposed_free_place,
)

SIDE = 0.05


@dataclass
class Proposer:
    """A table, and a model that proposes what it is told to."""

    workspace: tuple[float, float, float, float] = (0.3, -0.35, 0.75, 0.35)
    reach_m: tuple[float, float] = (0.28, 0.81)
    centre: tuple[float, float] = (0.5, 0.0)

    def free_box(self, boxes, moved):
        box = np.asarray(boxes)[np.arange(len(boxes)), moved].copy()
        box[:, :2] = self.centre
        return box


WIDE = Proposer()
NARROW = Proposer(workspace=(-0.1, -0.3, 0.4, 0.3), reach_m=(0.2, 0.33))  # both circles cut the workspace


def random_boxes(rng: np.random.Generator, table: Proposer, count: int) -> np.ndarray:
    boxes = np.empty((count, 6), np.float32)
    boxes[:, 0] = rng.uniform(table.workspace[0] - 0.03, table.workspace[2] + 0.03, count)
    boxes[:, 1] = rng.uniform(table.workspace[1] - 0.03, table.workspace[3] + 0.03, count)
    boxes[:, 3:] = rng.uniform(0.03, 0.07, (count, 3))
    boxes[:, 2] = boxes[:, 5] / 2
    return boxes


def by_brute_force(box, obstacles, table, gap_m, spacing_m=0.003) -> float:
    """Distance to the nearest free point of a grid; its own arithmetic, point by point."""
    best = np.inf
    x_min, y_min, x_max, y_max = table.workspace
    for x in np.arange(x_min + box[3] / 2, x_max - box[3] / 2, spacing_m):
        y = np.arange(y_min + box[4] / 2, y_max - box[4] / 2, spacing_m)
        free = (np.hypot(x, y) >= table.reach_m[0]) & (np.hypot(x, y) <= table.reach_m[1])
        for other in obstacles:
            gap_x = abs(x - other[0]) - (box[3] + other[3]) / 2
            gap_y = np.abs(y - other[1]) - (box[4] + other[4]) / 2
            free &= (gap_x >= gap_m) | (gap_y >= gap_m)
        if free.any():
            best = min(best, np.hypot(x - box[0], y[free] - box[1]).min())
    return best


@pytest.mark.parametrize("table", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("gap_m", [0.0, 0.03])
def test_the_nearest_place_is_exact(table: Proposer, gap_m: float) -> None:
    rng = np.random.default_rng(3)
    rooms = full = 0
    for count in (1, 3, 6, 10, 20, 40, 300):
        obstacles = random_boxes(rng, table, count)
        for box in (obstacles[0], random_boxes(rng, table, 1)[0]):
            found = nearest_free_place(box, obstacles, table, gap_m)
            on_grid = by_brute_force(box, obstacles, table, gap_m)
            if found is None:
                assert np.isinf(on_grid)
                full += 1
                continue
            assert is_free(found, obstacles, table, gap_m)
            np.testing.assert_array_equal(found[3:], box[3:])
            assert found[2] == pytest.approx(box[5] / 2)
            distance = np.linalg.norm(found[:2] - box[:2])
            assert distance <= on_grid + 5e-5
            # where the free region is wider than the grid's spacing, the grid has a point next to the nearest one
            assert np.isinf(on_grid) or distance > on_grid - 0.03
            rooms += 1
    assert rooms > 7
    assert full > 0 or gap_m == 0


def test_the_check_never_passes_a_place_that_collides() -> None:
    rng = np.random.default_rng(5)
    replaced = kept = 0
    for count in (2, 5, 10, 15, 20, 25, 30) * 12:
        obstacles = random_boxes(rng, WIDE, count)
        box = obstacles[int(rng.integers(count))]
        model = Proposer(centre=tuple(rng.uniform((0.25, -0.4), (0.8, 0.4))))
        found = proposed_free_place(model, box, obstacles)
        if found is None:
            assert nearest_free_place(box, obstacles, WIDE, MARGINS_M[-1]) is None
            continue
        gaps = np.abs(found[:2] - obstacles[:, :2]) - (found[3:5] + obstacles[:, 3:5]) / 2
        assert gaps.max(axis=1).min() >= MARGINS_M[-1] - 1e-6
        assert found[0] - found[3] / 2 >= 0.3
        assert found[0] + found[3] / 2 <= 0.75
        assert np.abs(found[1]) + found[4] / 2 <= 0.35
        assert 0.28 <= np.hypot(*found[:2]) <= 0.81
        moved = not np.allclose(found[:2], model.centre)
        replaced, kept = replaced + moved, kept + (not moved)
    assert replaced > 10
    assert kept > 5


def test_the_largest_gap_that_there_is_room_for_is_kept() -> None:
    # a corridor of free table 90 mm wide between two walls: 20 mm on both sides of a cube of 50 mm
    walls = np.array([[0.395, 0.0, 0.05, 0.19, 0.7, 0.1], [0.665, 0.0, 0.05, 0.17, 0.7, 0.1]], np.float32)
    box = np.array([0.53, 0.0, 0.15, SIDE, SIDE, SIDE], np.float32)
    found = proposed_free_place(Proposer(centre=(0.4, 0.0)), box, walls)
    assert is_free(found, walls, WIDE, 0.015)
    assert not is_free(found, walls, WIDE, 0.03)


def test_where_an_object_does_not_fit_there_is_no_place() -> None:
    box, small = np.array([0.5, 0.0, 0.15, SIDE, SIDE, SIDE], np.float32), Proposer(workspace=(0.5, 0.0, 0.54, 0.04))
    assert find_free_place(small, box, np.zeros((0, 6), np.float32)) is None

"""Dataset IX: what touches, and that room is left which boxes hide."""

import numpy as np
import pytest

from sim.datasets.clutter.episodes import COVER, ROOM_M, WORKSPACE, _free, episode, free
from sim.datasets.clutter.outlines import Form, Solid, barriers, clearance


def _covers(parts: list[np.ndarray], points: np.ndarray) -> np.ndarray:
    inside = np.zeros(len(points), bool)
    for part in parts:
        edges = np.roll(part, -1, axis=0) - part
        sides = [np.cross(np.array([*edge, 0.0]), np.c_[points - corner, np.zeros(len(points))])[:, 2]
                 for edge, corner in zip(edges, part, strict=True)]  # fmt: skip
        inside |= np.all(np.array(sides) >= 0, axis=0)
    return inside


@pytest.mark.parametrize("form", list(Form))
def test_shifts_that_touch_are_those_with_common_points(form: Form) -> None:
    rng = np.random.default_rng(1)
    moved = Solid(Form.CORNER, (0.06, 0.04), 0.03, 0.012, (1, 0, 0), (0.0, 0.0, 0.4))
    other = Solid(form, (0.12, 0.08), 0.03, 0.012, (0, 1, 0), (0.02, 0.01, 1.1))
    shifts = rng.uniform(-0.15, 0.15, (60, 2))
    told = clearance(shifts, barriers(moved.outline(), other.outline())) < 0
    grid = np.stack(np.meshgrid(*[np.arange(-0.3, 0.3, 0.002)] * 2), axis=-1).reshape(-1, 2)
    grid = grid[_covers(other.outline(), grid)]
    seen = np.array([_covers(moved.outline(), grid - shift).any() for shift in shifts])
    assert not np.any(seen & ~told)
    assert np.mean(told & ~seen) < 0.05
    assert 0 < told.sum() < 60


def test_a_place_exists_and_the_places_of_others_are_taken() -> None:
    placing = episode(0, 5)
    assert placing.aside
    assert COVER[0] <= placing.cover <= 1.1 * COVER[1]
    xs, ys = (np.arange(WORKSPACE[i], WORKSPACE[i + 2], 0.01) for i in (0, 1))
    places = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    good = places[_free(placing.solids, True, places, ROOM_M)]
    assert len(good)
    assert free(placing, good[0])
    assert not any(free(placing, solid.place[:2]) for solid in placing.solids if solid.form is not Form.CRATE)
    assert list(placing.seen.labels.values()) == ["moved"]

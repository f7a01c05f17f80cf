"""Dataset IX: what touches, and that room is left which boxes hide."""

import numpy as np

from sim.datasets.clutter.episodes import COVER, ROOM_M, WORKSPACE, _free, episode, free
from sim.datasets.clutter.outlines import Form


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

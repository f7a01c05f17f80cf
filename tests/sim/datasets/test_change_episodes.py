"""Dataset VIII: what is not involved stays, and an exchange cannot be told by place or size."""

import numpy as np
import pytest

from sim.datasets.changes.episodes import Episode, Event, episode

WANTED = {0: Event.NOTHING, 1: Event.SWAPPED, 4: Event.REPLACED, 5: Event.STATE}


@pytest.fixture(scope="module")
def episodes() -> dict[int, Episode]:
    return {index: episode(0, index) for index in WANTED}


def test_only_looks_differ_where_place_alone_shows_nothing(episodes: dict[int, Episode]) -> None:
    for index, pair in episodes.items():
        assert pair.event is WANTED[index]
        places = [
            sorted(map(tuple, np.round([thing.box for thing in things], 6))) for things in (pair.before, pair.after)
        ]
        assert places[0] == places[1]
        same = {thing for thing in pair.before if thing.identity not in pair.involved}
        assert same <= set(pair.after)
        assert (set(pair.before) == set(pair.after)) == (pair.event is Event.NOTHING)


def test_an_episode_can_be_drawn_again(episodes: dict[int, Episode]) -> None:
    again = episode(0, 4)
    assert again.after == episodes[4].after
    assert np.array_equal(again.second.rgb, episodes[4].second.rgb)

"""Dataset XI: episodes follow from their numbers, good ones succeed, and errors change what they name."""

from pathlib import Path

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.models.outcomes.episode import GOOD, ContactEpisode
from nsrecover.models.outcomes.scene import DRAWN, Array, Shape
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.contact.drawing import draw
from sim.tabletop.contact import ContactTable

SEED = 71


def _moved(episode: ContactEpisode) -> Array:
    """(N, 3) true displacements in the axes of the action, metres."""
    return episode.action.to_action(episode.after_truth - episode.before_truth)


@pytest.fixture(scope="module")
def good() -> list[ContactEpisode]:
    with ContactTable() as table:
        return [draw(table, SEED, number, 0.0) for number in range(16)]


def test_good_actions_do_what_they_are_for(good: list[ContactEpisode]) -> None:
    assert {each.action.operator for each in good} == set(DRAWN)
    for each in good:
        target, moved = each.action.target, _moved(each)[each.action.target]
        assert each.kind == GOOD
        assert not each.culprits
        if each.action.operator in ("push", "roll"):
            assert moved[0] >= 0.6 * each.action.distance
        if each.action.operator == "topple":
            assert moved[2] < -0.005
        if each.action.operator == "drop_into":
            (bin_,) = np.flatnonzero(each.scene.shapes == Shape.BIN)
            away = np.abs(each.after_truth[target, :2] - each.scene.centres[bin_, :2])
            assert (away < each.scene.sizes[bin_, :2] / 2).all()


def test_an_episode_follows_from_its_number_and_survives_its_line(good: list[ContactEpisode]) -> None:
    with ContactTable() as table:
        draw(table, SEED, 7, 0.0)  # what a table has done before does not matter
        assert draw(table, SEED, 5, 0.0).to_json() == good[5].to_json()
    again = ContactEpisode.from_json(good[5].to_json())
    np.testing.assert_allclose(again.moved, good[5].moved, atol=2e-5)
    with pytest.raises(InvalidConfiguration, match="dataset XI"):
        ContactEpisode.from_json('{"schema": 1}')


def test_pushes_move_neighbours_and_errors_are_what_they_are_called() -> None:
    with ContactTable() as table:
        pushes = [draw(table, SEED, number, 0.0, ("push",)) for number in range(12)]
        faulty = [draw(table, SEED, number, 1.0, ("push",)) for number in range(24)]
    others = [np.delete(np.linalg.norm(_moved(each), axis=1), each.action.target) for each in pushes]
    assert sum((each > 0.01).any() for each in others) >= 3
    by_kind = {each.kind: each for each in faulty}
    assert len(by_kind) == 5
    assert np.linalg.norm(_moved(by_kind["missed"])[by_kind["missed"].action.target]) < 0.002
    wrong = by_kind["wrong_object"]
    assert len(wrong.culprits) == 2
    (neighbour,) = by_kind["neighbour_moved"].culprits
    assert neighbour != by_kind["neighbour_moved"].action.target


def test_the_command_writes_the_dataset(tmp_path: Path) -> None:
    found = build(DatasetsConfig("XI", 20, SEED, str(tmp_path), workers=1))["XI"]
    assert found["episodes"] == 20
    kinds = found["by_operator"]["push"]
    assert sum(kinds.values()) == 5
    assert (tmp_path / "table.md").read_text().count("\n") == 2 + len(DRAWN)

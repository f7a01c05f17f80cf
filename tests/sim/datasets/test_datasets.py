"""Episodes of error datasets follow from their number, replay to the same states, and say what is really wrong."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.datasets import DATASETS, generate, read_episodes, replay
from sim.datasets.verify import differences
from sim.tabletop.truth import TOLERANCE_M

SEED = 11


@pytest.fixture(scope="module")
def episodes():
    """One small episode of every dataset (a plan of two steps for II, two errors for I)."""
    numbers = {"I": 6, "II": 1, "III": 6, "IV": 0, "V": 0}
    return {name: generate(DATASETS[name], SEED, number).episode for name, number in numbers.items()}


@pytest.fixture(scope="module")
def look_alike():
    return generate(DATASETS["V"], SEED, 1).episode


def test_episodes_are_as_their_dataset_promises(episodes):
    one, two, three = episodes["I"], episodes["II"], episodes["III"]
    assert (len(one.scene.objects), len(one.plan), len(one.faults)) == (5, 5, 2)
    assert len({fault.at_step for fault in one.faults}) == 1
    assert (len(two.plan), [fault.at_step for fault in two.faults]) == (2, [0, 1])
    assert 6 <= len(three.scene.objects) <= 10
    assert (len(three.plan), len(three.faults), len(three.errors)) == (5, 5, 1)
    assert episodes["IV"].faults == ()
    assert episodes["IV"].scene.imprecision is not None


@pytest.mark.parametrize("name", ["I", "II"])
def test_the_ground_truth_is_what_the_poses_say(episodes, name):
    episode = episodes[name]
    for step in replay(episode):
        shift = np.linalg.norm(step.truth.positions - step.fault_free.positions, axis=1)
        lost = step.truth.present != step.fault_free.present
        hung = [step.truth.supports[n] != step.fault_free.supports[n] for n in step.truth.names]
        wrong = {n for i, n in enumerate(step.truth.names) if lost[i] or shift[i] > TOLERANCE_M or hung[i]}
        assert wrong == (set(step.error.deviations) if step.error else set())


@pytest.mark.parametrize("name", ["I", "II", "IV", "V"])
def test_replays_agree_to_the_last_bit_and_with_what_was_written(episodes, name):
    assert differences(episodes[name]) == []


def test_what_is_lost_is_lost_and_its_look_alike_is_not(episodes, look_alike):
    lost = episodes["V"]
    assert (lost.recoverable, lost.reason) == (False, "gone")
    assert [fault.kind for fault in lost.faults] == ["removed"]
    assert (look_alike.recoverable, look_alike.reason) == (True, "")
    last = next(step for step in replay(look_alike) if step.error)
    name = next(iter(last.error.deviations))
    assert last.truth.present.all()
    assert np.linalg.norm(last.truth.position(name)[:2]) < 0.77


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 99}, "schema 99"),
        ({"errors": [{"step": 1}]}, "a line that is none"),
    ],
)
def test_other_lines_are_refused_by_number(episodes, tmp_path, change, message):
    good = episodes["I"].to_json()
    bad = json.dumps(json.loads(good) | change)
    (tmp_path / "episodes.jsonl").write_text(f"{good}\n{bad}\n")
    with pytest.raises(InvalidConfiguration, match=f"line 2.*{message}"):
        list(read_episodes(tmp_path))


def test_tampering_shows_in_verification(episodes):
    episode = episodes["II"]
    (difference,) = differences(replace(episode, errors=episode.errors[:1]))
    assert "stored ground truth" in difference


def test_long_plans_have_many_objects_and_people_who_help():
    drawn = [generate(DATASETS["X"], SEED, number).episode for number in range(2)]
    kinds = {fault.kind for episode in drawn for fault in episode.faults}
    assert "helping_person" in kinds
    for episode in drawn:
        assert 20 <= len(episode.plan) <= 40
        assert len({action.arguments[0] for action in episode.plan}) > len(episode.plan) // 3
        assert len(episode.faults) == len(episode.plan) // 5

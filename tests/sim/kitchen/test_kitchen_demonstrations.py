"""Demonstrations of household tasks: successes only, resumable, in the same file as those of the tabletop."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from nsrecover.domains.household import HOUSEHOLD
from nsrecover.records.archive import Archive
from nsrecover.records.arrays import digest, episode_to_arrays
from sim.collect import CollectConfig, Domain, collect
from sim.common.journal import Journal
from sim.kitchen.demonstrations import KitchenMix, perform, specify
from sim.kitchen.scenes import HELD_OUT_LAYOUTS
from sim.kitchen.world import KitchenWorld

ONE = KitchenMix(("T1",), (0,))
SEED, EPISODE = 0, 0


def test_an_interrupted_episode_continues_and_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, whole = perform(ONE, SEED, EPISODE)
    assert outcome.reason == ""
    assert whole is not None
    assert outcome.transitions == len(whole.plan) == len(whole.observations) - 1
    taken = []
    observe = KitchenWorld.observe_from

    def counted(world: KitchenWorld, offsets: Sequence[None]) -> object:
        taken.append(len(taken))
        if len(taken) == 3:
            raise KeyboardInterrupt
        return observe(world, offsets)

    monkeypatch.setattr(KitchenWorld, "observe_from", counted)
    with Journal(tmp_path / "000000") as journal, pytest.raises(KeyboardInterrupt):
        perform(ONE, SEED, EPISODE, journal)
    with Journal(tmp_path / "000000") as journal:
        again, resumed = perform(ONE, SEED, EPISODE, journal)
        assert journal.recalled == 2
    assert again == outcome
    assert resumed is not None
    first, second = (episode_to_arrays(one.plan, one.observations, one.notes) for one in (whole, resumed))
    assert digest(first) == digest(second)


def test_a_collection_is_an_archive_of_typed_plans(tmp_path: Path) -> None:
    config = CollectConfig(
        domain=Domain.household, tasks=["boil water"], layouts=[0], transitions=1, seed=SEED, workers=1,
        out=str(tmp_path / "demos"),
    )  # fmt: skip
    metrics = collect(config)
    assert metrics["structures"] == {"boil water": 1}
    with Archive(tmp_path / "demos" / "demonstrations.h5") as archive:
        (number,) = archive.episodes
        recording, mix = archive[number], json.loads(archive.attributes["mix"])
    assert mix["domain"] == "household"
    assert mix["layouts"] == [0]
    assert {action.operator for action in recording.plan} <= set(HOUSEHOLD.operators)
    assert recording.notes["task"] == "boil water"
    assert recording.notes["layout"] == 0
    assert ["at", "pot", recording.notes["goal"][1][2]] in recording.notes["goal"]
    eyes = [tuple(one.cameras[0].world_from_camera[:3, 3].round(3)) for one in recording.observations]
    assert len(set(eyes)) > 2, "the cameras move with the base"


def test_episodes_are_of_all_tasks_in_training_layouts_only() -> None:
    drawn = [specify(KitchenMix(("T5", "T6", "T7")), 5, episode) for episode in range(12)]
    assert len({spec.task.name for spec in drawn}) == 3
    assert {spec.kitchen.layout for spec in drawn}.isdisjoint(HELD_OUT_LAYOUTS)

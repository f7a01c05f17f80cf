"""Household episodes at the level of facts: what strikes when, what is counted, and a whole command without physics."""

import json
from pathlib import Path

import pytest

from eval.household.__main__ import CONTROLLERS, MEASUREMENT, HouseholdConfig, run_episode
from eval.household.fact_world import FactWorld
from nsrecover.errors import InvalidConfiguration
from sim.datasets.household import HouseholdEpisode, HouseholdError
from sim.kitchen.faults import Fault, fault_from_dict
from sim.kitchen.tasks import draw_task

SPEC = draw_task("T1", 5)


def episode(number: int, fault: Fault | None, error: HouseholdError | None) -> HouseholdEpisode:
    faults = () if fault is None else (fault,)
    errors = () if error is None else (error,)
    return HouseholdEpisode("H1", number, "T1", SPEC.kitchen.layout, 5, SPEC.plan, faults, errors)


@pytest.fixture(autouse=True)
def same_kitchen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HouseholdEpisode, "spec", SPEC)


def wine(step: int, reachable: bool = True) -> HouseholdEpisode:
    fault = fault_from_dict({"fault": "wrong_liquid", "at_step": step, "name": "pot", "liquid": "wine"})
    error = HouseholdError(
        step, {"pot": "filled pot, wine"}, {"pot": "wrong_liquid"}, (), ("filled pot, wine",), "", reachable
    )
    return episode(1, fault, error)


def test_facts_change_when_the_step_is_carried_out_for_the_first_time() -> None:
    world = FactWorld(wine(0), 0.0, 0.0, 0)
    assert ("filled", "pot", "wine") not in world.state
    world.execute(SPEC.plan[0])
    assert ("filled", "pot", "wine") in world.state
    assert (world.struck, world.events) == (1, 1)
    assert not world.works(SPEC.plan.actions[1:])


def test_errors_of_perception_are_as_frequent_as_asked_for_and_the_same_for_a_seed() -> None:
    world, again = (FactWorld(episode(0, None, None), 0.3, 0.1, 7) for _ in range(2))
    looks = [world.observe() for _ in range(60)]
    assert looks == [again.observe() for _ in range(60)]
    count = len(list(world._properties()))
    hidden = sum(len(look.certainty) for look in looks) / (60 * count)
    assert 0.25 < hidden < 0.35
    assert any(look.facts - world.state for look in looks)
    assert FactWorld(episode(0, None, None), 0.0, 0.0, 7).observe().facts == world.state


def test_every_controller_is_counted_by_the_same_truth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [episode(0, None, None).to_json(), wine(0).to_json()]
    (tmp_path / "H1").mkdir()
    (tmp_path / "H1" / "episodes.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = MEASUREMENT.run(HouseholdConfig(episodes=2, errors=str(tmp_path), out=str(tmp_path / "out")))
    rows = found["controllers"]
    assert list(rows) == list(CONTROLLERS)
    assert all(row["detection"]["recall"]["of"] == 1 for row in rows.values())
    assert rows["ours"]["detection"]["recall"]["value"] == rows["ours"]["completion"]["all"]["value"] == 1.0
    assert rows["ours"]["detection"]["false_alarm_rate"]["value"] == 0.0
    assert rows["no replanning"]["completion"]["all"]["value"] == 0.5
    assert json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8")) == found
    with pytest.raises(InvalidConfiguration, match="found 2; run"):
        MEASUREMENT.run(HouseholdConfig(episodes=3, errors=str(tmp_path), out=str(tmp_path / "out")))


def test_only_a_check_before_the_action_saves_what_cannot_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = draw_task("T7", 5)
    monkeypatch.setattr(HouseholdEpisode, "spec", spec)
    cup = spec.plan[-1].arguments[0]
    fault = fault_from_dict({"fault": "filled_at_start", "at_step": -1, "name": cup, "liquid": "wine", "litres": 0.1})
    error = HouseholdError(-1, {cup: "wine"}, {cup: fault.kind}, (), (f"filled {cup}, wine",), "", True)
    wrong = HouseholdEpisode("H1", 1, "T7", spec.kitchen.layout, 5, spec.plan, (fault,), (error,))
    saved = {found.controller: found.success for found in run_episode(wrong, list(CONTROLLERS), 0.0, 0.0, 0)}
    assert saved["ours"]
    assert not saved["after the task"]
    assert not saved["no replanning"]

"""Episodes in the kitchen's physics: what is counted, and the oracle that corrects a failed action."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval.household.planners import PLANNERS
from eval.kitchen.__main__ import is_meant
from eval.kitchen.command import KitchenEvalConfig, measure, run_episode
from eval.kitchen.records import KitchenRecord, summary
from nsrecover.errors import InvalidConfiguration
from sim.datasets.household import HouseholdEpisode
from sim.kitchen.faults import fault_from_dict
from sim.kitchen.tasks import draw_task

SPEC = draw_task("T8", 3, 4)


def episode() -> HouseholdEpisode:
    stop = fault_from_dict({"fault": "failed_action", "at_step": 0})
    return HouseholdEpisode("H1", 0, "T8", 4, 3, SPEC.plan, (stop,))


@pytest.fixture(scope="module")
def oracle() -> KitchenRecord:
    return run_episode((0, episode()), "oracle", None)


def test_the_oracle_notices_a_failed_action_and_repeats_it(oracle: KitchenRecord) -> None:
    assert oracle.wrong
    assert oracle.in_time
    assert oracle.alarms[0] == (1, True)
    assert oracle.reached
    assert oracle.actions > oracle.length
    assert KitchenRecord.from_json(oracle.to_json()) == oracle


def test_metrics_have_the_keys_of_the_tabletop(oracle: KitchenRecord) -> None:
    blind = replace(
        oracle,
        reached=False,
        decisions=((True, False), (False, True)),
        alarms=((3, False),),
        in_time=False,
        at_once=False,
        culprits=(),
    )
    found = summary([oracle, blind])
    assert found["detection"]["recall"] == 0.5
    assert found["completion"] == 0.5
    assert found["failures"] == {"not_noticed": 1}
    assert found["in_time"] == 0.5
    assert set(found["intervals"]) == set(found["counts"])
    asked = replace(blind, asked=True, wrong=False, skills=())
    assert summary([asked])["failures"] == {"false_alarm": 1}


def test_a_dataset_of_the_kitchen_is_told_from_one_of_the_tabletop() -> None:
    assert is_meant(["dataset=H3", "planner=ours"])
    assert not is_meant(["dataset=III"])
    assert {"ours", "oracle", "none", "no_sound", "after_task"} <= set(PLANNERS)


def test_wrong_settings_are_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="Did you mean 'no_sound'"):
        measure(KitchenEvalConfig(method="no_sounds", out=str(tmp_path)))
    with pytest.raises(InvalidConfiguration, match="dataset as one of"):
        measure(KitchenEvalConfig(dataset="H9", out=str(tmp_path)))
    with pytest.raises(InvalidConfiguration, match="episodes and workers of at least 1"):
        measure(KitchenEvalConfig(episodes=0, out=str(tmp_path)))

"""Episodes in the kitchen's physics: what is counted, and the oracle that corrects a failed action."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.kitchen.__main__ import MEASUREMENT, KitchenEvalConfig
from eval.kitchen.records import KitchenRecord, summary
from eval.run import rows_in
from sim.datasets.household import HouseholdEpisode
from sim.kitchen.faults import fault_from_dict
from sim.kitchen.tasks import draw_task

SPEC = draw_task("T8", 3, 4)


def episode() -> HouseholdEpisode:
    stop = fault_from_dict({"fault": "failed_action", "at_step": 0})
    return HouseholdEpisode("H1", 0, "T8", 4, 3, SPEC.plan, (stop,))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """Two planners on an episode: metrics, and their folder."""
    folder = tmp_path_factory.mktemp("kitchen")
    measurement = replace(MEASUREMENT, episodes=lambda _: [episode()])
    return measurement.run(KitchenEvalConfig(method=["oracle", "none"], episodes=1, out=str(folder))), folder


@pytest.fixture(scope="module")
def oracle(ran: tuple[dict[str, Any], Path]) -> KitchenRecord:
    return rows_in(ran[1], KitchenRecord)[0]


def test_the_oracle_notices_a_failed_action_and_repeats_it(oracle: KitchenRecord) -> None:
    assert oracle.wrong
    assert oracle.in_time
    assert oracle.alarms[0] == (1, True)
    assert oracle.reached
    assert oracle.actions > oracle.length


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


def test_planners_are_compared_on_what_the_oracle_reaches(ran: tuple[dict[str, Any], Path]) -> None:
    first, second = ran[0]["sweeps"]
    assert (first["planner"], first["as_oracle"]["value"], first["completion"]) == ("oracle", 1.0, 1.0)
    assert (second["planner"], second["as_oracle"]["of"]) == ("none", 1)

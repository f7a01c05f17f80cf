"""Faults while the kitchen's robot moves: what is struck, and what is counted."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.during import household, tabletop
from eval.during.__main__ import MEASUREMENT
from eval.during.household import WatchedAction
from eval.during.settings import DuringConfig, timing
from eval.metrics import summary
from eval.run import rows_in
from nsrecover.errors import InvalidConfiguration
from sim.sensors.watched import Motion


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[WatchedAction]]:
    """The action during which a pan is taken away, in both arms."""
    folder = tmp_path_factory.mktemp("during")
    config = DuringConfig(
        domain="household", kinds=["target_taken"], episodes=1, seed=77, sensor="clean", rate_hz=5, workers=1,
        out=str(folder),
    )  # fmt: skip
    return MEASUREMENT.run(config), rows_in(Path(folder), list[WatchedAction])[0]


def test_a_taken_pan_is_missed_while_the_egg_is_still_in_the_hand(
    ran: tuple[dict[str, Any], list[WatchedAction]],
) -> None:
    watched, after = ran[1]
    assert (watched.arm, after.arm) == ("watched", "after")
    assert watched.noticed_s < 1.0 < after.noticed_s
    assert after.lost
    assert not watched.lost


def test_avoided_losses_are_those_of_episodes_that_are_lost_without_watching(
    ran: tuple[dict[str, Any], list[WatchedAction]],
) -> None:
    found = ran[0]["kinds"]["target_taken"]
    assert (found["avoided"]["value"], found["avoided"]["of"]) == (1.0, 1)
    assert found["good_interrupted"]["of"] == 0
    good = WatchedAction("watched", "none", 0, math.nan, 7, 1, "T1", False)
    both = household._summary([*ran[1], good, replace(ran[1][1], episode=1)])
    assert both["avoided"]["of"] == 1, "an episode counts only if it was watched, too"
    assert both["good_interrupted"]["of"] == 7
    assert both["arms"]["watched"]["struck"] == 1
    assert household.table(ran[0]).count("target_taken") == 2, "a line for each arm"


def test_a_plan_that_is_said_to_be_done_while_an_object_is_elsewhere_is_a_false_completion() -> None:
    done = tabletop.WatchedEpisode("after", "drop", 0, 1.5, 2, 0, 9.0, 1, completed=True)
    found = summary([done, replace(done, off=1), replace(done, completed=False)], tabletop.METRICS)
    assert {name: found[name]["value"] for name in ("completed", "false_completion", "asked_for_help")} == {
        "completed": 0.66667, "false_completion": 0.33333, "asked_for_help": 0.33333,
    }  # fmt: skip
    text = tabletop.table({"sensor": "d435", "rate_hz": 10, "arms": {"watched": {}, "after": {"drop": found}}})
    assert "after the action" in text, "an arm without episodes of a kind has no line for it"
    assert "false completion" in text


@pytest.mark.parametrize("wrong", [{"domain": "garden"}, {"domain": "household", "kinds": ["push_midway"]}])
def test_what_there_is_not_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfiguration, match=r"garden|push_midway"):
        MEASUREMENT.check(DuringConfig(**wrong))


def test_actions_that_go_wrong_by_themselves_are_no_good_ones_and_no_false_alarms() -> None:
    never = math.inf
    motions = [
        Motion(0.0, never, never, 9.0),
        Motion(0.0, never, 4.0, 5.0),
        Motion(0.0, 3.0, 3.4, 5.0),
        Motion(0.0, 3.0, 1.0, 5.0),
    ]
    assert timing(motions) == (pytest.approx(-2.0), 3, 2)
    assert timing(motions, [True, True, False, False]) == (pytest.approx(-2.0), 1, 1)

"""`python -m eval`: planners run the same episodes, on any number of processes, and are compared."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.run import ROWS, rows_in
from eval.sweep.command import MEASUREMENT, EvalConfig, markdown, summary
from eval.sweep.records import EpisodeRecord
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from tests.eval.sweep.records import record, recovery
from tests.tables_text import unpadded

EPISODES = Path(__file__).parent / "episodes"
OURS = {"_target_": "eval.sweep.controllers.recovering", "name": "ours", "setting": {}}
ORACLE = {"_target_": "eval.sweep.oracle.Oracle"}
BLIND = {"_target_": "eval.sweep.controllers.Blind"}
D435 = {"_target_": "sim.sensors.presets.sensor", "name": "d435"}


def config(out: Path, *planners: dict[str, Any], **changes: Any) -> EvalConfig:
    named = {str(number): planner for number, planner in enumerate(planners or (BLIND,))}
    given = {"dataset": "II", "episodes": 1, "errors": str(EPISODES), "planner": named, "workers": 1, "out": str(out)}
    return EvalConfig(**(given | changes))


def without_times(folder: Path) -> list[EpisodeRecord]:
    """Every record, without what may differ from run to run."""
    records = sorted(rows_in(folder, EpisodeRecord), key=lambda each: (each.planner, each.episode))
    return [
        replace(
            each, seconds=0.0, cpu_s=0.0, planning_s=0.0, planning_cpu_s=0.0,
            recoveries=tuple(replace(one, seconds=0.0, cpu_s=0.0) for one in each.recoveries),
        )
        for each in records
    ]  # fmt: skip


def test_two_processes_give_the_same_records(tmp_path: Path) -> None:
    """Fast Downward writes files to its working directory: parallel runs need different ones."""
    for workers in (1, 2):
        MEASUREMENT.run(config(tmp_path / str(workers), ORACLE, episodes=2, workers=workers))
    assert without_times(tmp_path / "1") == without_times(tmp_path / "2")
    assert any(each.recoveries for each in without_times(tmp_path / "1"))


def test_planners_are_compared_and_another_one_is_refused_in_the_folder(tmp_path: Path) -> None:
    found = MEASUREMENT.run(config(tmp_path, OURS, BLIND))
    assert found["as_they_should"]["II"]["ours"]["value"] == 1.0
    assert found["ours_minus"]["II"]["none"]["value"] == 1.0
    assert [each["planner"] for each in found["sweeps"]] == ["ours", "none"]
    table = unpadded((tmp_path / "table.md").read_text())
    assert "(99.85 %)" in table, "the paper's number beside ours"
    with pytest.raises(InvalidConfiguration, match="choose another out=DIR"):
        MEASUREMENT.run(config(tmp_path, OURS, BLIND, ORACLE))
    with pytest.raises(InvalidConfiguration, match="sensor"):
        MEASUREMENT.run(config(tmp_path, OURS, BLIND, sensor=D435))
    line, other = (tmp_path / ROWS).read_text().splitlines()
    added = json.loads(line)
    added["row"]["extra"] = {"operator": "Ann"}
    (tmp_path / ROWS).write_text(f"{json.dumps(added)}\n{other}\n")
    assert rows_in(tmp_path, EpisodeRecord)[0].extra == {"operator": "Ann"}
    assert MEASUREMENT.run(config(tmp_path, OURS, BLIND)) == found


def test_differences_are_those_of_the_same_episodes() -> None:
    bad = {"recoveries": (recovery(right=False),), "deviations": {"a": "30 mm off"}}
    ends = {"ours": ({}, {}, bad), "replan": (bad, {}, {})}
    found = summary(
        [
            record(number, planner=planner, dataset=dataset, **changes)
            for planner, three in ends.items()
            for (number, dataset), changes in zip([(0, "I"), (1, "I"), (0, "III")], three, strict=True)
        ],
        ["ours", "replan"],
    )
    assert found["ours_minus"]["I"]["replan"]["value"] == 0.5
    every = found["ours_minus"]["all"]["replan"]
    assert every["value"] == 0.0
    assert every["low"] < 0 < every["high"]
    assert found["sweeps"][1]["failures"] == {"drift": 1}
    assert "| all" in markdown(found)


def test_a_missing_checkpoint_is_reported_before_the_first_episode(tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpoint, match="/nowhere"):
        MEASUREMENT.run(config(tmp_path / "none", OURS | {"checkpoint": "/nowhere"}))
    assert not (tmp_path / "none").exists()

"""Logs of household runs that fail, logs of others, and how their explanations are judged."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.foreign_logs import MEASUREMENT, ForeignLogsConfig
from eval.logs.__main__ import judged_written, left_out
from eval.logs.annotations import logs_in
from eval.logs.household_world import conditions_of, judge
from eval.logs.judging import METRICS
from eval.logs.runs import written_logs
from eval.metrics import summary
from nsrecover.core.actions import Action
from nsrecover.errors import InvalidConfiguration
from nsrecover.logs.understanding import understood
from sim.logs.world import World
from tests.commands import run
from tests.tables_text import unpadded


def log(truth: dict[str, Any]) -> dict[str, Any]:
    empty = "nothing is inside robot gripper."
    events = [
        "00:04. Action: Pick up jug. Visual observation: jug (empty and clean). jug is inside robot gripper.",
        f"00:09. Action: Move to sink. Visual observation: faucet (turned off), sink. {empty}",
        f"00:12. Action: Put jug in sink. Visual observation: faucet (turned off), sink. {empty}",
    ]
    return {
        "id": "spilt",
        "task": "water the plant",
        "plan": ["(pick_up, jug)", "(put_in, jug, sink)"],
        "success_state": "the house plant is filled with water.",
        "event_summary": events,
        "subgoal_summary": [events[0].replace("Action", "Goal"), events[2].replace("Action", "Goal")],
        "final_state": f"jug (empty and clean), house plant (empty), sink, faucet (turned off). {empty}",
        "truth": truth,
    }


def test_logs_of_others_are_scored_in_figures(tmp_path: Path) -> None:
    path = tmp_path / "others.jsonl"
    given = [{"gt_failure_step": [["00:08", "00:10"]]}, {"gt_failure_step": "00:04"}]
    path.write_text("".join(f"{json.dumps(log(truth))}\n" for truth in given))
    config = ForeignLogsConfig(files=[str(path)], workers=1, out=str(tmp_path / "out"))
    (found,) = MEASUREMENT.run(config)["files"].values()
    assert (found["step"]["value"], found["step"]["of"], found["kind"]["of"]) == (0.5, 2, 0)
    assert (found["plan_alone"]["of"], found["failures_called_success"]) == (2, 0)
    assert found["changed_by_one_line"]["of"] == 2
    assert len((tmp_path / "out" / "rows.jsonl").read_text().splitlines()) == 2
    assert "50.0 %" in (tmp_path / "out" / "table.md").read_text()


def test_confidence_is_judged_on_tasks_that_it_was_not_fitted_on() -> None:
    row = {"features": (1.0, 5.0), "kind_right": True, "readable": 1.0, "step_right": True}
    wrong = {**row, "features": (1.0, -5.0), "step_right": False}
    rows = [{**one, "task": task} for task in "abc" for one in (row, wrong)]
    assert left_out([], rows)["right_if_sure"]["value"] == 1.0
    odd = [{**one, "task": "d", "step_right": not one["step_right"]} for one in (row, wrong)]
    assert left_out([], [*rows, *odd])["right_if_sure"]["value"] < 1.0


def test_files_are_asked_for_and_may_be_named_without_key(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="expected files of annotated logs"):
        MEASUREMENT.run(ForeignLogsConfig())
    (tmp_path / "plain.json").write_text(json.dumps(log({"kind": "execution", "steps": ["00:09"]})))
    done = run("eval.foreign_logs", str(tmp_path / "plain.json"), f"out={tmp_path / 'out'}", "workers=1")
    assert done.code == 0, done.err
    assert "kind of failure | 100.0 %" in unpadded(done.out)


def test_a_list_names_traces_in_several_formats_with_their_truth() -> None:
    traces = logs_in("eval/logs/six_formats/truth.jsonl")
    assert len(traces) == 40
    named = [bool(trace.extra["truth"]["steps"]) == (trace.extra["truth"]["causes"] != ["none"]) for trace in traces]
    assert sum(named) >= 39


@pytest.mark.parametrize(
    ("steps", "refused"),
    [
        ((("pick_up", "mug"),), "behind a closed door"),
        ((("open_obj", "fridge"), ("pick_up", "mug"), ("pick_up", "pot")), "the gripper holds the mug"),
        ((("toggle_on", "microwave"), ("open_obj", "microwave")), "is running"),
        ((("open_obj", "microwave"), ("toggle_on", "microwave")), "is open"),
        ((("pick_up", "pot"), ("put_on", "pot", "first stove burner")), "the pan is in the first stove burner"),
        ((("pick_up", "pot"), ("pour", "pot", "sink")), "the pot is empty"),
        ((("slice_obj", "pear"),), "no knife"),
        ((("open_obj", "fridge"), ("pick_up", "mug")), "not so in the end"),
    ],
)
def test_the_household_rejects_impossible_steps(steps: tuple[tuple[str, ...], ...], refused: str) -> None:
    world = World(where={"mug": {"fridge"}, "pot": {"countertop"}, "pan": {"first stove burner"}, "pear": set()})
    wanted = conditions_of("a mug of warm water is on the dining table.", ())
    assert wanted is not None
    verdict = judge(world, tuple(Action(operator, names) for operator, *names in steps), wanted)  # type: ignore[arg-type]
    assert verdict is not None
    assert refused in verdict


def test_logs_follow_from_their_seed_are_read_and_mostly_explained() -> None:
    first, again = ([one.trace for one in written_logs(18, 5, "light", held_out=False)] for _ in range(2))
    assert first == again
    assert {each.name for each in written_logs(3, 5, "light", held_out=True)} == {f"light-5-{n}" for n in range(3)}
    for trace in first:
        truth = trace.extra["truth"]
        assert understood(trace).unread == ()
        assert bool(truth["steps"]) == (truth["causes"] != ["none"])
    found = summary([judged_written(one) for one in written_logs(18, 5, "light", held_out=False)], METRICS)
    assert found["logs"] == found["kind"]["of"] == 18
    assert found["step"]["value"] >= 0.6
    assert found["subgoals"]["value"] >= 0.8

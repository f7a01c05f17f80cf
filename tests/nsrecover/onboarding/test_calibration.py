"""Calibration on few good runs: the rate holds, what it is worth is said, and bad input is one line."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover.core import FactScene
from nsrecover.onboarding.calibration import tail_quantile
from nsrecover.onboarding.scoring import own_gate, scored_steps
from nsrecover.records import recording, scenes_recording
from nsrecover.records.runs import RecordedRun
from tests.commands import run
from tests.nsrecover.kitchen_facts import HOME, START
from tests.nsrecover.onboarding.box_runs import box_run, write_runs

nsr = partial(run, "nsrecover.cli.app")


def calibrated(folder: Path, *options: str, **errors: float) -> tuple[dict[str, Any], Path]:
    runs = write_runs(folder / "runs", 14, **errors)
    done = nsr("calibrate", str(runs), "--out", str(folder / "out"), "--json", *options)
    assert done.code == 0, done.err
    return json.loads(done.out), folder / "out"


def alarms_on_fresh_runs(system: nsrecover.System, count: int, **errors: float) -> float:
    rng, alarms, steps = np.random.default_rng(99), 0, 0
    for _ in range(count):
        episode = box_run(rng, **errors)
        monitor = system.monitor(episode.plan, episode.scenes[0])
        for action, scene in zip(episode.plan, episode.scenes[1:], strict=True):
            alarms += monitor.step(action, scene).deviates
            steps += 1
    return alarms / steps


def test_small_errors_leave_the_tolerance_to_decide(tmp_path: Path) -> None:
    found, out = calibrated(tmp_path)
    assert found["threshold"] == found["threshold_of_tolerance"] == 0.5
    assert found["detection_by_mm"]["30"]["share"] == 1.0
    assert found["detection_by_mm"]["30"]["low"] < 0.95  # 42 steps do not say more
    assert found["detection_by_mm"]["5"]["share"] == 0.0
    assert not found["promised"]
    assert found["steps_needed_for_the_promise"] == 99
    system = nsrecover.load(out)
    assert system.model.models.threshold == 0.5
    assert system.calibration is not None
    assert alarms_on_fresh_runs(system, 40) == 0.0


def test_large_errors_lower_the_threshold_until_the_rate_holds(tmp_path: Path) -> None:
    errors = {"placed_mm": 6.0, "measured_mm": 5.0}
    assert alarms_on_fresh_runs(nsrecover.geometric(), 60, **errors) > 0.02
    found, out = calibrated(tmp_path, "--alpha", "0.01", **errors)
    assert 0 < found["threshold"] < 0.5
    assert alarms_on_fresh_runs(nsrecover.load(out), 100, **errors) <= 0.01
    assert found["detection_by_mm"]["60"]["share"] > 0.9
    assert found["improve"]


def test_an_offset_of_the_arm_is_the_first_thing_to_improve(tmp_path: Path) -> None:
    found, _ = calibrated(tmp_path, offset_mm=9.0)
    assert "objects are put" in found["improve"][0]
    assert "x +9" in found["improve"][0] or "x +8" in found["improve"][0]


def test_the_continued_tail_is_cautious() -> None:
    rng = np.random.default_rng(3)

    def scores(count: int) -> np.ndarray[Any, Any]:
        return np.exp(-0.05 * np.square(rng.normal(size=(count, 5, 3))).sum(axis=2).max(axis=1))

    fresh = scores(50_000)
    rates = [float((fresh < tail_quantile(scores(60), 0.01)).mean()) for _ in range(100)]
    assert 0.002 < np.mean(rates) < 0.015


def test_too_few_runs_and_runs_that_failed_are_named(tmp_path: Path) -> None:
    few = write_runs(tmp_path / "few", 3)
    done = nsr("calibrate", str(few), "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "at least 10 successful runs, found 3" in done.err
    runs = write_runs(tmp_path / "runs", 12)
    episode = scenes_recording.load(runs / "run04.json")
    gone = {name: box for name, box in episode.scenes[1].items() if name != "red"}
    scenes_recording.save(
        scenes_recording.ScenesRecording(episode.plan, (episode.scenes[0], gone, *episode.scenes[2:])),
        runs / "run04.json",
    )
    done = nsr("calibrate", str(runs), "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "run04.json step 1 (red)" in done.err
    kept = [path.name for path in (tmp_path / "out").iterdir()]
    assert len(kept) == 1, "the runs that were followed, and no bundle"


def test_recordings_of_boxes_come_back_with_targets(tmp_path: Path) -> None:
    box = (0.5, 0.0, 0.02, 0.04, 0.04, 0.04)
    plan = nsrecover.Plan((nsrecover.Action("restore", ("red",), target=box),))
    scenes_recording.save(scenes_recording.ScenesRecording(plan, ({"red": box}, {"red": None})), tmp_path / "a.json")
    found = scenes_recording.load(tmp_path / "a.json")
    assert found.plan == plan
    assert found.scenes[1]["red"] is None


def kitchen() -> nsrecover.System:
    return nsrecover.symbolic(HOME)


def test_from_runs_of_facts_the_rates_of_failures_and_misreadings_are_learned(tmp_path: Path) -> None:
    held = START - {("at", "mug", "countertop")} | {("holding", "mug")}
    (tmp_path / "runs").mkdir()
    for number in range(30):
        tried = 2 if number % 3 == 0 else 1
        plan = nsrecover.Plan.parse("; ".join(["pick_up(mug)"] * tried))
        scenes = tuple(map(FactScene, [START] * tried + [held]))
        run = scenes_recording.ScenesRecording(plan, scenes)
        scenes_recording.save(run, tmp_path / "runs" / f"run{number:02d}.json")
    out, options = tmp_path / "out", ["--checkpoint", f"{__name__}:kitchen", "--alpha", "0.1", "--json"]
    done = nsr("calibrate", str(tmp_path / "runs"), "--out", str(out), *options)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert 0.18 < found["failures"]["pick_up"] < 0.28, "10 of 40 actions, and the usual 10 %"
    assert nsrecover.symbolic(HOME, calibrated=out).model.rates.failures.means() == found["failures"]


def test_the_gate_for_looks_comes_from_moved_objects_and_stays_with_the_checkpoint(
    tmp_path: Path,
) -> None:
    collapse, learned = recording.example("collapse"), nsrecover.load()
    run = RecordedRun("collapse", collapse.plan, collapse.observations)
    steps = [step for step in scored_steps(learned, run, 0, (30.0,)) if step.unlike is not None]
    assert len(steps) >= 3
    assert all(0.0 <= step.unlike < 0.5 for step in steps)
    assert own_gate(steps) is None
    gate = own_gate(steps * 10)
    assert gate is not None
    assert gate.elsewhere == pytest.approx(max(step.unlike for step in steps))
    replace(learned, model=replace(learned.model, models=learned.model.bundle.with_gate(gate))).save(tmp_path)
    assert nsrecover.load(tmp_path).model.bundle.gate == gate

"""The choice between an old and a new model, and what training refuses."""

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.onboarding.training import divided, quality_of, train_on
from nsrecover.records.runs import RecordedRun, read_run
from tests.commands import run
from tests.nsrecover.onboarding.box_runs import write_runs

nsr = partial(run, "nsrecover.cli.app")


def step(score: float, displaced: dict[float, float]) -> ScoredStep:
    return ScoredStep(0, "r", 1, "top(a, b)", "top", score, "a", None, None, Verdict.AS_EXPECTED, (), displaced)


def test_models_are_compared_at_the_same_rate_of_false_alarms() -> None:
    # 5 % of 20 steps: one good step may score less than the threshold, which is 0.6
    steps = [step(0.2, {5.0: 0.9, 10.0: 0.7, 30.0: 0.1}), *(step(0.6 + i / 100, {10.0: 0.5}) for i in range(19))]
    found = quality_of(steps, 0.02)
    assert (found.alarms.hits, found.alarms.steps) == (1, 20)
    assert list(found.by_mm) == [10.0, 30.0], "copies count from half of the tolerance on"
    assert (found.by_mm[10.0].hits, found.by_mm[10.0].steps) == (19, 20)
    assert (found.detected.hits, found.detected.steps) == (20, 21)


def test_every_run_has_one_purpose() -> None:
    example = read_run("example")
    runs = [RecordedRun(str(number), example.plan, example.observations) for number in range(50)]
    parts = divided(runs)
    assert [len(part) for part in parts] == [40, 10]
    assert {each.name for part in parts for each in part} == {str(number) for number in range(50)}


def test_too_few_runs_boxes_and_a_missing_trainer_are_named(tmp_path: Path) -> None:
    done = nsr("train", "example", "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "at least 10 successful runs" in done.err
    done = nsr("train", str(write_runs(tmp_path / "boxes", 10)), "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "boxes need no training" in done.err
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "nsrecover.training", None)
        with pytest.raises(InvalidConfiguration, match=r"nsrecover\[train\]"):
            train_on([], [], None, tmp_path, 0, ())


def test_a_folder_belongs_to_its_runs(tmp_path: Path) -> None:
    example = read_run("example")
    one, other = (RecordedRun("a", example.plan, example.observations, {"take": take}) for take in (1, 2))
    assert (
        one.fingerprint()
        == RecordedRun("b", one.plan, one.observations, one.notes).fingerprint()
        != other.fingerprint()
    )
    (tmp_path / "runs.json").write_text(json.dumps({"learning": [one.fingerprint()], "comparison": []}))
    with pytest.raises(InvalidConfiguration, match="choose another --out"):
        train_on([other], [], None, tmp_path, 0, ())

"""The choice between an old and a new model, and what training refuses."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.onboarding.training import divided, quality_of, train_on
from nsrecover.records.runs import Run, read_run
from tests.commands import run
from tests.nsrecover.onboarding.box_runs import write_runs

nsr = partial(run, "nsrecover.cli")


def step(score: float, displaced: dict[float, float]) -> ScoredStep:
    return ScoredStep(0, "r", 1, "top(a, b)", "top", score, "a", None, None, Verdict.AS_EXPECTED, (), displaced)


def test_quality_counts_good_steps_and_copies_that_are_surely_displaced() -> None:
    found = quality_of([step(0.9, {20.0: 0.6, 30.0: 0.1}), step(0.4, {20.0: 0.6, 30.0: 0.7})], 0.5, 0.02)
    assert found.good.value == 0.5
    assert (found.displaced.hits, found.displaced.steps) == (1, 2)
    assert found.balanced == 0.5


def test_every_run_has_one_purpose() -> None:
    example = read_run("example")
    runs = [Run(str(number), example.plan, example.observations) for number in range(50)]
    parts = divided(runs)
    assert [len(part) for part in parts] == [30, 10, 10]
    assert {each.name for part in parts for each in part} == {str(number) for number in range(50)}


def test_too_few_runs_boxes_and_a_missing_trainer_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = nsr("train", "example", "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "at least 10 successful runs" in done.err
    done = nsr("train", str(write_runs(tmp_path / "boxes", 10)), "--out", str(tmp_path / "out"))
    assert done.code == 2
    assert "boxes need no training" in done.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidConfiguration, match="make install"):
        train_on([], [], None, tmp_path, 0, ())

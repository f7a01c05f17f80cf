"""The measurement of other shapes on one small episode: what is written, how steps count, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.sensing.judge import SensedStep
from eval.shapes import MEASUREMENT, GraspOutcome, GraspTry, ShapesConfig, grasp_summary, summary
from nsrecover.errors import InvalidConfiguration


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ShapesConfig:
    folder = tmp_path_factory.mktemp("shapes")
    return ShapesConfig(
        seed=5,
        episodes={"cylinders": 1},
        tries=1,
        conditions={"clean": {"sensor": {"name": "clean"}}},
        footage=str(folder / "footage"),
        workers=1,
        out=str(folder / "out"),
    )


def test_everything_is_written_and_a_second_run_goes_on(config: ShapesConfig) -> None:
    metrics = MEASUREMENT.run(config)
    found = metrics["sensors"]["clean"]
    assert found["cylinders"] == found["all"]
    assert found["all"]["recall"]["of"] == 2
    assert found["all"]["recall"]["value"] == 1.0
    assert metrics["grasps"]["cylinders"]["placed"]["of"] == 1
    out = Path(config.out)
    assert json.loads((out / "metrics.json").read_text()) == metrics
    assert "placed within 2 cm" in (out / "table.md").read_text()
    assert MEASUREMENT.run(config) == metrics
    with pytest.raises(InvalidConfiguration):
        MEASUREMENT.run(replace(config, seed=6))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"episodes": {"mugz": 3}}, "Did you mean 'mugs'"),
        ({"episodes": {"mugs": 0}}, "at least one family"),
    ],
)
def test_settings_that_make_no_sense_are_refused(config: ShapesConfig, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfiguration, match=message):
        MEASUREMENT.run(replace(config, **changes))


def test_a_good_step_counts_only_if_it_is_found_as_expected() -> None:
    def step(number: int, family: str = "mugs", **values: Any) -> SensedStep:
        return SensedStep(family, 0, number, **{"during_event": False, "verdict": "as_expected", **values})

    found = summary(
        [
            step(0),
            step(1, verdict="cannot_tell"),
            step(2, verdict="deviating", blamed=["a"]),
            step(3, verdict="deviating", blamed=["a"], wrong=["a"], off_place=["a", "b"]),
            step(0, "boxes", off_place=["a"]),
        ]
    )
    mugs = found["mugs"]
    assert mugs["accuracy"] | {"low": 0, "high": 0} == {"value": 0.5, "low": 0, "high": 0, "of": 4}
    assert mugs["cannot_tell"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert mugs["rule"]["accuracy"]["value"] == 1.0
    assert mugs["rule"]["culprits_exact"]["value"] == 0.0
    assert found["all but boxes"]["accuracy"]["of"] == 4
    assert found["all"]["accuracy"]["of"] == 5
    assert found["boxes"]["rule"]["false_alarms"]["value"] == 1.0


def test_tries_are_counted_by_what_came_of_them() -> None:
    def tried(number: int, outcome: GraspOutcome, off_mm: float, note: str = "") -> GraspTry:
        return GraspTry("mugs", number, [0.1, 0.06, 0.08], None, outcome, off_mm, note)

    found = grasp_summary(
        [
            tried(0, GraspOutcome.PLACED, 2.0),
            tried(1, GraspOutcome.PLACED, 4.0),
            tried(2, GraspOutcome.ELSEWHERE, 90.0, "the object is lost"),
        ]
    )["mugs"]
    assert found["placed"]["value"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["off_mm"] == {"median": 3.0}
    assert found["reasons"] == {"the object is lost": 1}

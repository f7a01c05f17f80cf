"""The monitor behind sensors, measured on two small episodes: what is written, and that true alarms are kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.sensing.__main__ import MEASUREMENT, SensingConfig, summary
from eval.sensing.judge import SensedStep
from nsrecover.errors import InvalidConfiguration


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> SensingConfig:
    folder = tmp_path_factory.mktemp("sensing")
    return SensingConfig(
        seed=5,
        episodes={"I": 1, "II": 0, "III": 0, "IV": 0},
        errors=str(folder / "errors"),
        footage=str(folder / "footage"),
        conditions={"flicker": {"sensor": {"name": "d435", "masks": {"missing": 0.3, "split": 0.2}}}},
        workers=1,
        out=str(folder / "out"),
    )


def measured(config: SensingConfig, **changes: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    changed = replace(config, **changes)
    metrics = MEASUREMENT.run(changed)["conditions"]["flicker"]
    lines = (Path(changed.out) / "rows.jsonl").read_text().splitlines()
    return metrics, [step for line in lines for step in json.loads(line)["row"]]


def test_looking_again_keeps_the_true_alarms(config: SensingConfig) -> None:
    single, steps = measured(config, looks=1, out=f"{config.out}_1")
    assert {step["looks"] for step in steps} == {1}
    assert single["looks"]["mean"] == 1.0
    several, steps = measured(config)
    assert max(step["looks"] for step in steps) > 1
    assert several["recall"]["value"] == 1.0
    doubtful = [step for step in steps if step["verdict"] == "cannot_tell"]
    assert all(step["note"] and not step["blamed"] for step in doubtful)
    assert (Path(config.out) / "table.md").read_text().count("cannot tell, good steps") == 1
    assert MEASUREMENT.run(config)["conditions"]["flicker"] == several, "it continues where it was"


def test_what_cannot_be_told_is_no_alarm_and_names_the_sensor() -> None:
    def step(number: int, **values: Any) -> SensedStep:
        return SensedStep("I", 0, number, **{"during_event": False, "verdict": "as_expected", **values})

    metrics = summary(
        [
            step(0),
            step(1, verdict="cannot_tell", note="a: no_mask", looks=3),
            step(2, verdict="deviating", blamed=["a"], looks=2),
            step(3, verdict="deviating", blamed=["a"], wrong=["a"], looks=2),
            step(4, verdict="cannot_tell", note="left: frozen", during_event=True),
        ]
    )
    assert metrics["false_alarms"]["value"] == 0.25
    assert metrics["recall"]["value"] == 1.0
    assert metrics["cannot_tell"]["value"] == pytest.approx(1 / 3, abs=1e-4)
    assert metrics["sensor_named"]["value"] == 1.0
    assert metrics["looks"] == {"mean": 1.8}


def test_a_condition_may_have_scenes_of_its_own(config: SensingConfig) -> None:
    conditions = {"alike": {"scene": "alike"}}
    metrics = MEASUREMENT.run(
        replace(config, episodes={"I": 1}, conditions=conditions, looks=1, out=f"{config.out}_alike")
    )
    assert metrics["conditions"]["alike"]["refused"]["of"] > 0
    folder = Path(f"{config.errors}_alike") / "I"
    names = json.loads((folder / "episodes.jsonl").read_text().splitlines()[0])["scene"]["objects"]
    assert {each["kind"] for each in names} == {"cube"}
    with pytest.raises(InvalidConfiguration, match=r"expected a scene, .*Did you mean 'alike'"):
        MEASUREMENT.run(replace(config, conditions={"wrong": {"scene": "alikes"}}))

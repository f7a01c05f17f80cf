"""The measurement of other shapes on one small episode: what is written, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.sensing.judge import SensedStep
from eval.shapes import MEASUREMENT, ShapesConfig, summary
from nsrecover.errors import InvalidConfiguration


def test_everything_is_written_and_wrong_settings_are_refused(tmp_path: Path) -> None:
    config = ShapesConfig(
        seed=5, episodes={"cylinders": 1}, conditions={"clean": {"sensor": {"name": "clean"}}},
        footage=str(tmp_path / "footage"), workers=1, out=str(tmp_path / "out"),
    )  # fmt: skip
    found = MEASUREMENT.run(config)["sensors"]["clean"]
    assert found["cylinders"] == found["all"]
    assert (found["all"]["recall"]["of"], found["all"]["recall"]["value"]) == (2, 1.0)
    assert "of the 2 cm rule" in (tmp_path / "out" / "table.md").read_text()
    for episodes, message in (({"mugz": 3}, "Did you mean 'mugs'"), ({"mugs": 0}, "at least one family")):
        with pytest.raises(InvalidConfiguration, match=message):
            MEASUREMENT.run(replace(config, episodes=episodes))


def test_a_good_step_counts_only_if_it_is_found_as_expected() -> None:
    def step(number: int, family: str = "mugs", **values: Any) -> SensedStep:
        return SensedStep(family, 0, number, **{"during_event": False, "verdict": "as_expected", **values})

    found = summary([
        step(0),
        step(1, verdict="cannot_tell"),
        step(2, verdict="deviating", blamed=["a"]),
        step(3, verdict="deviating", blamed=["a"], wrong=["a"], off_place=["a", "b"]),
        step(0, "boxes", off_place=["a"]),
    ])  # fmt: skip
    assert (found["mugs"]["accuracy"]["value"], found["mugs"]["accuracy"]["of"]) == (0.5, 4)
    assert found["mugs"]["rule"]["accuracy"]["value"] == 1.0
    assert (found["all but boxes"]["accuracy"]["of"], found["all"]["accuracy"]["of"]) == (4, 5)
    assert found["boxes"]["rule"]["accuracy"]["value"] == 0.0

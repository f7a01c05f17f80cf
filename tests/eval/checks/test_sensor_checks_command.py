"""The measurement of the sensor checks."""

from dataclasses import replace
from pathlib import Path

import pytest

from eval.checks.sensor_checks.__main__ import MEASUREMENT, SensorChecksConfig
from eval.checks.sensor_checks.mistakes import MISTAKES
from nsrecover.errors import InvalidConfiguration


def test_good_observations_pass_and_mistakes_are_named(tmp_path: Path) -> None:
    config = SensorChecksConfig(seed=3, good=12, scenes=1, workers=1, out=str(tmp_path / "out"))
    metrics = MEASUREMENT.run(config)
    assert metrics["good"]["refused"]["of"] == 12
    assert metrics["good"]["refused"]["value"] == 0.0, metrics["good"]["texts"]
    assert len(metrics["good"]["sensors"]) == 5
    assert metrics["faulty"]["cases"] == len(MISTAKES) == 20
    assert metrics["faulty"]["always_refused_or_named"] == 20
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "depth in millimetres" in table
    again = replace(config, workers=2, out=str(tmp_path / "again"))
    assert MEASUREMENT.run(again) == metrics, "the same seed gives the same result"


def test_nothing_to_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="expected good and scenes of at least 1"):
        MEASUREMENT.run(SensorChecksConfig(good=0, out=str(tmp_path)))

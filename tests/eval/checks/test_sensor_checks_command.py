"""The measurement of the sensor checks."""

from pathlib import Path

import pytest

from eval.checks.sensor_checks.__main__ import SensorChecksConfig, measure
from eval.checks.sensor_checks.mistakes import MISTAKES
from nsrecover.errors import InvalidConfiguration


def test_good_observations_pass_and_mistakes_are_named(tmp_path: Path) -> None:
    config = SensorChecksConfig(seed=3, good=12, scenes=1, workers=1, out=str(tmp_path / "out"))
    metrics = measure(config)
    assert metrics["good"]["refused"]["of"] == 12
    assert metrics["good"]["refused"]["value"] == 0.0, metrics["good"]["texts"]
    assert len(metrics["good"]["sensors"]) == 5
    assert metrics["faulty"]["cases"] == len(MISTAKES) == 20
    assert metrics["faulty"]["always_refused_or_named"] == 20
    table = (tmp_path / "out" / "table.md").read_text(encoding="utf-8")
    assert "depth in millimetres" in table
    assert measure(config) == metrics, "the same seed gives the same result"


def test_nothing_to_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="expected good and scenes of at least 1"):
        measure(SensorChecksConfig(good=0, out=str(tmp_path)))

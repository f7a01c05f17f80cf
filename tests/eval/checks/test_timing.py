"""`python -m eval.checks.timing` on a small scene."""

from pathlib import Path

import pytest

from eval.checks.timing import MEASUREMENT, TimingConfig
from nsrecover.errors import InvalidConfiguration
from tests.tables_text import unpadded


def test_every_step_of_a_real_episode_is_timed(tmp_path: Path) -> None:
    metrics = MEASUREMENT.run(TimingConfig(objects=[3], repeats=4, threads=1, out=str(tmp_path)))
    row = metrics["objects"]["3"]
    assert row["steps"] >= 4
    assert 0 < row["perceive_ms"] < row["p95_ms"]
    assert row["median_ms"] <= row["p95_ms"]
    assert row["cpu_ms"] > 0
    assert metrics["threads"] == 1
    assert "| 3 |" in unpadded((tmp_path / "table.md").read_text())


@pytest.mark.parametrize("wrong", [{"objects": [1]}, {"repeats": 0}, {"threads": 0}, {"objects": []}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidConfiguration, match="of at least"):
        MEASUREMENT.run(TimingConfig(**wrong))

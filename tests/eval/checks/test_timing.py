"""`python -m eval.checks.timing` on a small scene."""

from pathlib import Path

from eval.checks.timing import MEASUREMENT, TimingConfig
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

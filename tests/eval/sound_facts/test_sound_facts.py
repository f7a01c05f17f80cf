"""The evaluation of facts from sounds: events are counted by what, of what and when."""

from pathlib import Path

from eval.sound_facts.__main__ import MEASUREMENT, SoundFactsConfig


def test_it_measures_every_fact(tmp_path: Path) -> None:
    metrics = MEASUREMENT.run(SoundFactsConfig(seed=3, recordings=12, out=str(tmp_path)))
    every = metrics["facts"].values()
    assert set(metrics["facts"]) == {"hit", "broken", "popped", "cracked", "pouring", "running"}
    assert 0 < sum(found["recall"]["of"] for found in every) <= 36
    assert (tmp_path / "table.md").read_text().count("\n") == 8

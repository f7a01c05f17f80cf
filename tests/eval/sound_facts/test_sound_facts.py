"""The evaluation of facts from sounds: events are counted by what, of what and when."""

from pathlib import Path

from eval.sound_facts.__main__ import MEASUREMENT, SoundFactsConfig, _is_said, _is_true


def test_it_measures_every_fact(tmp_path: Path) -> None:
    metrics = MEASUREMENT.run(SoundFactsConfig(seed=3, recordings=12, out=str(tmp_path)))
    every = metrics["facts"].values()
    assert set(metrics["facts"]) == {"hit", "broken", "popped", "cracked", "pouring", "running"}
    assert 0 < sum(found["recall"]["of"] for found in every) <= 36
    assert (tmp_path / "table.md").read_text().count("\n") == 8


def test_an_event_is_right_at_its_time_and_what_goes_on_later_too() -> None:
    broken, running = ("broken", "shatter", 1.0, 0.0), ("running", "tv", 1.0, 3.0)
    assert _is_said(broken, [("broken", "shatter", 1.3, 0.2)], 2)
    assert not _is_said(broken, [("broken", "shatter", 2.0, 0.2)], 2)
    assert _is_true(("running", "tv", 3.5, 0.5), [running], 2)
    assert not _is_true(("broken", "shatter", 3.5, 0.5), [broken], 2)
    assert _is_true(("running", "microwave_hum", 1.0, 0.5), [running], 1)
    assert not _is_true(("running", "microwave_hum", 1.0, 0.5), [running], 2)

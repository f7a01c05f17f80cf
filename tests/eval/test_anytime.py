"""Recoveries by planning budget: no time finds nothing, and more time finds more and proves more."""

from pathlib import Path

import pytest

from eval.anytime import LONG, MEASUREMENT, AnytimeConfig, Bounded, summary


def test_without_time_nothing_is_found_and_with_much_time_everything(tmp_path: Path) -> None:
    found = MEASUREMENT.run(
        AnytimeConfig(objects=[20], stacked_anew=[6], repeats=1, budgets_ms=[0.001], best_s=3.0, out=str(tmp_path))
    )
    none, long = found["budgets"]["0.001 ms"], found["budgets"]["long search"]
    assert (none["solved"]["value"], long["solved"]["value"]) == (0.0, 1.0)
    assert long["cost_over_best"]["value"] == 1.0
    assert "long search" in (tmp_path / "table.md").read_text()


def test_costs_are_compared_with_the_best_of_the_same_state() -> None:
    states = [
        [Bounded(5.0, 12.0, False, 5.0, 3), Bounded(LONG, 10.0, True, 40.0, 9)],
        [Bounded(5.0, None, False, 5.0, 0), Bounded(LONG, 7.0, True, 40.0, 9)],
    ]
    found = summary([(20, state) for state in states])["budgets"]
    assert found["5 ms"]["cost_over_best"]["value"] == pytest.approx(1.2)
    assert (found["5 ms"]["solved"]["value"], found["long search"]["solved"]["value"]) == (0.5, 1.0)

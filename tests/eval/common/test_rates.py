"""Rates of decisions are those of the textbook."""

from eval.common.statistics import Confusion


def test_each_rate_has_its_own_denominator() -> None:
    rates = Confusion(hits=6, false_alarms=2, misses=4, quiet=28).rates()
    assert {name: (rate["value"], rate["of"]) for name, rate in rates.items()} == {
        "accuracy": (0.85, 40), "precision": (0.75, 8), "recall": (0.6, 10), "false_alarm_rate": (0.06667, 30),
    }  # fmt: skip

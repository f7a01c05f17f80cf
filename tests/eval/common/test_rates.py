"""Rates of decisions are those of the textbook."""

from eval.common.statistics import decisions


def test_each_rate_has_its_own_denominator() -> None:
    hits, false, misses, quiet = [(True, True)] * 6, [(False, True)] * 2, [(True, False)] * 4, [(False, False)] * 28
    rates = decisions([*hits, *false, *misses, *quiet])
    assert {name: (rate["value"], rate["of"]) for name, rate in rates.items()} == {
        "accuracy": (0.85, 40), "precision": (0.75, 8), "recall": (0.6, 10), "false_alarm_rate": (0.06667, 30),
    }  # fmt: skip

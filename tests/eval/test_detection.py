"""The figures of the monitor's verdicts, worked by hand."""

import numpy as np
import pytest

from eval.common import statistics
from eval.common.step_verdicts import StepVerdict
from eval.models import association, by_step, exact, false_alarms


def verdict(wrong: dict[str, str], blamed: tuple[str, ...], matched: int = 3, **probabilities: float) -> StepVerdict:
    said = {"a": 0.99, "b": 0.98, "c": 0.97} | probabilities
    return StepVerdict("I", 0, 0, 3, wrong, said, blamed, 3, matched)


VERDICTS = [
    verdict({}, ()),
    verdict({}, ()),
    verdict({}, ("a",), a=0.3),
    verdict({"a": "push"}, ("a",), a=0.1),
    verdict({"a": "push", "b": "swap"}, ("b",), matched=2, a=0.7, b=0.05),
    verdict({"c": "slip"}, ()),
]


def test_steps_are_counted_once() -> None:
    counts = by_step(VERDICTS)
    assert counts == statistics.Confusion(hits=2, false_alarms=1, misses=1, quiet=2)
    rates = counts.rates()
    assert rates["accuracy"]["value"] == pytest.approx(4 / 6, abs=1e-5)
    assert rates["precision"]["value"] == pytest.approx(2 / 3, abs=1e-5)
    assert rates["recall"]["value"] == pytest.approx(2 / 3, abs=1e-5)
    assert rates["false_alarm_rate"]["value"] == pytest.approx(1 / 3, abs=1e-5)


def test_culprits_are_exact_or_not() -> None:
    assert exact(VERDICTS)["value"] == 0.5
    assert exact(VERDICTS)["of"] == 2


def test_association_counts_visible_objects() -> None:
    assert association(VERDICTS)["value"] == pytest.approx(17 / 18, abs=1e-5)


def test_false_alarms_at_other_thresholds() -> None:
    found = false_alarms(VERDICTS, {0.01: 0.5, 0.05: 0.975})
    assert found["0.01"]["value"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["0.05"]["value"] == 1.0


def test_the_area_under_the_curve() -> None:
    good = np.array([False, False, True, True])
    assert statistics.roc(np.array([0.1, 0.2, 0.8, 0.9]), good)[2] == 1.0
    assert statistics.roc(np.array([0.9, 0.8, 0.2, 0.1]), good)[2] == 0.0
    assert statistics.roc(np.full(4, 0.5), good)[2] == 0.5


def test_a_share_of_zero_has_no_value() -> None:
    assert statistics.share(0, 0)["value"] is None
    assert statistics.share(95, 100)["low"] == pytest.approx(0.8882, abs=1e-3)

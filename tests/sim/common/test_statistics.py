"""Intervals of shares."""

import pytest

from sim.common.statistics import wilson_interval


def test_wilson_interval():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    low, high = wilson_interval(95, 100)
    # textbook values
    assert low == pytest.approx(0.8882, abs=1e-4)
    assert high == pytest.approx(0.9785, abs=1e-4)
    assert wilson_interval(100, 100)[1] == pytest.approx(1.0)
    assert wilson_interval(0, 100)[0] == 0.0

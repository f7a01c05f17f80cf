"""Confidence intervals of shares."""

from __future__ import annotations

from scipy.stats import binomtest


def wilson_interval(good: int, total: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927); (0, 1) if the total is 0."""
    if not total:
        return 0.0, 1.0
    interval = binomtest(good, total).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)

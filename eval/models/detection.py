"""Accuracy of the monitor's verdicts: by step; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from eval.common.statistics import Confusion, Share, share, share_of
from eval.common.step_verdicts import StepVerdict


def by_step(verdicts: Iterable[StepVerdict]) -> Confusion:
    """Count decisions by step: does any object deviate?"""
    return Confusion.from_counts(Counter((bool(verdict.wrong), bool(verdict.blamed)) for verdict in verdicts))


def exact(verdicts: Iterable[StepVerdict]) -> Share:
    """Share of the detected errors in which exactly the deviating objects are blamed."""
    noticed = [verdict for verdict in verdicts if verdict.wrong and verdict.blamed]
    return share_of(set(verdict.blamed) == set(verdict.wrong) for verdict in noticed)


def association(verdicts: Sequence[StepVerdict]) -> Share:
    """Share of the visible objects that are matched with themselves."""
    return share(sum(verdict.matched for verdict in verdicts), sum(verdict.visible for verdict in verdicts))


def false_alarms(verdicts: Iterable[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Share]:
    """Measured false alarm rate per good step at the threshold of each promised rate."""
    lowest = [min(verdict.probabilities.values()) for verdict in verdicts if not verdict.wrong]
    return {str(alpha): share_of(score < threshold for score in lowest) for alpha, threshold in thresholds.items()}

"""Accuracy of the monitor's verdicts: by step, object, cause and number of objects; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from eval.common.statistics import Confusion, Flags, Scores, Share, share, share_of
from eval.common.step_verdicts import StepVerdict


def by_step(verdicts: Iterable[StepVerdict]) -> Confusion:
    """Count decisions by step: does any object deviate?"""
    return Confusion.from_counts(Counter((bool(verdict.wrong), bool(verdict.blamed)) for verdict in verdicts))


def by_object(verdicts: Iterable[StepVerdict]) -> Confusion:
    """Count decisions by object and step: does the object deviate?"""
    counts: Counter[tuple[bool, bool]] = Counter()
    for verdict in verdicts:
        blamed = set(verdict.blamed)
        counts.update((name in verdict.wrong, name in blamed) for name in verdict.probabilities)
        counts.update((True, False) for name in verdict.wrong if name not in verdict.probabilities)
    return Confusion.from_counts(counts)


def exact(verdicts: Iterable[StepVerdict]) -> Share:
    """Share of the detected errors in which exactly the deviating objects are blamed."""
    noticed = [verdict for verdict in verdicts if verdict.wrong and verdict.blamed]
    return share_of(set(verdict.blamed) == set(verdict.wrong) for verdict in noticed)


def association(verdicts: Sequence[StepVerdict]) -> Share:
    """Share of the visible objects that are matched with themselves."""
    return share(sum(verdict.matched for verdict in verdicts), sum(verdict.visible for verdict in verdicts))


def recall_by_cause(verdicts: Iterable[StepVerdict]) -> dict[str, Share]:
    """Share of the deviating objects that are blamed, by the cause of the deviation."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for verdict in verdicts:
        for name, cause in verdict.wrong.items():
            total[cause] += 1
            found[cause] += name in verdict.blamed
    return {cause: share(found[cause], total[cause]) for cause in sorted(total)}


def false_alarms(verdicts: Iterable[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Share]:
    """Measured false alarm rate per good step at the threshold of each promised rate."""
    lowest = [min(verdict.probabilities.values()) for verdict in verdicts if not verdict.wrong]
    return {str(alpha): share_of(score < threshold for score in lowest) for alpha, threshold in thresholds.items()}


def object_scores(verdicts: Iterable[StepVerdict]) -> tuple[Scores, Flags]:
    """P(as expected) of every object after every step, and whether it truly was: (M,) and (M,)."""
    pairs = [
        (probability, name not in verdict.wrong)
        for verdict in verdicts
        for name, probability in verdict.probabilities.items()
    ]
    scores, good = (np.array(column) for column in zip(*pairs, strict=True))
    return scores.astype(np.float64), good.astype(np.bool_)

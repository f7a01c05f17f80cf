"""How good the monitor's verdicts are: by step and by object, by cause, by number of objects; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from eval.common.step_verdicts import StepVerdict

Share = dict[str, Any]


def share(good: int, total: int) -> Share:
    """A share with its 95 % interval (Wilson's); None where nothing was counted."""
    if total == 0:
        return {"value": None, "low": None, "high": None, "of": 0}
    interval = binomtest(good, total).proportion_ci(method="wilson")
    return {
        "value": round(good / total, 5),
        "low": round(float(interval.low), 5),
        "high": round(float(interval.high), 5),
        "of": total,
    }


@dataclass(frozen=True)
class Confusion:
    """Counts of a yes-or-no decision.

    Attributes:
        hits: errors that were noticed.
        false_alarms: alarms without an error.
        misses: errors that were not noticed.
        quiet: no alarm, and rightly so.
    """

    hits: int
    false_alarms: int
    misses: int
    quiet: int

    def rates(self) -> dict[str, Share]:
        """Accuracy, precision, recall and the rate of false alarms among what went well."""
        total = self.hits + self.false_alarms + self.misses + self.quiet
        return {
            "accuracy": share(self.hits + self.quiet, total),
            "precision": share(self.hits, self.hits + self.false_alarms),
            "recall": share(self.hits, self.hits + self.misses),
            "false_alarm_rate": share(self.false_alarms, self.false_alarms + self.quiet),
        }


def by_step(verdicts: Iterable[StepVerdict]) -> Confusion:
    """Every step is a decision: is something wrong?"""
    counts = Counter((bool(verdict.wrong), bool(verdict.blamed)) for verdict in verdicts)
    return _confusion(counts)


def by_object(verdicts: Iterable[StepVerdict]) -> Confusion:
    """Every object after every step is a decision: is it out of place?"""
    counts: Counter[tuple[bool, bool]] = Counter()
    for verdict in verdicts:
        blamed = set(verdict.blamed)
        counts.update((name in verdict.wrong, name in blamed) for name in verdict.probabilities)
        counts.update((True, False) for name in verdict.wrong if name not in verdict.probabilities)
    return _confusion(counts)


def _confusion(counts: Mapping[tuple[bool, bool], int]) -> Confusion:
    return Confusion(
        counts.get((True, True), 0),
        counts.get((False, True), 0),
        counts.get((True, False), 0),
        counts.get((False, False), 0),
    )


def exact(verdicts: Iterable[StepVerdict]) -> Share:
    """Of the errors that were noticed: with exactly the right culprits."""
    noticed = [verdict for verdict in verdicts if verdict.wrong and verdict.blamed]
    return share(sum(set(verdict.blamed) == set(verdict.wrong) for verdict in noticed), len(noticed))


def association(verdicts: Sequence[StepVerdict]) -> Share:
    """Of the objects that are visible: taken for what they are."""
    return share(sum(verdict.matched for verdict in verdicts), sum(verdict.visible for verdict in verdicts))


def recall_by_cause(verdicts: Iterable[StepVerdict]) -> dict[str, Share]:
    """Of the objects that each cause put out of place: blamed."""
    found: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for verdict in verdicts:
        for name, cause in verdict.wrong.items():
            total[cause] += 1
            found[cause] += name in verdict.blamed
    return {cause: share(found[cause], total[cause]) for cause in sorted(total)}


def grouped(verdicts: Iterable[StepVerdict], key: Callable[[StepVerdict], Any]) -> dict[Any, list[StepVerdict]]:
    """The verdicts by a key, in the order of the keys."""
    groups: dict[Any, list[StepVerdict]] = {}
    for verdict in verdicts:
        groups.setdefault(key(verdict), []).append(verdict)
    return dict(sorted(groups.items()))


def false_alarms(verdicts: Iterable[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Share]:
    """Measured rate of false alarms per good step at the threshold of each promised rate."""
    lowest = [min(verdict.probabilities.values()) for verdict in verdicts if not verdict.wrong]
    return {
        str(alpha): share(sum(score < threshold for score in lowest), len(lowest))
        for alpha, threshold in thresholds.items()
    }


def object_scores(verdicts: Iterable[StepVerdict]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """P(as expected) of every object after every step, and whether it truly was: (M,) and (M,)."""
    pairs = [
        (probability, name not in verdict.wrong)
        for verdict in verdicts
        for name, probability in verdict.probabilities.items()
    ]
    scores, good = (np.array(column) for column in zip(*pairs, strict=True))
    return scores.astype(np.float64), good.astype(np.bool_)


def reliability(
    scores: npt.NDArray[np.float64], good: npt.NDArray[np.bool_], bins: int = 10
) -> tuple[list[dict[str, float]], float]:
    """How often objects are as expected when the monitor says they are with a probability.

    Args:
        scores: (M,) P(as expected).
        good: (M,) whether they were.
        bins: of equal width.

    Returns:
        For each bin that is not empty its mean probability, the share of good objects and their number; and the
        expected calibration error, the mean of their distance weighted by the numbers.
    """
    number = np.minimum((scores * bins).astype(int), bins - 1)
    rows, error = [], 0.0
    for index in range(bins):
        inside = number == index
        if inside.any():
            said, was = float(scores[inside].mean()), float(good[inside].mean())
            rows.append({"probability": round(said, 4), "share": round(was, 4), "objects": int(inside.sum())})
            error += abs(said - was) * float(inside.mean())
    return rows, round(error, 5)


def roc(
    scores: npt.NDArray[np.float64], good: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Receiver operating characteristic of calling an object wrong when its probability is low.

    Returns:
        Rate of false alarms and recall for every threshold, from none to all, and the area under the curve.
    """
    order = np.argsort(scores, kind="stable")
    wrong = ~good[order]
    last = np.append(np.diff(scores[order]) != 0, True)  # equal scores are called together
    hits, alarms = np.cumsum(wrong)[last], np.cumsum(~wrong)[last]
    recall = np.append(0.0, hits / max(wrong.sum(), 1))
    rate = np.append(0.0, alarms / max((~wrong).sum(), 1))
    return rate, recall, float(np.trapezoid(recall, rate))

"""Shares with intervals, spreads, confusion counts and operating characteristics; pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sim.common.statistics import wilson_interval

Share = dict[str, Any]
"""A share with its 95 % interval: `value`, `low`, `high` and `of`, the number that it is a share of."""
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Item = TypeVar("Item")

RESAMPLES = 2000
"""Draws of a bootstrap."""


def share(good: int, total: int) -> Share:
    """Share with its 95 % Wilson interval; the values are None if the total is 0."""
    if total == 0:
        return {"value": None, "low": None, "high": None, "of": 0}
    low, high = wilson_interval(good, total)
    return {"value": round(good / total, 5), "low": round(low, 5), "high": round(high, 5), "of": total}


def share_of(values: Iterable[bool]) -> Share:
    """Share of the values that are true."""
    every = list(values)
    return share(sum(every), len(every))


def paired_interval(both: int, first_only: int, second_only: int, total: int) -> tuple[float, float]:
    """95 % interval of the difference between two shares of the same episodes (Newcombe 1998, method 10).

    Unlike a bootstrap interval it is not empty if all outcomes are equal.
    """
    neither = total - both - first_only - second_only
    first, second = share(both + first_only, total), share(both + second_only, total)
    difference = (first_only - second_only) / total
    product = (both + first_only) * (second_only + neither) * (both + second_only) * (first_only + neither)
    agreement = float(both * neither - first_only * second_only)
    if agreement > 0:  # corrected for continuity
        agreement = max(agreement - total / 2, 0.0)
    phi = agreement / math.sqrt(product) if product else 0.0

    def away(one: float, other: float) -> float:
        return math.sqrt(max(one * one - 2 * phi * one * other + other * other, 0.0))

    low = away(first["value"] - first["low"], second["high"] - second["value"])
    high = away(first["high"] - first["value"], second["value"] - second["low"])
    return round(difference - low, 5), round(difference + high, 5)


def paired_difference(first: Sequence[bool], second: Sequence[bool]) -> Share:
    """Difference of two shares of the same episodes, with its 95 % interval."""
    pairs = list(zip(first, second, strict=True))
    both, first_only, second_only = (pairs.count(each) for each in ((True, True), (True, False), (False, True)))
    low, high = paired_interval(both, first_only, second_only, len(pairs))
    return {"value": (first_only - second_only) / len(pairs), "low": low, "high": high, "of": len(pairs)}


def bootstrap_interval(
    values: npt.NDArray[np.floating], over: npt.NDArray[np.floating] | None = None, draws: int = RESAMPLES
) -> tuple[float, float]:
    """95 % interval of a mean, or of a ratio of sums, by resampling.

    Args:
        values: (N,) of the units that are drawn, such as episodes.
        over: (N,) what their sum is divided by, at least 1 in all; None: their number, so that it is the mean.
        draws: number of resamples.
    """
    chosen = np.random.default_rng(0).integers(len(values), size=(draws, len(values)))
    divisors = len(values) if over is None else np.maximum(over[chosen].sum(axis=1), 1.0)
    low, high = np.quantile(values[chosen].sum(axis=1) / divisors, (0.025, 0.975))
    return float(low), float(high)


def mean(values: Sequence[float], digits: int = 5) -> float | None:
    """Rounded mean; None if there are no values."""
    return round(float(np.mean(values)), digits) if values else None


def spread(values: Sequence[float], digits: int = 5, **levels: Callable[[Sequence[float]], Any]) -> dict[str, Any]:
    """Rounded statistics of some values, each None if there are no values.

    Args:
        values: numbers.
        digits: decimals.
        levels: name -> statistic, e.g. `median=np.median`.
    """
    return {name: round(float(level(values)), digits) if len(values) else None for name, level in levels.items()}


def p95(values: Sequence[float]) -> Any:
    """95th percentile."""
    return np.quantile(values, 0.95)


def over(found: float, best: float) -> float:
    """A length over the best one, which may be 0."""
    return 1.0 if found == best else found / max(best, 1)


def grouped(items: Iterable[Item], key: Callable[[Item], Any]) -> dict[Any, list[Item]]:
    """Items by a key, in the order of the keys."""
    groups: dict[Any, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


def decisions(pairs: Iterable[tuple[bool, bool]]) -> dict[str, Share]:
    """Accuracy, precision, recall, and the rate of false alarms among the steps without an error.

    Args:
        pairs: of every decision whether there was an error, and an alarm.
    """
    every = list(pairs)
    return {
        "accuracy": share_of(wrong == alarm for wrong, alarm in every),
        "precision": share_of(wrong for wrong, alarm in every if alarm),
        "recall": share_of(alarm for wrong, alarm in every if wrong),
        "false_alarm_rate": share_of(alarm for wrong, alarm in every if not wrong),
    }


def roc(scores: Scores, good: Flags) -> tuple[Scores, Scores, float]:
    """Receiver operating characteristic of alarms at low scores.

    Returns:
        False alarm rate and recall for every threshold, from no alarms to all, and the area under the curve.
    """
    order = np.argsort(scores, kind="stable")
    wrong = ~good[order]
    last = np.append(np.diff(scores[order]) != 0, True)  # equal scores alarm together
    hits, alarms = np.cumsum(wrong)[last], np.cumsum(~wrong)[last]
    recall = np.append(0.0, hits / max(wrong.sum(), 1))
    rate = np.append(0.0, alarms / max((~wrong).sum(), 1))
    return rate, recall, float(np.trapezoid(recall, rate))


def roc_of(good: Scores, bad: Scores) -> tuple[Scores, Scores, float]:
    """`roc` of the scores of good and of bad moments, (G,) and (B,)."""
    return roc(np.concatenate([good, bad]), np.repeat([True, False], [len(good), len(bad)]))

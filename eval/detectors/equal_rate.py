"""Detection rates at the detectors' own thresholds and at equal false alarm rates; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from eval.common.statistics import RESAMPLES, Share, roc_of, share
from eval.common.statistics import Scores as Values
from eval.detectors.judged_moments import JudgedEpisode, JudgedMoment

RATES = (0.001, 0.01, 0.05)
"""False alarm rates at which detectors are compared."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """Scores of a detector, sorted by ground truth.

    Attributes:
        good: (G,) scores after steps that went well.
        bad: (B,) scores after steps that went wrong, in the order of `errors`.
        good_episode: (G,) number of the episode of each good step.
        bad_episode: (B,) of each error.
    """

    good: Values
    bad: Values
    good_episode: npt.NDArray[np.intp]
    bad_episode: npt.NDArray[np.intp]


def errors(episodes: Iterable[JudgedEpisode]) -> list[tuple[str, JudgedMoment]]:
    """Moments with an error, each with its dataset."""
    return [(episode.dataset, moment) for episode in episodes for moment in episode.moments if moment.causes]


def evidence(episodes: Sequence[JudgedEpisode], detector: str) -> Evidence:
    """Scores of one detector."""
    every = [(number, moment) for number, episode in enumerate(episodes) for moment in episode.moments]

    def after(wrong: bool) -> tuple[Values, npt.NDArray[np.intp]]:
        found = [(moment.scores[detector], number) for number, moment in every if bool(moment.causes) is wrong]
        return np.array([score for score, _ in found], np.float64), np.array([number for _, number in found], np.intp)

    good, good_episode = after(wrong=False)
    bad, bad_episode = after(wrong=True)
    return Evidence(good, bad, good_episode, bad_episode)


def threshold_at(good: Values, rate: float) -> float:
    """Highest threshold below which at most a given share of the scores of good moments lie."""
    return float(np.sort(good)[int(rate * len(good))]) if len(good) else 0.0


def alarms(scores: Values, threshold: float) -> Share:
    """Share of the scores below a threshold, with its interval."""
    return share(int((scores < threshold).sum()), len(scores))


def area(good: Values, bad: Values) -> float | None:
    """Area under the receiver operating characteristic; None without good or bad moments."""
    if not len(good) or not len(bad):
        return None
    return round(roc_of(good, bad)[2], 5)


def resampled(found: Evidence, rate: float) -> Values:
    """(RESAMPLES,) Bootstrap of the share detected: episodes are resampled and the threshold is set again each time.

    The steps of an episode are correlated and the threshold depends on few of them, which a Wilson interval ignores.
    The draws are the same for every detector, so that detectors can be compared draw by draw.
    """
    count = int(max(found.good_episode.max(initial=-1), found.bad_episode.max(initial=-1))) + 1
    rng, shares = np.random.default_rng(0), np.full(RESAMPLES, np.nan)
    for draw in range(RESAMPLES):
        times = np.bincount(rng.integers(count, size=count), minlength=count)
        weights = times[found.bad_episode]
        if weights.sum():
            threshold = threshold_at(np.repeat(found.good, times[found.good_episode]), rate)
            shares[draw] = weights[found.bad < threshold].sum() / weights.sum()
    return shares


def ahead(first: Evidence, found: Evidence, rate: float) -> dict[str, float | None]:
    """Difference of the shares detected by the first and another detector, with a 95 % bootstrap interval."""
    if not len(found.good) or not len(found.bad):
        return {"value": None, "low": None, "high": None}
    shares = [float((each.bad < threshold_at(each.good, rate)).mean()) for each in (first, found)]
    low, high = np.nanpercentile(resampled(first, rate) - resampled(found, rate), [2.5, 97.5])
    return {"value": round(shares[0] - shares[1], 5), "low": round(float(low), 5), "high": round(float(high), 5)}


def at_own_thresholds(found: Evidence, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Rates at the thresholds of a detector's authors."""
    return [
        {
            "threshold": threshold,
            "detection": alarms(found.bad, threshold),
            "false_alarms": alarms(found.good, threshold),
        }
        for threshold in thresholds
    ]


def at_equal_rates(found: Evidence, first: Evidence) -> dict[str, dict[str, Any]]:
    """Rates at thresholds that give every detector the same false alarm rate.

    Args:
        found: of a detector.
        first: evidence of the detector to compare with, error by error.

    Returns:
        Rate -> threshold, measured false alarm rate, share detected; number of errors that only one of the two detects,
        with McNemar's exact p, and the difference of their shares.
    """
    rows = {}
    for rate in RATES:
        threshold = threshold_at(found.good, rate)
        caught = found.bad < threshold
        caught_by_first = first.bad < threshold_at(first.good, rate)
        only_first, only_this = int((caught_by_first & ~caught).sum()), int((caught & ~caught_by_first).sum())
        rows[str(rate)] = {
            "threshold": threshold,
            "false_alarms": alarms(found.good, threshold),
            "detection": alarms(found.bad, threshold),
            "only_first": only_first,
            "only_this": only_this,
            "p": float(binomtest(only_first, only_first + only_this).pvalue) if only_first + only_this else 1.0,
            "first_ahead": ahead(first, found, rate),
        }
    return rows

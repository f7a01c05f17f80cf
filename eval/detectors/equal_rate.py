"""Detection rates at the detectors' own thresholds and at equal false alarm rates; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        good_before: (H,) scores before actions in correct scenes.
        failing_before: (F,) scores before an action in a scene in which it or a later action fails.
        failing_next: (F,) whether that action itself fails.
        doomed_before: (D,) scores before natural failures of actions in correct scenes.
        good_episode: (G,) number of the episode of each good step.
        bad_episode: (B,) of each error.
    """

    good: Values
    bad: Values
    good_before: Values
    failing_before: Values
    failing_next: npt.NDArray[np.bool_]
    doomed_before: Values
    good_episode: npt.NDArray[np.intp]
    bad_episode: npt.NDArray[np.intp]


def errors(episodes: Iterable[JudgedEpisode]) -> list[tuple[str, JudgedMoment]]:
    """Moments with an error, each with its dataset."""
    return [(episode.dataset, moment) for episode in episodes for moment in episode.moments if moment.causes]


def evidence(episodes: Sequence[JudgedEpisode], detector: str) -> Evidence:
    """Scores of one detector."""
    every = [(number, moment) for number, episode in enumerate(episodes) for moment in episode.moments]

    def after(wrong: bool) -> tuple[Values, npt.NDArray[np.intp]]:
        found = [(moment.scores[detector].after, number) for number, moment in every if bool(moment.causes) is wrong]
        return np.array([score for score, _ in found], np.float64), np.array([number for _, number in found], np.intp)

    def before(which: Callable[[JudgedMoment], bool]) -> tuple[Values, npt.NDArray[np.bool_]]:
        found = [(moment.scores[detector].before, moment) for _, moment in every if which(moment)]
        known = [(score, moment.fails_later == moment.step + 1) for score, moment in found if score is not None]
        return np.array([score for score, _ in known], np.float64), np.array([soon for _, soon in known], np.bool_)

    good, good_episode = after(wrong=False)
    bad, bad_episode = after(wrong=True)
    failing, soon = before(lambda moment: moment.fails_later is not None)
    return Evidence(
        good=good,
        bad=bad,
        good_before=before(lambda moment: not moment.causes and not moment.fails_next)[0],
        failing_before=failing,
        failing_next=soon,
        doomed_before=before(lambda moment: moment.fails_next)[0],
        good_episode=good_episode,
        bad_episode=bad_episode,
    )


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


def on_curve(good: Values, bad: Values, rate: float) -> float | None:
    """Share detected at exactly a given false alarm rate, interpolated between two thresholds.

    A detector whose scores take few values may have no threshold with exactly that rate.
    """
    if not len(good) or not len(bad):
        return None
    rates, recall, _ = roc_of(good, bad)
    last = np.append(np.diff(rates) > 0, True)  # the highest recall at each rate
    return round(float(np.interp(rate, rates[last], recall[last])), 5)


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
            "lead": alarms(found.failing_before, threshold),
            "false_alarms_before": alarms(found.good_before, threshold),
        }
        for threshold in thresholds
    ]


def at_equal_rates(found: Evidence, first: Evidence) -> dict[str, dict[str, Any]]:
    """Rates at thresholds that give every detector the same false alarm rate.

    Args:
        found: of a detector.
        first: evidence of the detector to compare with, error by error.

    Returns:
        Rate -> threshold, measured false alarm rate, share detected, the same on the curve; number of errors that only
        one of the two detects, with McNemar's exact p, and the difference of their shares; share of failures announced
        before they run, at a threshold for scenes before actions, and of those whose action is the very next one.
    """
    rows = {}
    for rate in RATES:
        threshold = threshold_at(found.good, rate)
        caught = found.bad < threshold
        caught_by_first = first.bad < threshold_at(first.good, rate)
        before = threshold_at(found.good_before, rate)
        only_first, only_this = int((caught_by_first & ~caught).sum()), int((caught & ~caught_by_first).sum())
        rows[str(rate)] = {
            "threshold": threshold,
            "false_alarms": alarms(found.good, threshold),
            "detection": alarms(found.bad, threshold),
            "on_curve": on_curve(found.good, found.bad, rate),
            "only_first": only_first,
            "only_this": only_this,
            "p": float(binomtest(only_first, only_first + only_this).pvalue) if only_first + only_this else 1.0,
            "first_ahead": ahead(first, found, rate),
            "threshold_before": before,
            "lead": alarms(found.failing_before, before),
            "lead_next": alarms(found.failing_before[found.failing_next], before),
            "natural_failures_announced": alarms(found.doomed_before, before),
        }
    return rows


def by_group(
    every: Sequence[tuple[str, JudgedMoment]],
    found: Evidence,
    group: Callable[[str, JudgedMoment], str | None],
    rate: float = 0.01,
) -> dict[str, Share]:
    """Share detected in each group of errors, at one threshold.

    Args:
        every: the errors, see `errors`.
        found: of a detector.
        group: dataset and moment -> name of the group; None to leave it out.
        rate: of false alarms.
    """
    caught = found.bad < threshold_at(found.good, rate)
    names = [group(dataset, moment) for dataset, moment in every]
    return {
        name: share(int(sum(hit for hit, other in zip(caught, names, strict=True) if other == name)), names.count(name))
        for name in sorted({name for name in names if name is not None})
    }


def only_cause(dataset: str, moment: JudgedMoment) -> str | None:
    """The only fault behind an error; None if there are several."""
    return moment.causes[0] if len(moment.causes) == 1 else None

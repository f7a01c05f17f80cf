"""How good detectors are at their own thresholds, and at equal rates of false alarms; pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eval import detection
from eval.detectors.judged import Judged, JudgedEpisode

RATES = (0.001, 0.01, 0.05)
"""Shares of good steps at which a detector may alarm when detectors are compared."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a detector said, sorted by the truth.

    Attributes:
        good: (G,) scores after steps that went well.
        bad: (B,) scores after steps that did not, in the order of `errors`.
        good_before: (H,) scores before actions, in scenes as they should be.
        failing_before: (F,) scores before an action in a scene that makes it, or a later one, fail.
        doomed_before: (D,) scores before actions that fail by themselves in scenes as they should be.
    """

    good: Values
    bad: Values
    good_before: Values
    failing_before: Values
    doomed_before: Values


def errors(episodes: Iterable[JudgedEpisode]) -> list[tuple[str, Judged]]:
    """The moments at which something is wrong, each with its dataset."""
    return [(episode.dataset, moment) for episode in episodes for moment in episode.moments if moment.causes]


def evidence(episodes: Sequence[JudgedEpisode], detector: str) -> Evidence:
    """The scores of one detector."""

    def scores(which: Callable[[Judged], bool], before: bool = False) -> Values:
        found = [moment.scores[detector] for episode in episodes for moment in episode.moments if which(moment)]
        values = [pair.before if before else pair.after for pair in found]
        return np.array([value for value in values if value is not None], dtype=np.float64)

    return Evidence(
        good=scores(lambda moment: not moment.causes),
        bad=scores(lambda moment: bool(moment.causes)),
        good_before=scores(lambda moment: not moment.causes and not moment.fails_next, before=True),
        failing_before=scores(lambda moment: moment.fails_later is not None, before=True),
        doomed_before=scores(lambda moment: moment.fails_next, before=True),
    )


def threshold_at(good: Values, rate: float) -> float:
    """The highest threshold below which no more than a share of the scores of good moments lie."""
    return float(np.sort(good)[int(rate * len(good))]) if len(good) else 0.0


def alarms(scores: Values, threshold: float) -> detection.Share:
    """The share of scores below a threshold, with its interval."""
    return detection.share(int((scores < threshold).sum()), len(scores))


def area(good: Values, bad: Values) -> float | None:
    """Area under the receiver operating characteristic; None if there is nothing to tell apart."""
    if not len(good) or not len(bad):
        return None
    flags = np.repeat([True, False], [len(good), len(bad)])
    return round(detection.roc(np.concatenate([good, bad]), flags)[2], 5)


def at_own_thresholds(found: Evidence, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """Rates at the thresholds that a detector's authors use."""
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
    """Rates at thresholds that give the same rate of false alarms for every detector.

    Args:
        found: of a detector.
        first: of the one that it is compared with, error by error.

    Returns:
        Rate -> threshold, share detected, share of failures announced before they ran, and how many errors only one
        of both detects.
    """
    rows = {}
    for rate in RATES:
        threshold = threshold_at(found.good, rate)
        caught = found.bad < threshold
        caught_by_first = first.bad < threshold_at(first.good, rate)
        before = threshold_at(found.good_before, rate)
        rows[str(rate)] = {
            "threshold": threshold,
            "detection": alarms(found.bad, threshold),
            "only_first": int((caught_by_first & ~caught).sum()),
            "only_this": int((caught & ~caught_by_first).sum()),
            "threshold_before": before,
            "lead": alarms(found.failing_before, before),
            "natural_failures_announced": alarms(found.doomed_before, before),
        }
    return rows


def by_group(
    every: Sequence[tuple[str, Judged]], found: Evidence, group: Callable[[str, Judged], str | None], rate: float = 0.01
) -> dict[str, detection.Share]:
    """Share detected in each group of errors, at one threshold for all.

    Args:
        every: the errors, see `errors`.
        found: of a detector.
        group: dataset and moment -> name of the group; None to leave it out.
        rate: of false alarms.
    """
    caught = found.bad < threshold_at(found.good, rate)
    names = [group(dataset, moment) for dataset, moment in every]
    return {
        name: detection.share(
            int(sum(hit for hit, other in zip(caught, names, strict=True) if other == name)), names.count(name)
        )
        for name in sorted({name for name in names if name is not None})
    }


def only_cause(dataset: str, moment: Judged) -> str | None:
    """The fault that is alone to blame for a moment; None if there are several."""
    return moment.causes[0] if len(moment.causes) == 1 else None

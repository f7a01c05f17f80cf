"""Comparison of two planners on the same episodes; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from eval.common.statistics import bootstrap_interval, paired_interval
from eval.sweep.failures import succeeded
from eval.sweep.records import EpisodeRecord


@dataclass(frozen=True)
class Paired:
    """A comparison of two planners, episode by episode.

    Attributes:
        episodes: number of common episodes.
        both: episodes that succeed under both.
        first_only: under the first only.
        second_only: under the second only.
        p_value: of McNemar's exact test.
        difference: success rate of the first minus that of the second.
        interval: its 95 % interval (Newcombe 1998, method 10, for paired shares).
        actions: mean actions of the first minus those of the second, where both succeed; None without such episodes.
        actions_interval: its 95 % interval, by resampling episodes.
        time_ratio: median planning time of the second over that of the first; None if one of them never plans.
    """

    episodes: int
    both: int
    first_only: int
    second_only: int
    p_value: float
    difference: float
    interval: tuple[float, float]
    actions: float | None
    actions_interval: tuple[float, float] | None
    time_ratio: float | None


def compare(first: Sequence[EpisodeRecord], second: Sequence[EpisodeRecord]) -> Paired | None:
    """Compare two planners on their common episodes; None if there are none."""
    theirs = {record.episode: record for record in second}
    pairs = [(record, theirs[record.episode]) for record in first if record.episode in theirs]
    if not pairs:
        return None
    wins = np.array([(succeeded(a), succeeded(b)) for a, b in pairs], dtype=np.int64)
    one, other = int((wins[:, 0] > wins[:, 1]).sum()), int((wins[:, 0] < wins[:, 1]).sum())
    both = int(wins.all(axis=1).sum())
    saved = np.array(
        [len(a.actions) - len(b.actions) for (a, b), good in zip(pairs, wins, strict=True) if good.all()],
        dtype=np.float64,
    )
    times = np.array([(a.planning_s, b.planning_s) for a, b in pairs])
    times = times[(times > 0).all(axis=1)]
    return Paired(
        episodes=len(pairs),
        both=both,
        first_only=one,
        second_only=other,
        p_value=float(binomtest(one, one + other).pvalue) if one + other else 1.0,
        difference=round(float((wins[:, 0] - wins[:, 1]).mean()), 5),
        interval=paired_interval(both, one, other, len(pairs)),
        actions=round(float(saved.mean()), 3) if len(saved) else None,
        actions_interval=_rounded(bootstrap_interval(saved)) if len(saved) else None,
        time_ratio=round(float(np.median(times[:, 1]) / np.median(times[:, 0])), 2) if len(times) else None,
    )


def _rounded(interval: tuple[float, float]) -> tuple[float, float]:
    return round(interval[0], 5), round(interval[1], 5)

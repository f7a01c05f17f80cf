"""Thresholds with a guaranteed false-alarm rate, by split-conformal calibration on successful steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration

KEPT = 0.2
"""Share of the lowest calibration scores that a checkpoint keeps, which is the highest rate it can guarantee."""

DETECTION_LIMIT = 1000.0
"""Evidence at which a change is reported: without a change, once in at least so many steps on average."""

_STAKE = 2.5
"""Share of the evidence that is staked on a low score, relative to the stake that could lose everything (5)."""


@dataclass(frozen=True)
class Calibration:
    """Scores of successful held-out steps: for each the lowest P(as expected) of its objects.

    Attributes:
        scores: the lowest ones, ascending (see `lowest`).
        steps: how many such steps there were.
    """

    scores: tuple[float, ...]
    steps: int

    def threshold(self, alpha: float, where: str = "") -> float:
        """The threshold that keeps false alarms to a rate `alpha`, see `conformal_threshold`.

        Raises:
            InvalidConfiguration: the rate is out of its range.
            InvalidCheckpoint: these are too few steps to promise so low a rate; `where` says which.
        """
        threshold = conformal_threshold(self.scores, self.steps, alpha)
        if threshold == 0.0:
            gone = sum(score == 0.0 for score in self.scores) if alpha * (self.steps + 1) >= 1 else 0
            raise InvalidCheckpoint(
                f"expected a checkpoint calibrated on at least {ceil((gone + 1) / alpha) - 1} successful steps to "
                f"promise a false-alarm rate of {alpha}, found one calibrated on {self.steps}{where}"
                f"{f', {gone} of them as if an object was gone' if gone else ''}; ask for "
                f"{ceil(1000 * (gone + 1) / (self.steps + 1)) / 10} % or more, or calibrate on your own good runs "
                "(System.calibrated)"
            )
        return threshold


class CalibrationWatch:
    """Notices that good steps no longer look like those of the calibration, so that its promise does not hold.

    A score among the lowest fifth of the calibration scores should be seen in one of five steps. Every step multiplies
    the evidence for more of them by 1 + 2.5 (low - 1/5), and it never falls below 1: an e-detector (Shin, Ramdas and
    Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", 2022), which without a change
    reports one in `DETECTION_LIMIT` steps or fewer on average.

    Args:
        calibration: what the threshold was set on.

    Raises:
        InvalidConfiguration: there are fewer than 20 calibration steps.
    """

    def __init__(self, calibration: Calibration) -> None:
        if calibration.steps < 20:
            raise InvalidConfiguration(
                f"expected a calibration on at least 20 steps, found {calibration.steps}; calibrate on more good runs"
            )
        rank = int(np.floor(KEPT * (calibration.steps + 1)))
        self._low, self.evidence, self.steps = calibration.scores[rank - 1], 1.0, 0

    def update(self, score: float) -> bool:
        """Take in a step that was as expected.

        Args:
            score: the lowest P(as expected) of its objects.

        Returns:
            Whether the steps no longer look like those of the calibration.
        """
        self.steps += 1
        self.evidence = max(self.evidence, 1.0) * (1 + _STAKE * ((score < self._low) - KEPT))
        return self.changed

    @property
    def changed(self) -> bool:
        """Whether the steps no longer look like those of the calibration."""
        return self.evidence >= DETECTION_LIMIT

    def __str__(self) -> str:
        if not self.changed:
            return f"{self.steps} steps look like those of the calibration"
        return (
            f"{self.steps} steps that were as expected do not look like those of the calibration: the promised rate of "
            "false alarms does not hold; check the sensor, and calibrate again on good runs"
        )


def lowest(scores: Sequence[float]) -> tuple[float, ...]:
    """The lowest scores (a share `KEPT`), ascending, rounded to 6 digits; thresholds are among them."""
    ascending = np.sort(np.asarray(scores, dtype=np.float64))
    return tuple(round(float(score), 6) for score in ascending[: int(np.ceil(KEPT * (len(ascending) + 1)))])


def conformal_threshold(scores: Sequence[float], count: int, alpha: float) -> float:
    """Threshold below which at most a share `alpha` of new successful steps falls.

    With n exchangeable calibration scores, the k-th smallest with k = floor(alpha (n + 1)) has that guarantee (Vovk et
    al., Algorithmic Learning in a Random World, 2005; split conformal prediction).

    Args:
        scores: the lowest of the calibration scores, ascending (see `lowest`).
        count: n, how many calibration scores there were in all.
        alpha: guaranteed false-alarm rate per step, above 0 and at most `KEPT`.

    Returns:
        The threshold; 0 (no alarm ever) if there are too few scores for so low a rate.

    Raises:
        InvalidConfiguration: the rate is out of its range.
    """
    if not 0 < alpha <= KEPT:
        raise InvalidConfiguration(f"expected a false-alarm rate alpha above 0 and at most {KEPT}, found {alpha}")
    rank = int(np.floor(alpha * (count + 1)))
    return 0.0 if rank < 1 else float(scores[rank - 1])


def check_rate(scores: Sequence[float], alpha: float) -> None:
    """Refuse a rate of false alarms that some successful steps cannot promise.

    Raises:
        InvalidConfiguration: there are too few steps, or the rate is out of its range.
    """
    conformal_threshold(lowest(scores), len(scores), alpha)
    if len(scores) < (needed := ceil(1 / alpha) - 1):
        raise InvalidConfiguration(
            f"expected at least {needed} successful steps to promise a false-alarm rate of {alpha}, found "
            f"{len(scores)}; give more, or ask for a higher rate"
        )

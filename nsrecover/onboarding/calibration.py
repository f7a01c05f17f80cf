"""Thresholds for a requested rate of false alarms from a few good runs, with what is known and what is not.

With n good steps, split-conformal calibration promises no rate below 1 / (n + 1) (Vovk et al., Algorithmic Learning in
a Random World, 2005). Ten runs have some 50 steps, so a rate of 1 % lies beyond them. Then the tail of the scores is
continued: the excesses of -ln P over a high quantile follow a generalised Pareto distribution (Pickands, "Statistical
inference using extreme order statistics", 1975; probability-weighted moments of Hosking and Wallis, 1987). The upper
end of its bootstrap over runs sets the threshold, so that few runs make the monitor cautious, not noisy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.conformal import conformal_threshold, lowest
from nsrecover.onboarding.advice import Advice, advice_from
from nsrecover.onboarding.scoring import ScoredStep
from nsrecover.util.english import amount

RUNS = 10
"""Fewest successful runs to calibrate on."""

TAIL = 0.2
"""Share of the steps with the lowest scores that the tail is fitted to."""

FEWEST_IN_TAIL = 8
RESAMPLES = 200
CONFIDENCE = 0.95
HEAVIEST = 0.5
"""Largest shape of the tail: heavier ones are noise of few steps."""

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """A share of some steps, with its 95 % interval (Clopper and Pearson, 1934).

    Attributes:
        hits: steps that count.
        steps: all of them.
    """

    hits: int
    steps: int

    @property
    def value(self) -> float:
        """The share."""
        return self.hits / self.steps if self.steps else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Its 95 % interval; everything without steps."""
        if not self.steps:
            return 0.0, 1.0
        found = binomtest(self.hits, self.steps).proportion_ci(CONFIDENCE, "exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.value:.1%} [{low:.1%}, {high:.1%}] ({self.hits} of {self.steps})"


@dataclass(frozen=True)
class CalibrationResult:
    """A threshold, and what is known about it.

    Attributes:
        alpha: requested rate of false alarms per good step.
        threshold: P(as expected) below which an object deviates.
        neutral: the threshold of the tolerance alone; the calibrated one is never above it.
        promised: whether the rate is promised (split-conformal), or estimated from the tail.
        needed_steps: good steps needed for the promise.
        spread: 5th and 95th percentile of the threshold over resampled runs, before it is limited by `neutral`.
        false_alarms: alarms of good steps when the threshold is set on the other runs only.
        cannot_tell: good steps that the monitor could not judge by one observation.
        detection: displacement, mm -> share of displaced copies that are detected.
        runs: their number.
        steps: all good steps.
        tested: alarms on other good runs, if there are any.
        tested_detection: as `detection`, on copies of these.
        advice: what to improve, the most important first.
    """

    alpha: float
    threshold: float
    neutral: float
    promised: bool
    needed_steps: int
    spread: tuple[float, float]
    false_alarms: Share
    cannot_tell: Share
    detection: dict[float, Share]
    runs: int
    steps: tuple[ScoredStep, ...]
    advice: tuple[Advice, ...]
    tested: Share | None = None
    tested_detection: dict[float, Share] = field(default_factory=dict)

    @property
    def limited_by_tolerance(self) -> bool:
        """Whether the tolerance, not the false alarms, decides."""
        return self.threshold >= self.neutral


def calibration_of(steps: Sequence[ScoredStep], alpha: float, neutral: float, tolerance_m: float) -> CalibrationResult:
    """The threshold for a rate of false alarms, from steps that went well.

    Args:
        steps: of at least `RUNS` runs.
        alpha: requested rate per step, above 0 and at most 0.2.
        neutral: threshold of the system without calibration.
        tolerance_m: displacement that it stands for, metres.

    Raises:
        InvalidConfiguration: there are too few runs, objects were gone in too many steps, or the rate is out of its
            range.
    """
    runs = sorted({step.run for step in steps})
    if len(runs) < RUNS:
        raise InvalidConfiguration(
            f"expected at least {RUNS} successful runs, found {len(runs)}; record more with `nsrecover record`, each "
            "with another arrangement of the objects"
        )
    if not 0 < alpha <= TAIL:
        raise InvalidConfiguration(f"expected a false-alarm rate alpha above 0 and at most {TAIL}, found {alpha}")
    by_run = [np.array([step.score for step in steps if step.run == run]) for run in runs]
    threshold = min(neutral, _threshold(by_run, alpha))
    if threshold <= 0.0:
        bad = [step for step in steps if step.score == 0.0]
        named = ", ".join(f"{step.name} step {step.step} ({step.worst})" for step in bad[:3])
        rate = (len(bad) + 1) / len(steps)
        raise InvalidConfiguration(
            f"expected runs that went well, found {amount(len(bad), 'step')} in which an object was gone from its "
            f"place or lay on another side: {named}; leave these runs out, or ask for a rate above {rate:.2g}"
        )
    rng = np.random.default_rng(0)
    resampled = [_point_threshold(_drawn(by_run, rng), alpha) for _ in range(RESAMPLES)]
    alarms = 0
    for left_out, own in enumerate(by_run):
        others = [scores for number, scores in enumerate(by_run) if number != left_out]
        alarms += int((own < min(neutral, _threshold(others, alpha))).sum())
    return CalibrationResult(
        alpha=alpha,
        threshold=threshold,
        neutral=neutral,
        promised=_rank(len(steps), alpha) >= 1,
        needed_steps=math.ceil(1 / alpha) - 1,
        spread=(float(np.quantile(resampled, 0.05)), float(np.quantile(resampled, 0.95))),
        false_alarms=Share(alarms, len(steps)),
        cannot_tell=Share(sum(step.verdict is Verdict.CANNOT_TELL for step in steps), len(steps)),
        detection=detection_of(steps, threshold),
        runs=len(runs),
        steps=tuple(steps),
        advice=advice_from(steps, threshold, neutral, tolerance_m, math.ceil(1 / alpha) - 1),
    )


def detection_of(steps: Sequence[ScoredStep], threshold: float) -> dict[float, Share]:
    """Displacement, mm -> share of the displaced copies that a threshold detects."""
    found = {}
    for distance in sorted({distance for step in steps for distance in step.displaced}):
        tried = [step.displaced[distance] for step in steps if distance in step.displaced]
        found[distance] = Share(sum(p < threshold for p in tried), len(tried))
    return found


def tested_on(result: CalibrationResult, fresh: Sequence[ScoredStep]) -> CalibrationResult:
    """The result with what happens on good steps of other runs."""
    alarms = Share(sum(step.score < result.threshold for step in fresh), len(fresh))
    return replace(result, tested=alarms, tested_detection=detection_of(fresh, result.threshold))


def _rank(count: int, alpha: float) -> int:
    return int(np.floor(alpha * (count + 1)))


def _drawn(by_run: Sequence[Scores], rng: np.random.Generator) -> list[Scores]:
    return [by_run[i] for i in rng.integers(len(by_run), size=len(by_run))]


def _threshold(by_run: Sequence[Scores], alpha: float) -> float:
    """The threshold for a rate: promised if there are enough steps, else the cautious end of the continued tail."""
    scores = np.concatenate(by_run)
    if _rank(len(scores), alpha) >= 1:
        return conformal_threshold(lowest(scores.tolist()), len(scores), alpha)
    rng = np.random.default_rng(0)
    found = [_point_threshold(_drawn(by_run, rng), alpha) for _ in range(RESAMPLES)]
    return min(float(np.quantile(found, 0.05)), _point_threshold(by_run, alpha))


def _point_threshold(by_run: Sequence[Scores], alpha: float) -> float:
    scores = np.concatenate(by_run)
    if _rank(len(scores), alpha) >= 1:
        return float(np.sort(scores)[_rank(len(scores), alpha) - 1])
    return tail_quantile(scores, alpha)


def tail_quantile(scores: Scores, alpha: float) -> float:
    """P(as expected) below which a share `alpha` of good steps is estimated to fall, beyond the observed ones.

    Args:
        scores: n scores of good steps, with alpha < 1 / (n + 1).
        alpha: the share.
    """
    if (scores <= 0).any():
        return 0.0
    losses = np.sort(-np.log(scores))[::-1]
    count = min(max(math.ceil(TAIL * len(losses)), FEWEST_IN_TAIL), len(losses) - 1)
    start, excess = losses[count], np.sort(losses[:count] - losses[count])
    mean = float(excess.mean())
    if mean <= 0.0:
        return float(np.exp(-losses[0]))
    # Hosking and Wallis: mean = scale / (1 - shape), first weighted moment = scale / (2 (2 - shape))
    weights = 1.0 - (np.arange(1, count + 1) - 0.35) / count
    weighted = float((weights * excess).mean())
    shape = float(np.clip(2.0 - mean / max(mean - 2.0 * weighted, 1e-12), 0.0, HEAVIEST))
    scale = mean * (1.0 - shape)
    ratio = count / (len(losses) * alpha)
    beyond = scale * math.log(ratio) if shape < 1e-6 else scale / shape * (ratio**shape - 1.0)
    return float(np.exp(-max(start + beyond, losses[0])))

"""`python -m eval.alarms`: single-look false alarms at the promised rates, for each sensor of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import betabinom

from eval.common.statistics import share
from eval.common.tables import document, markdown_table, percent
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.bundle import Bundle
from nsrecover.models.conformal import Calibration
from nsrecover.training.calibrate import NEUTRAL_THRESHOLD, scores_by_sensor
from nsrecover.training.demonstrations import load_demonstrations, recordings


@dataclass
class AlarmsConfig(Settings):
    """Measure single-look false alarms on fresh good steps, at the rates that a checkpoint promises.

      python -m sim.collect seed=7101 transitions=1150 out=data/fresh && python -m sim.sense demos=data/fresh
      python -m eval.alarms                                   minutes on 2 cores, after the two above

    Attributes:
        checkpoint: folder, or name of a shipped one.
        demos: folder of fresh good episodes, each seen through a sensor (`python -m sim.sense`).
        alphas: promised rates.
        cache: folder for perceived episodes.
    """

    checkpoint: str | None = None
    demos: str = "data/demos_sensed"
    alphas: list[float] = field(default_factory=lambda: [0.01, 0.05, 0.1])
    cache: str = "data/cache"


def measure(config: AlarmsConfig, _: Run) -> dict[str, Any]:
    """False alarms by sensor and rate."""
    bundle = Bundle.load(config.checkpoint)
    demonstrations = load_demonstrations(recordings(config.demos), bundle.crop_size, config.cache)
    scores = scores_by_sensor(demonstrations, bundle)
    return {
        name: {
            "steps": len(found),
            "neutral": share(int((np.array(found) < NEUTRAL_THRESHOLD).sum()), len(found)),
            "default": share(int((np.array(found) < bundle.threshold).sum()), len(found)),
            "rates": {f"{alpha:g}": _rate(bundle, name, alpha, np.array(found)) for alpha in config.alphas},
            "scores": np.sort(found)[: len(found) // 5].round(6).tolist(),
        }
        for name, found in sorted(scores.items())
    }


def _rate(bundle: Bundle, sensor: str, alpha: float, scores: Any) -> dict[str, Any]:
    """Alarms at one rate, and the interval in which they are expected if the promise holds."""
    try:
        threshold = bundle.threshold_for(alpha, sensor)
    except InvalidCheckpoint as refusal:
        return {"refused": str(refusal)}
    alarms = int((scores < threshold).sum())
    low, high = expected_alarms(bundle.calibration_for(sensor), alpha, len(scores))
    return {"threshold": threshold, **share(alarms, len(scores)), "expected": [low, high], "alarms": alarms,
            "holds": low <= alarms <= high}  # fmt: skip


def expected_alarms(calibration: Calibration, alpha: float, steps: int) -> tuple[int, int]:
    """Exact 95 % interval of the alarms in fresh steps, given how many steps set the threshold.

    With the k-th lowest of n scores as the threshold, alarms in m steps are beta-binomial (m, k, n + 1 - k).
    """
    rank = int(np.floor(alpha * (calibration.steps + 1)))
    law = betabinom(steps, rank, calibration.steps + 1 - rank)
    return int(law.ppf(0.025)), int(law.ppf(0.975))


def table(metrics: Mapping[str, Any]) -> str:
    """One row for each sensor and rate."""
    rows = []
    for name, found in metrics.items():
        neutral = percent(found["neutral"]["value"], (found["neutral"]["low"], found["neutral"]["high"]), 1)
        rows.append([name, "threshold 0.5", neutral, found["steps"], "", ""])
        for alpha, rate in found["rates"].items():
            if "refused" in rate:
                rows.append([name, f"{100 * float(alpha):g} %", "not promised", found["steps"], "", ""])
                continue
            expected = "{} to {}".format(*rate["expected"])
            share_ = percent(rate["value"], (rate["low"], rate["high"]), 1)
            row = [name, f"{100 * float(alpha):g} %", share_, found["steps"], f"{rate['alarms']}, expected {expected}"]
            rows.append([*row, "yes" if rate["holds"] else "no"])
    return document(
        "Single-look false alarms",
        markdown_table(["sensor", "promised", "measured", "steps", "alarms", "within the exact interval"], rows),
    )


MEASUREMENT = Measurement(AlarmsConfig, measure, table, least={"alphas": 1e-4})


if __name__ == "__main__":
    run(MEASUREMENT)

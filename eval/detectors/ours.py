"""The library's comparison as a detector: the least probable object, and the next action's preconditions."""

from __future__ import annotations

from dataclasses import dataclass

from eval.common.systems import system_of
from eval.detectors.base import Moment, Scores, both
from eval.detectors.reference import References


@dataclass(frozen=True)
class Ours:
    """`nsrecover.monitoring.boxes.comparison.Comparison` alarms if any object deviates.

    Attributes:
        checkpoint: folder; the shipped one if None.
    """

    checkpoint: str | None = None

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Calibrated threshold of the checkpoint."""
        return (system_of(self.checkpoint).bundle.threshold,)

    def scores(self, moment: Moment, references: References) -> Scores:
        """Lowest P(as expected) of all objects; 0 before an action with unmet preconditions."""
        comparison, step = system_of(self.checkpoint).comparison, moment.step
        lowest = float(comparison.after(moment.seen, moment.trace, step).probabilities.min())
        scores = both(moment, lowest)
        if scores.before is None:
            return scores
        before = comparison.before(moment.seen, moment.trace, step + 1)
        return Scores(lowest, 0.0 if before.unmet else float(before.probabilities.min()))

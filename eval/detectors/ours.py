"""The library's comparison as a detector: the least probable object."""

from __future__ import annotations

from dataclasses import dataclass

from eval.common.systems import system_of
from eval.detectors.base import Moment
from eval.detectors.reference import References
from nsrecover.monitoring.boxes.comparison import Circumstances


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

    def score(self, moment: Moment, references: References) -> float:
        """Lowest P(as expected) of all objects that were there at the start."""
        comparison, count = system_of(self.checkpoint).comparison, len(moment.expected)
        known = Circumstances(newcomers=moment.seen.names[count:])
        return float(comparison.after(moment.seen, moment.trace, moment.step, known).probabilities[:count].min())

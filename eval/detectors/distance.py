"""Control detector: distance of an object from its expected place, the criterion of the error labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval.detectors.base import Moment
from eval.detectors.reference import References

GONE_M = 10.0
"""Distance of a missing object."""


@dataclass(frozen=True)
class Distance:
    """Alarms if an object is farther from its imagined place than a tolerance; uses our perception and imagination.

    Attributes:
        tolerance_m: 2 cm is the tolerance of the ground truth and of our discriminator's labels.
    """

    tolerance_m: float = 0.02

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Negative tolerance."""
        return (-self.tolerance_m,)

    def score(self, moment: Moment, references: References) -> float:
        """Negative distance of the farthest object, metres."""
        count = len(moment.expected)
        away = np.linalg.norm(moment.seen.boxes[:count, :3] - moment.expected.boxes[:, :3], axis=1)
        away[moment.seen.missing[:count]] = GONE_M
        away[moment.expected.missing] = 0.0
        return 0.0 - float(away.max(initial=0.0))

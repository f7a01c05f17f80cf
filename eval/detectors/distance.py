"""The control: how far an object is from where it was expected, the very criterion that errors are labelled by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eval.detectors.base import Moment, Scores, both
from eval.detectors.reference import References

GONE_M = 10.0
"""How far away an object counts that is not there any more."""


@dataclass(frozen=True)
class Distance:
    """Alarms when any object is farther from its imagined place than so much; it shares our perception and imagination.

    Attributes:
        tolerance_m: 2 cm is what makes an object out of place in the ground truth, and what our discriminator learned.
    """

    tolerance_m: float = 0.02

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The tolerance, as a score."""
        return (-self.tolerance_m,)

    def scores(self, moment: Moment, references: References) -> Scores:
        """The distance of the farthest object in metres, below zero."""
        count = len(moment.expected)
        away = np.linalg.norm(moment.seen.boxes[:count, :3] - moment.expected.boxes[:, :3], axis=1)
        away[moment.seen.missing[:count]] = GONE_M
        away[moment.expected.missing] = 0.0
        return both(moment, 0.0 - float(away.max(initial=0.0)))

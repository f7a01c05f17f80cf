"""Imprecision of a robot cell: noisy pose estimates and grips of varying force; physics decides what follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Imprecision:
    """How imprecisely a robot cell measures and grips. Both are drawn again for every action.

    Attributes:
        place_m: standard deviation of the estimated place of an object on the table, along x and y.
        place_per_m: by how much it grows with the height of the object: camera and arm are calibrated at the table.
        yaw_rad: standard deviation of the estimated rotation about the vertical.
        force_n: median force of each finger, newtons. An object weighs 0.2 to 1.2 newtons; three times the force holds
            it at rest, but not in every motion.
        force_spread: standard deviation of the logarithm of the force.
    """

    place_m: float
    place_per_m: float
    yaw_rad: float
    force_n: float
    force_spread: float

    def grip_n(self, rng: np.random.Generator) -> float:
        """Force of the fingers in an action, newtons."""
        return float(self.force_n * np.exp(self.force_spread * rng.normal()))

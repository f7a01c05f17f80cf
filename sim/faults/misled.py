"""The arm's controller is wrong about where things are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsrecover.structs import Action
from sim.faults.base import Fault
from sim.poses import PoseEstimates


@dataclass(frozen=True)
class Misled(Fault):
    """For one action, the pose estimates of some objects are off; the arm moves as if they were right.

    With `height_share` below 1 a tower is believed to be lower than it is, and the arm sweeps into it.

    Attributes:
        names: the objects the estimates are wrong about.
        offset_m: how far they are believed to be from where they are.
        height_share: the height they are believed to be at, as a share of the true one.
    """

    names: tuple[str, ...]
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    height_share: float = 1.0

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift what the controller believes."""
        for name in self.names:
            if name in estimates:
                height = float(estimates.positions[estimates.index(name), 2])
                lower = np.array([0.0, 0.0, height * (self.height_share - 1.0)])
                estimates = estimates.shifted(name, np.asarray(self.offset_m) + lower)
        return estimates

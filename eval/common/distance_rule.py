"""The 2 cm rule as a model: an object is as expected if its centre is near its imagined place."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.models.bundle import Bundle
from sim.tabletop.truth import TOLERANCE_M


class DistanceRule(Bundle):
    """A checkpoint whose discriminator is replaced by the distance of two centres; everything else is as learned.

    The same rule as `eval.detectors.distance`, in whole episodes. On crowded tables room counts as it does for the
    checkpoint (`RecoveryModels.room_m`), and as it does in ground truth.
    """

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        """The rule with the other learned parts of a checkpoint."""
        rule = cls(bundle.config)
        rule.load_state_dict(bundle.state_dict())
        return rule

    def same(
        self,
        visual_a: npt.ArrayLike,
        boxes_a: npt.ArrayLike,
        visual_b: npt.ArrayLike,
        boxes_b: npt.ArrayLike,
        tolerance_m: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """1 for pairs (M, 6) whose centres are at most 2 cm, or a tolerance of their own (M,), apart, else 0: (M,)."""
        offset = np.asarray(boxes_a, dtype=np.float64)[:, :3] - np.asarray(boxes_b, dtype=np.float64)[:, :3]
        return np.asarray(
            np.linalg.norm(offset, axis=1) <= (TOLERANCE_M if tolerance_m is None else tolerance_m), dtype=np.float32
        )

"""Learned parts replaced by hand-written rules; the other parts stay as they are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.models.bundle import Bundle

PARTS = ("transition", "discriminator")
"""Learned parts that have a rule: T and K."""


class Ruled(Bundle):
    """A checkpoint in which rules replace some learned parts.

    - transition: an action leads where its operator says (`SpatialOperator.place`).
    - discriminator: an object is in its place if `same_place` finds it there: its centre is at most 2 cm away, its side
      is the same, and it takes no more room where that counts.
    """

    ruled: frozenset[str]

    @classmethod
    def of(cls, bundle: Bundle, parts: Collection[str]) -> Bundle:
        """A checkpoint with rules in place of some of its learned parts, a selection of `PARTS`."""
        other = cls(bundle.config)
        other.load_state_dict(bundle.state_dict())
        other.ruled = frozenset(parts)
        if "transition" in other.ruled:
            other.config = replace(other.config, operators=())
        return other

    def same(
        self,
        visual_a: npt.ArrayLike,
        boxes_a: npt.ArrayLike,
        visual_b: npt.ArrayLike,
        boxes_b: npt.ArrayLike,
        tolerance_m: npt.ArrayLike | None = None,
    ) -> FloatArray:
        """P(in the same place) for M pairs: (M,); 1 without the discriminator, so that the rules around it decide."""
        if "discriminator" not in self.ruled:
            return super().same(visual_a, boxes_a, visual_b, boxes_b, tolerance_m)
        return np.ones(len(np.asarray(boxes_a)), dtype=np.float32)


def check_parts(parts: Collection[str]) -> None:
    """Refuse names of parts that have no rule.

    Raises:
        InvalidConfiguration: one is none of `PARTS`.
    """
    for part in parts:
        if part not in PARTS:
            raise InvalidConfiguration(
                f"expected planner.rules among {', '.join(PARTS)}, found {part!r}.{did_you_mean(str(part), PARTS)}"
            )

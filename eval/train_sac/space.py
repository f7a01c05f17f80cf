"""Observations and actions of the policy as vectors of fixed length, in training and in planning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.geometry import as_box, footprint_overlap, top
from sim.tabletop.scenes import TABLE
from sim.tabletop.truth import TOLERANCE_M

Vector = npt.NDArray[np.float32]

_MIDDLE = np.array([sum(TABLE.x_m) / 2, sum(TABLE.y_m) / 2, 0.1, 0.045, 0.045, 0.045], dtype=np.float32)
_SCALE = np.array([np.ptp(TABLE.x_m) / 2, np.ptp(TABLE.y_m) / 2, 0.1, 0.02, 0.02, 0.02], dtype=np.float32)
GONE = np.array([TABLE.x_m[0], TABLE.y_m[0], -0.1, 0.045, 0.045, 0.045], dtype=np.float32)
"""Box of a missing object."""
_MOST = 5.0
_TOUCHING = 0.01


@dataclass(frozen=True)
class Slots:
    """Boxes of a limited number of objects; unused slots are zero.

    Attributes:
        count: number of slots.
    """

    count: int = 5

    @property
    def action_size(self) -> int:
        """Size of an action: a preference for each object, and a place on the table."""
        return self.count + 2

    def boxes(self, boxes: npt.ArrayLike) -> Vector:
        """Boxes (N, 6) as a vector (6 * count,), about -1 to 1 on the table."""
        scaled = (np.asarray(boxes, dtype=np.float32).reshape(-1, 6) - _MIDDLE) / _SCALE
        padded = np.zeros((self.count, 6), dtype=np.float32)
        padded[: len(scaled)] = np.clip(scaled, -_MOST, _MOST)
        return padded.ravel()

    def observation(self, boxes: npt.ArrayLike) -> Vector:
        """The boxes and the used slots: (7 * count,)."""
        used = np.zeros(self.count, dtype=np.float32)
        used[: np.asarray(boxes).reshape(-1, 6).shape[0]] = 1.0
        return np.concatenate([self.boxes(boxes), used])

    def reached(self, achieved: npt.ArrayLike, desired: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether every object is within 2 cm of its place: (...,) for vectors (..., 6 * count)."""
        apart = np.subtract(achieved, desired)
        off = apart.reshape(*apart.shape[:-1], self.count, 6)[..., :3] * _SCALE[:3]
        return np.asarray((np.linalg.norm(off, axis=-1) <= TOLERANCE_M).all(axis=-1))

    def action(
        self, names: tuple[str, ...], boxes: npt.ArrayLike, chosen: npt.ArrayLike, sides: npt.ArrayLike | None = None
    ) -> Action:
        """Return the action of a vector: the preferred object goes to the place, on top of objects there.

        Args:
            names: N objects.
            boxes: (N, 6) their known places.
            chosen: (count + 2,) in -1..1.
            sides: (N, 3) their sizes at the target; unchanged if None.
        """
        every, vector = np.asarray(boxes, dtype=np.float32), np.asarray(chosen, dtype=np.float32)
        row = int(np.argmax(vector[: len(names)]))
        box = every[row].copy()
        if sides is not None:
            box[3:] = np.asarray(sides)[row]
        box[:2] = _MIDDLE[:2] + vector[self.count :] * _SCALE[:2]
        others = np.delete(every, row, axis=0)
        under = others[footprint_overlap(box, others) > _TOUCHING]
        box[2] = float(top(under).max(initial=0.0)) + box[5] / 2
        return Action("restore", (names[row],), as_box(box))

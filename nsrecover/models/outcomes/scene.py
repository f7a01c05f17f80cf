"""Scenes in which contact decides the outcome, and the actions on them, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FINGER_M = 0.011
"""Radius of the closed fingertips, as seen from above."""
APPROACH_M = 0.012
"""Gap between the fingertips and the object when a push begins."""
OPERATORS = ("push", "roll", "topple", "drop_into", "push_boxes")
"""Operators with such outcomes; "push_boxes" is a push, or a roll, where only axis-aligned boxes are seen. The order is
part of a checkpoint."""
DRAWN = OPERATORS[:4]
"""Those of dataset XI."""


class Shape(IntEnum):
    """What touches; it decides whether an object slides, rolls or falls over."""

    BOX = 0
    STANDING = 1
    """A cylinder on its end."""
    LYING = 2
    """A cylinder on its side; its axis is its own x axis."""
    BALL = 3
    BIN = 4
    """An open tray; it stays where it is."""


@dataclass(frozen=True, eq=False)
class ContactScene:
    """N objects before an action.

    Attributes:
        shapes: (N,) values of `Shape`.
        centres: (N, 3) metres. The object of a drop is at the point where it is released.
        sizes: (N, 3) sides in the object's own frame, metres.
        yaws: (N,) radians.
    """

    shapes: npt.NDArray[np.int64]
    centres: Array
    sizes: Array
    yaws: Array

    def __len__(self) -> int:
        return len(self.shapes)

    def boxes_only(self) -> ContactScene:
        """The same scene as a camera that only gives axis-aligned boxes shows it: no shapes and no yaws."""
        turned = np.abs(np.cos(self.yaws)), np.abs(np.sin(self.yaws))
        x, y = self.sizes[:, 0], self.sizes[:, 1]
        round_ = np.isin(self.shapes, (Shape.STANDING, Shape.BALL))
        sides = np.stack(
            [np.where(round_, x, turned[0] * x + turned[1] * y), np.where(round_, y, turned[1] * x + turned[0] * y)]
        )
        shapes = np.where(self.shapes == Shape.BIN, Shape.BIN, Shape.BOX).astype(np.int64)
        return replace(self, shapes=shapes, sizes=np.column_stack([*sides, self.sizes[:, 2]]), yaws=0.0 * self.yaws)


@dataclass(frozen=True, eq=False)
class ContactAction:
    """A push, or a drop.

    Attributes:
        operator: one of `OPERATORS`.
        target: index of the object that is pushed or dropped.
        start: (2,) where the fingertips begin, or where the object is released, metres.
        direction: (2,) unit vector of the push; (1, 0) for a drop.
        distance: by which the object is to be pushed, metres; the height of a fall for a drop.
    """

    operator: str
    target: int
    start: Array
    direction: Array
    distance: float

    @property
    def axes(self) -> Array:
        """(2, 2) rotation from the table's axes to those of the action: along the push, and to its left."""
        (x, y) = self.direction
        return np.array([[x, y], [-y, x]])

    def to_action(self, moved: npt.ArrayLike) -> Array:
        """Displacements (..., 3) in the axes of the action."""
        moved = np.asarray(moved, dtype=np.float64)
        return np.concatenate([moved[..., :2] @ self.axes.T, moved[..., 2:]], axis=-1)

    def to_table(self, moved: npt.ArrayLike) -> Array:
        """The inverse of `to_action`."""
        moved = np.asarray(moved, dtype=np.float64)
        return np.concatenate([moved[..., :2] @ self.axes, moved[..., 2:]], axis=-1)


def pushed_boxes(boxes: npt.ArrayLike, moved: int, target: npt.ArrayLike) -> tuple[ContactScene, ContactAction]:
    """A push in a scene of axis-aligned boxes, of which nothing else is known.

    Args:
        boxes: (N, 6) metres.
        moved: index of the pushed object.
        target: (6,) or (3,) where its centre is to be pushed.
    """
    every, goal = np.asarray(boxes, dtype=np.float64), np.asarray(target, dtype=np.float64)
    count, way = len(every), goal[:2] - every[moved, :2]
    distance = float(np.linalg.norm(way))
    direction = way / distance if distance > 1e-6 else np.array([1.0, 0.0])
    behind = float((np.abs(direction) * every[moved, 3:5]).sum()) / 2
    start = every[moved, :2] - direction * (behind + FINGER_M + APPROACH_M)
    scene = ContactScene(np.zeros(count, np.int64), every[:, :3], every[:, 3:], np.zeros(count))
    return scene, ContactAction("push_boxes", moved, start, direction, distance)

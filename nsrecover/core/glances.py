"""What is known of a scene while an action runs: the robot's own state, and what one frame shows of the objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidObservation

Numbers = npt.NDArray[np.floating[Any]]
"""Numbers of any precision."""


@dataclass(frozen=True)
class RobotState:
    """What a robot knows of itself while it moves.

    Attributes:
        opening_m: distance between its fingers.
        tool_m: (3,) the point between the finger tips, in the robot's frame, metres.
        gripping: whether the fingers are commanded to hold something.

    Raises:
        InvalidObservation: a number is missing or not finite.
    """

    opening_m: float
    tool_m: tuple[float, float, float]
    gripping: bool

    def __post_init__(self) -> None:
        numbers = np.asarray([self.opening_m, *self.tool_m], dtype=np.float64)
        if numbers.shape != (4,) or not np.isfinite(numbers).all():
            raise InvalidObservation(
                "expected the opening of the gripper and the x, y, z of its tool in metres, found "
                f"{self.opening_m!r} and {self.tool_m!r}"
            )


PHASES = ("not yet taken", "held", "let go")
"""Phases of a pick-and-place, as the command to the gripper tells them."""


@dataclass(frozen=True, eq=False)
class Glance:
    """What one frame shows, as far as it matters while an action runs.

    Attributes:
        time_s: since the action began.
        phase: one of `PHASES`.
        slack_m: how much farther apart the fingers are than when they had closed on the object; 0 if it is not held.
        beyond_m: how far the visible part of the moved object lies beyond the place where it should be: where it was,
            in the gripper, or where the gripper let it go; NaN: not seen.
        empty: share of the surface of what it fills there, however it is turned, through which a camera sees.
        others_m: (N,) how far the visible part of each other object lies beyond the places where it was and belongs;
            NaN: not seen.
        others_empty: (N,) how much more of its surface there a camera sees through than in the first frame.
    """

    time_s: float
    phase: str
    slack_m: float
    beyond_m: float
    empty: float
    others_m: Numbers
    others_empty: Numbers

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Glance:
        """Read what `to_dict` returns.

        Raises:
            TypeError: a value is missing or unknown.
        """
        values: dict[str, Any] = {
            name: np.asarray(value, float) if isinstance(value, list) else value for name, value in data.items()
        }
        return cls(**values)

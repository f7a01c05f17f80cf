"""What is known of a scene while an action runs: the robot's own state, and what one frame shows of the objects."""

from __future__ import annotations

import math
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

    Raises:
        InvalidObservation: a number is missing or not finite.
    """

    opening_m: float
    tool_m: tuple[float, float, float]

    def __post_init__(self) -> None:
        numbers = np.asarray([self.opening_m, *self.tool_m], dtype=np.float64)
        if numbers.shape != (4,) or not np.isfinite(numbers).all():
            raise InvalidObservation(
                "expected the opening of the gripper and the x, y, z of its tool in metres, found "
                f"{self.opening_m!r} and {self.tool_m!r}"
            )


PLACES = ("where it was", "in the gripper", "where it belongs")
"""Where the moved object of a pick-and-place can be while the action runs."""


@dataclass(frozen=True, eq=False)
class Glance:
    """What one frame shows, as far as it matters while an action runs.

    Attributes:
        time_s: since the action began.
        opening_m: distance between the fingers.
        to_start_m: (2,) from the moved object's first place to the tool: horizontal distance, and how much higher.
        to_goal_m: (2,) the same from the place where the object belongs.
        width_m: the side of the object that is nearest to the opening.
        beyond_m: (3,) how far the visible part of the moved object lies beyond each of its `PLACES`; NaN: not seen.
        empty: (3,) share of the object's surface at each of its places through which a camera sees.
        others_m: (N,) how much farther than in the first frame the visible part of each other object lies beyond the
            places where it was and belongs; NaN: not seen.
        others_empty: (N,) the lesser share of its surface there through which a camera sees.
    """

    time_s: float
    opening_m: float
    to_start_m: Numbers
    to_goal_m: Numbers
    width_m: float
    beyond_m: Numbers
    empty: Numbers
    others_m: Numbers
    others_empty: Numbers

    @property
    def features(self) -> Numbers:
        """What tells how far the action is, (6,): from the robot's state alone."""
        (near, up), (far, over) = self.to_start_m, self.to_goal_m
        log = [math.log(0.01 + max(float(each), 0.0)) for each in (near, far)]
        return np.array([*log, up, over, self.opening_m - self.width_m, self.opening_m], dtype=np.float64)

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

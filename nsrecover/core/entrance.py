"""Checks of what comes from outside: plans, names and boxes, the same for every driver."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidObservation, InvalidPlan

FARTHEST_M, LARGEST_M = 30.0, 3.0
"""Boxes that are farther away, or have a longer side, are probably not in metres."""


def checked_plan(plan: object) -> Plan:
    """The plan itself.

    Raises:
        InvalidPlan: it is something else.
    """
    if isinstance(plan, Plan):
        return plan
    if isinstance(plan, str | Iterable) and not isinstance(plan, dict):
        raise InvalidPlan(
            f"expected a plan, found {type(plan).__name__}; use nsrecover.Plan.parse for texts, Plan(tuple) for actions"
        )
    raise InvalidPlan(f"expected a plan, found {type(plan).__name__}; give the plan first, then the observation")


def check_kind(observation: object, expected: type | tuple[type, ...], what: str) -> None:
    """Refuse observations of another kind than a perceiver takes.

    Raises:
        InvalidObservation: it is not an instance of the expected types, which `what` puts into words.
    """
    if not isinstance(observation, expected):
        raise InvalidObservation(
            f"expected {what}, found {type(observation).__name__}; report observations of the kind that the system "
            "takes, the same every time"
        )


def check_boxes(scene: SceneGraph) -> None:
    """Refuse boxes that are probably not in metres.

    Raises:
        InvalidObservation: a box of an object that is seen is too far away, too large, or has no size.
    """
    rows = np.flatnonzero(scene.seen)
    boxes = scene.boxes[rows]
    wrong = (np.abs(boxes[:, :3]) > FARTHEST_M).any(axis=1) | (boxes[:, 3:] > LARGEST_M).any(axis=1)
    for row in rows[wrong]:
        box = [round(float(value), 4) for value in scene.boxes[row]]
        raise InvalidObservation(
            f"expected the box of {scene.names[row]!r} in metres, found {box}; divide millimetres by 1000"
        )
    for row in rows[(boxes[:, 3:] <= 0).any(axis=1)]:
        size = [round(float(value), 4) for value in scene.boxes[row, 3:]]
        raise InvalidObservation(
            f"expected sizes above 0 of {scene.names[row]!r}, found {size}; give None for an object that is not seen"
        )


def check_reserved(names: Iterable[str], reserved: Iterable[str]) -> None:
    """Refuse objects with a name that means something else.

    Raises:
        InvalidObservation: an object has a reserved name.
    """
    for name in sorted(set(names) & set(reserved)):
        raise InvalidObservation(
            f"expected no object called {name!r}, which names the surface under the objects; rename the object"
        )

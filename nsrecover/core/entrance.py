"""Checks of what comes from outside: plans, names and boxes, the same for every driver."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.errors import InvalidAction, InvalidConfiguration, InvalidObservation, InvalidPlan

NEAREST_M, TABLE_M = 8.0, 0.05
"""At first the nearest object is no farther from the robot, and the lowest no farther from the table's top, metres."""

LARGE_M = 1.5
"""What is larger does not stand on a table, metres."""

FLOATING_M = 0.1
"""Later, not all objects are farther above or below the table's top, metres."""

FARTHEST_M, LARGEST_M = 30.0, 3.0
"""Boxes that are farther away, or have a longer side, are probably not in metres."""


def checked_plan(plan: object) -> Plan:
    """The plan itself.

    Raises:
        InvalidPlan: it is something else.
        InvalidAction: one of its actions is none, or has an operator or arguments that are no texts, or a wrong target.
    """
    if isinstance(plan, Plan):
        for action in plan:
            check_action(action)
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


def check_action(action: object) -> None:
    """Refuse what is no action, whether its domain knows it or not.

    Raises:
        InvalidAction: it is something else, or its operator or arguments are no texts, or its target is no box.
    """
    if not isinstance(action, Action):
        raise InvalidAction(f"expected an Action, found {action!r:.80}; use nsrecover.Action.parse for texts")
    given: object = action.arguments
    if not isinstance(given, tuple) or not all(isinstance(name, str) for name in (action.operator, *given)):
        raise InvalidAction(
            f"expected an operator and a tuple of arguments, all names, found {action.operator!r} and "
            f"{action.arguments!r}"
        )
    if action.target is not None:
        _check_target(action, action.target)


def _check_target(action: Action, target: Box) -> None:
    try:
        box = np.asarray(target, dtype=np.float64)
    except (TypeError, ValueError):
        box = np.zeros(0)
    if box.shape != (6,) or not np.isfinite(box).all():
        raise InvalidAction(
            f"expected the target of {action} as six finite numbers, centre and size in metres, found {target!r}"
        )
    if not _in_metres(box[None]).all():
        raise InvalidAction(f"expected the target of {action} in metres, found {target!r}; divide millimetres by 1000")


def check_table(workspace: object, room_m: float | None = None) -> None:
    """Refuse a table that is not given in metres, with its lower corner first.

    Raises:
        InvalidConfiguration: the workspace or the room is something else.
    """
    numbers = number_row(workspace, 4)
    if numbers is None or not (numbers[0] < numbers[2] and numbers[1] < numbers[3]):
        raise InvalidConfiguration(f"expected a workspace (x_min, y_min, x_max, y_max), found {workspace!r}")
    if max(map(abs, numbers)) > FARTHEST_M:
        raise InvalidConfiguration(f"expected a workspace in metres, found {workspace!r}; divide millimetres by 1000")
    if room_m is not None and not room_m >= 0:
        raise InvalidConfiguration(f"expected room_m of at least 0 metres, or None, found {room_m!r}")


def number_row(given: object, count: int) -> list[float] | None:
    """Some finite numbers; None if these are something else."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers.tolist() if numbers.shape == (count,) and np.isfinite(numbers).all() else None


def _in_metres(boxes: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.bool_]:
    """Which boxes (N, 6) are hardly in another unit: (N,)."""
    within = np.concatenate([np.abs(boxes[:, :3]) <= FARTHEST_M, boxes[:, 3:] <= LARGEST_M], axis=1)
    return np.asarray(within.all(axis=1), dtype=np.bool_)


def check_boxes(scene: SceneGraph) -> None:
    """Refuse boxes that are probably not in metres.

    Raises:
        InvalidObservation: a box of an object that is seen is too far away, too large, or has no size.
    """
    rows = np.flatnonzero(scene.seen)
    boxes = scene.boxes[rows]
    for row in rows[~_in_metres(boxes)]:
        box = [round(float(value), 4) for value in scene.boxes[row]]
        raise InvalidObservation(
            f"expected the box of {scene.names[row]!r} in metres, found {box}; divide millimetres by 1000"
        )
    for row in rows[(boxes[:, 3:] <= 0).any(axis=1)]:
        size = [round(float(value), 4) for value in scene.boxes[row, 3:]]
        raise InvalidObservation(
            f"expected sizes above 0 of {scene.names[row]!r}, found {size}; give None for an object that is not seen"
        )


def check_frame(scene: SceneGraph, first: bool = True) -> None:
    """Refuse boxes that are probably in another frame or unit: something stands on the table.

    Args:
        scene: what is seen.
        first: whether it is the first scene, and at rest. Later only several objects that all float above or are all
            below the table are refused: one may be in the gripper, and some may have fallen to the floor.

    Raises:
        InvalidObservation: the lowest of all objects is above or below the table, or all are far away.
    """
    boxes = scene.boxes[scene.seen]
    bottoms = boxes[:, 2] - boxes[:, 5] / 2
    if not first:
        if len(boxes) > 1 and (bottoms.min() > FLOATING_M or bottoms.max() < -FLOATING_M):
            raise InvalidObservation(
                f"expected boxes in the frame of the first ones, with the table's top at z = 0, found all objects "
                f"{bottoms.min():.3g} to {bottoms.max():.3g} m above it; check that the robot is localised"
            )
        return
    if not len(boxes):
        return
    if (near := float(np.linalg.norm(boxes[:, :2], axis=1).min())) > NEAREST_M:
        raise InvalidObservation(
            f"expected boxes in metres in the frame of the robot's base, found all over {near:.3g} away; divide "
            "millimetres by 1000, centimetres by 100 and decimetres by 10, multiply inches by 0.0254, or transform them"
        )
    low = float(bottoms.min())
    if abs(low) > TABLE_M:
        if (largest := float(boxes[:, 3:].max())) > LARGE_M:
            raise InvalidObservation(
                f"expected objects on a table, with sizes in metres, found one of {largest:.3g}; divide millimetres by "
                "1000 and centimetres by 100"
            )
        raise InvalidObservation(
            f"expected the table's top at z = 0, found the lowest object at {low:.3g} m; subtract the height of the "
            "table from z"
        )


def check_reserved(names: Iterable[str], reserved: Iterable[str]) -> None:
    """Refuse objects with a name that means something else.

    Raises:
        InvalidObservation: an object has a reserved name.
    """
    for name in sorted(set(names) & set(reserved)):
        raise InvalidObservation(
            f"expected other names than {name!r}, which names the surface under the objects, found an object of that "
            "name; rename it"
        )

"""A running robot: its plan, recorded runs, and how fast and how exactly it sees."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsrecover.core import Action, Observation, Plan, SceneGraph
from nsrecover.domains.tabletop.operators import STACK, TABLETOP
from nsrecover.errors import InvalidConfiguration, InvalidObservation, InvalidPlan
from nsrecover.perception.cameras.checks import require_plausible
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.boxes_recording import BoxesRecording
from nsrecover.records.recording import Recording
from nsrecover.util.untrusted_json import JsonObject

SIZES_M = (0.002, 1.0)
"""Plausible sides of objects on a table."""

FAR_M = 3.0
"""No object on a table is farther from the robot's base."""


def made_world(factory: Callable[..., Any], number: int) -> Any:
    """A world from a factory, which may take the number of the run as its first argument."""
    try:
        takes = bool(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        takes = False
    return factory(number) if takes else factory()


def plan_for(world: Any, text: str | None) -> Plan:
    """The plan from the command line, or the world's own `plan`.

    Raises:
        InvalidPlan: there is none, it has no action, or its actions go round in a circle.
    """
    given = text if text is not None else getattr(world, "plan", None)
    if given is None:
        raise InvalidPlan(
            "expected a plan, found none; give --plan 'top(red, blue); ...', or the world an attribute `plan`"
        )
    plan = given if isinstance(given, Plan) else Plan.parse(given)
    check_plan(plan)
    return plan


def check_plan(plan: Plan) -> None:
    """Refuse a plan without actions, or one that stacks objects in a circle.

    Raises:
        InvalidPlan: with what to do.
    """
    if not len(plan):
        raise InvalidPlan("expected a plan with actions, found an empty one; give at least one: top(red, blue)")
    below: dict[str, str] = {}
    for action in plan:
        moved = action.arguments[0]
        below.pop(moved, None)
        if action.operator != STACK or len(action.arguments) < 2:
            continue
        below[moved], here, passed = action.arguments[1], action.arguments[1], [moved]
        while here in below:
            passed.append(here)
            here = below[here]
            if here == moved:
                circle = " on ".join([*passed, moved])
                raise InvalidPlan(f"expected a plan that can be built, found a circle: {circle}; leave out {action}")


@dataclass(frozen=True)
class RecordedStep:
    """What is known while a run is recorded.

    Attributes:
        action: the action that was carried out; None at the start.
        seconds: how long it took.
    """

    action: Action | None
    seconds: float


def record_run(
    world: Any, plan: Plan, on_step: Callable[[RecordedStep], None] = lambda step: None
) -> Recording | BoxesRecording:
    """Let a robot carry out a plan, and record what is seen before it and after every action.

    Every observation is checked when it is made; nothing is written if one cannot be used.

    Raises:
        InvalidObservation: an observation cannot be used; the message says which one.
        InvalidAction, UnknownObject: the plan does not fit the first scene.
    """
    seen: list[Any] = [_checked(world.observe(), "before the first action")]
    if isinstance(seen[0], Observation):
        require_plausible(seen[0])
        names = tuple(seen[0].labels.values())
    else:
        names = tuple(seen[0])
        TABLETOP.check(plan, scene_of_boxes(seen[0]))
    _check_names(plan, names)
    on_step(RecordedStep(None, 0.0))
    for action in plan:
        began = time.monotonic()
        world.execute(action)
        seen.append(_checked(world.observe(), f"after {action}", type(seen[0])))
        on_step(RecordedStep(action, time.monotonic() - began))
    if isinstance(seen[0], Observation):
        return Recording(plan, tuple(seen))
    return BoxesRecording(plan, tuple(seen))


def _check_names(plan: Plan, names: tuple[str, ...]) -> None:
    from nsrecover.errors import UnknownObject, did_you_mean

    for action in plan:
        for name in action.arguments:
            if name not in names:
                raise UnknownObject(
                    f"expected objects of the first observation in {action}, found {name!r}.{did_you_mean(name, names)}"
                )


def _checked(seen: Any, when: str, kind: type | None = None) -> Any:
    """An observation as it is recorded: images, or boxes by name."""
    if isinstance(seen, SceneGraph):
        seen = {name: tuple(map(float, seen.boxes[i])) if seen.seen[i] else None for i, name in enumerate(seen.names)}
    try:
        if isinstance(seen, Observation):
            return seen
        if not isinstance(seen, dict):
            raise InvalidObservation(
                f"expected an nsrecover.Observation or boxes by name, found {type(seen).__name__}; return one of these"
            )
        check_boxes(seen)
    except InvalidObservation as problem:
        raise InvalidObservation(f"observation {when}: {problem}") from problem
    return seen


def check_boxes(boxes: JsonObject) -> None:
    """Refuse boxes whose units or frame cannot be right.

    Raises:
        InvalidObservation: with the likely mistake.
    """
    scene = scene_of_boxes(boxes)
    for name, box in zip(np.array(scene.names)[scene.seen], scene.boxes[scene.seen], strict=True):
        sides, far = box[3:], float(np.linalg.norm(box[:2]))
        if sides.max() > SIZES_M[1] or far > FAR_M:
            unit = "millimetres" if sides.max() > 10 or far > 100 else "another unit, or another frame"
            raise InvalidObservation(
                f"expected metres in the robot's frame, found {name!r} at {far:.3g} with sides up to "
                f"{sides.max():.3g}, which look like {unit}; divide by 1000, or transform into the frame of the "
                "robot's base"
            )
        if sides.min() < SIZES_M[0]:
            raise InvalidObservation(
                f"expected the sides of {name!r} in metres, found {sides.round(4).tolist()}; give full side "
                "lengths, not zero or half ones"
            )
        if box[2] + sides[2] / 2 < -0.02:
            raise InvalidObservation(
                f"expected objects on or above the table, found {name!r} {-1000 * box[2]:.0f} mm below it; z points "
                "up, and the table's top is at z = 0"
            )


@dataclass(frozen=True)
class Liveness:
    """How a running robot sees.

    Attributes:
        looks: number of observations.
        seconds: median time of one.
        scatter_mm: object -> largest distance of its centres from their mean, millimetres; boxes only.
        missing: object -> how often it was not seen.
    """

    looks: int
    seconds: float
    scatter_mm: dict[str, float]
    missing: dict[str, int]


def look_repeatedly(world: Any, looks: int) -> tuple[Liveness, Any]:
    """Observe a scene at rest several times.

    Returns:
        What was found, and the last observation.

    Raises:
        InvalidObservation: an observation cannot be used.
        InvalidConfiguration: fewer than two looks are asked for.
    """
    if looks < 2:
        raise InvalidConfiguration(f"expected at least 2 looks, found {looks}")
    seen, seconds = [], []
    for number in range(looks):
        began = time.monotonic()
        seen.append(_checked(world.observe(), f"{number + 1} of {looks}"))
        seconds.append(time.monotonic() - began)
    scatter: dict[str, float] = {}
    missing: dict[str, int] = {}
    if not isinstance(seen[0], Observation):
        for name in dict.fromkeys(name for boxes in seen for name in boxes):
            centres = np.array([boxes[name][:3] for boxes in seen if boxes.get(name) is not None], float)
            missing[name] = looks - len(centres)
            if len(centres):
                scatter[name] = 1000 * float(np.linalg.norm(centres - centres.mean(axis=0), axis=1).max())
    return Liveness(looks, float(np.median(seconds)), scatter, missing), seen[-1]

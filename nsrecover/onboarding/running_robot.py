"""A running robot: its plan, recorded runs, and how fast and how exactly it sees."""

import inspect
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nsrecover.core import FactScene, Observation, Plan, SceneGraph
from nsrecover.core.entrance import check_frame, check_kind
from nsrecover.core.sessions.supervision import Stops
from nsrecover.errors import (
    InvalidConfiguration,
    InvalidObservation,
    InvalidPlan,
    UnknownObject,
    require_known,
)
from nsrecover.perception.cameras.checks import require_plausible
from nsrecover.perception.objects.boxes import scene_of_boxes
from nsrecover.records.recording import Recording
from nsrecover.records.review import system_for_kind
from nsrecover.records.runs import kind_of
from nsrecover.records.scenes_recording import ScenesRecording
from nsrecover.util.untrusted_json import JsonObject

SIZES_M = (0.002, 1.0)
"""Plausible sides of objects on a table."""

FAR_M = 3.0
"""No object on a table is farther from the robot's base."""


def made_world(factory: Callable[..., Any], number: int, needs: Sequence[str] = ("observe", "execute")) -> Any:
    """A world from a factory, which may take the number of the run as its first argument.

    Raises:
        InvalidConfiguration: the factory raises an error, or what it makes is no world.
    """
    try:
        takes = bool(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        takes = False
    name = getattr(factory, "__name__", repr(factory))
    try:
        world = factory(number) if takes else factory()
    except Exception as problem:
        raise InvalidConfiguration(
            f"expected a world from {name}(), found {type(problem).__name__}: {problem}"
        ) from problem
    if missing := [each for each in needs if not callable(getattr(world, each, None))]:
        wanted = " and ".join(f"{each}()" for each in needs)
        raise InvalidConfiguration(
            f"expected a world with {wanted} from {name}(), found {type(world).__name__} without "
            f"{' and '.join(missing)}"
        )
    return world


def plan_for(world: Any, text: str | None) -> Plan:
    """The plan from the command line, or the world's own `plan`.

    Raises:
        InvalidPlan: there is none, or it has no action.
    """
    given = text if text is not None else getattr(world, "plan", None)
    if given is None:
        raise InvalidPlan(
            "expected a plan, found none; give --plan 'top(red, blue); ...', or the world an attribute `plan`"
        )
    return given if isinstance(given, Plan) else Plan.parse(given)


@contextmanager
def closing_if_possible(world: Any) -> Iterator[None]:
    """Close a world at the end, if it has a method for that."""
    try:
        yield
    finally:
        if callable(close := getattr(world, "close", None)):
            close()


@contextmanager
def stopped_by_ctrl_c(agent: Stops) -> Iterator[None]:
    """Context in which Ctrl-C ends a run before its next action; a second one raises `KeyboardInterrupt`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        print("the run ends before the next action; Ctrl-C again ends the program", file=sys.stderr)
        agent.stop()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def record_run(world: Any, plan: Plan, place: str | None = None) -> Recording | ScenesRecording:
    """Let a robot carry out a plan, and record what is seen before it and after every action.

    Every observation is checked when it is made; nothing is written if one cannot be used.

    Args:
        world: the robot.
        plan: what it does.
        place: of the system, see `nsrecover.loading.system_at`; facts need one.

    Raises:
        InvalidObservation: an observation cannot be used; the message says which one.
        InvalidAction, UnknownObject: the plan does not fit the first scene.
        InvalidConfiguration: facts have no system.
    """
    first = _plain(world.observe())
    seen = [first]
    if isinstance(first, Observation):
        require_plausible(first)
        _check_names(plan, tuple(first.labels.values()))
        monitor = None
    else:
        monitor = system_for_kind(kind_of(first), place).monitor(plan, first)
    for action in plan:
        world.execute(action)
        seen.append(_plain(world.observe()))
        with saying(f"after {action}"):
            check_kind(seen[-1], type(first), "observations of one kind")
            if monitor is not None:
                monitor.step(action, seen[-1])
    return Recording(plan, tuple(seen)) if monitor is None else ScenesRecording(plan, tuple(seen))


@contextmanager
def saying(when: str) -> Iterator[None]:
    """Context whose errors say which observation cannot be used."""
    try:
        yield
    except InvalidObservation as problem:
        raise InvalidObservation(f"observation {when}: {problem}") from problem


def _check_names(plan: Plan, names: tuple[str, ...]) -> None:
    for action in plan:
        for name in action.arguments:
            require_known(name, names, f"objects of the first observation in {action}", UnknownObject)


def _plain(seen: Any) -> Any:
    """An observation as it is recorded: images, facts, or boxes by name."""
    if isinstance(seen, SceneGraph):
        return {name: tuple(map(float, seen.boxes[i])) if seen.seen[i] else None for i, name in enumerate(seen.names)}
    if not isinstance(seen, Observation | FactScene | dict):
        check_kind(seen, Iterable, "an nsrecover.Observation, boxes by name, or facts")
        return FactScene(frozenset(seen))
    return seen


def check_boxes(boxes: JsonObject, first: bool = True) -> None:
    """Refuse boxes whose units or frame cannot be right.

    Args:
        boxes: by name.
        first: whether they are the first ones of a run, and at rest.

    Raises:
        InvalidObservation: with the likely mistake.
    """
    scene = scene_of_boxes(boxes)
    for name, box, seen in zip(scene.names, scene.boxes, scene.seen, strict=True):
        if not seen:
            continue
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
    check_frame(scene, first)


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
        seen.append(_plain(world.observe()))
        seconds.append(time.monotonic() - began)
        if isinstance(seen[-1], dict):
            with saying(f"{number + 1} of {looks}"):
                check_boxes(seen[-1])
    scatter: dict[str, float] = {}
    missing: dict[str, int] = {}
    for name in dict.fromkeys(name for boxes in seen if isinstance(boxes, dict) for name in boxes):
        centres = np.array([boxes[name][:3] for boxes in seen if boxes.get(name) is not None], float)
        missing[name] = looks - len(centres)
        if len(centres):
            scatter[name] = 1000 * float(np.linalg.norm(centres - centres.mean(axis=0), axis=1).max())
    return Liveness(looks, float(np.median(seconds)), scatter, missing), seen[-1]

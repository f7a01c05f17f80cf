"""Search for faults that displace an object at a step, by trying them in physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.datasets.replay import step_error
from sim.datasets.spec import StepError
from sim.tabletop.faults import FAULTS, ErrorClass, Fault, Moment
from sim.tabletop.truth import Truth
from sim.tabletop.world import SavedWorld, TabletopWorld

FIRST_TRIES = 40
"""Maximum number of draws for the first fault of a step."""
NEXT_TRIES = 40
"""Maximum number of draws for each further fault."""
REACH_M = (0.30, 0.78)
"""Least and greatest distance from the robot's base of objects that the arm can reach."""
NONE: Mapping[str, float] = {}
"""No kind of fault is more likely than others."""
LOST_FOR_GOOD = frozenset({"removed", "out_of_reach"})
"""Faults that a recovery cannot undo."""
UNMOVED = frozenset({"turned", "wrong_yaw"})
"""Faults that turn an object but do not displace it: errors only where room counts."""
SHAPES_ONLY = frozenset({"toppled"})
"""Faults of `sim.datasets.shapes` only, so that the same number gives the same episode of I to III as before."""


@dataclass(frozen=True)
class Injection:
    """Faults of one step and the resulting error.

    Attributes:
        faults: in the order in which they strike.
        error: the ground truth.
        tried: number of faults that were tried.
    """

    faults: tuple[Fault, ...]
    error: StepError
    tried: int


def inject(
    world: TabletopWorld,
    start: SavedWorld,
    moment: Moment,
    fault_free: Truth,
    count: int,
    rng: np.random.Generator,
    often: Mapping[str, float] = NONE,
    first_kind: str | None = None,
) -> Injection | None:
    """Find several faults for one step, each of which displaces an object.

    Only the first fault may act on the robot; the others act from outside, because the robot executes a single action.
    Each fault is tried in physics after the ones before it. It is kept if an object that it touches is displaced, every
    earlier fault still shows, and the arm can reach all objects.

    Args:
        world: ends in the state with the faults.
        start: state before the action.
        moment: the action.
        fault_free: the scene after the action without faults.
        count: number of faults.
        rng: the source of randomness.
        often: see `draw_fault`.
        first_kind: kind of the first fault; any if None.

    Returns:
        None if fewer faults were found.
    """
    tried = 0
    for _ in range(FIRST_TRIES):
        kind = None if first_kind is None else FAULTS[first_kind]
        first = draw_fault(moment, rng, by_robot=True, often=often) if kind is None else kind.sample(moment, rng)
        if first is None:
            if kind is not None:
                return None
            continue
        tried += 1
        world.restore(start)
        world.faults = (first,)
        world.execute(moment.action)
        world.faults = ()
        error = shown(world, moment, (first,), fault_free)
        if error is None:
            continue
        faults: tuple[Fault, ...] = (first,)
        for _ in range(NEXT_TRIES * (count - 1)):
            if len(faults) == count:
                break
            now = replace(moment, after=world.estimates(), taken=_taken(faults, error, moment))
            further = draw_fault(now, rng, by_robot=False, often=often)
            if further is None:
                continue
            tried += 1
            checkpoint = world.save()
            further.after(world.fault_context, moment.action)
            with_it = shown(world, moment, (*faults, further), fault_free)
            if with_it is None:
                world.restore(checkpoint)
            else:
                faults, error = (*faults, further), with_it
            world.release(checkpoint)
        if len(faults) == count:
            return Injection(faults, error, tried)
    return None


def in_reach(world: TabletopWorld) -> bool:
    """Whether all objects are on the table and the arm can reach them."""
    truth = world.truth()
    distance = np.linalg.norm(truth.positions[:, :2], axis=1)
    return bool(truth.present.all() and (distance > REACH_M[0]).all() and (distance < REACH_M[1]).all())


def shown(world: TabletopWorld, moment: Moment, faults: Sequence[Fault], fault_free: Truth) -> StepError | None:
    """The present error; None if a fault has no effect or an object is out of reach.

    Args:
        world: after the action with the faults.
        moment: the action.
        faults: those that struck.
        fault_free: the scene after the action without faults.
    """
    error = step_error(moment.step, moment.action, faults, world.truth(), fault_free)
    if error is None or not in_reach(world):
        return None
    if not all(fault.touched(moment.action) & error.deviations.keys() for fault in faults):
        return None
    return error


def _taken(faults: Sequence[Fault], error: StepError, moment: Moment) -> frozenset[str]:
    touched = frozenset().union(*(fault.touched(moment.action) for fault in faults))
    return touched | frozenset(error.deviations)


def draw_fault(
    moment: Moment, rng: np.random.Generator, by_robot: bool, often: Mapping[str, float] = NONE
) -> Fault | None:
    """A random fault that a recovery can undo; classes of errors are equally likely, and kinds within a class.

    Args:
        moment: the action at which it strikes.
        rng: the source of randomness.
        by_robot: whether it may act on the robot.
        often: kind of fault -> how likely it is drawn before all others; also those that only turn an object.

    Returns:
        None if the drawn kind of fault does not fit the moment.
    """
    if often:
        drawn = rng.random()
        for kind, share in often.items():
            if drawn < share:
                fits = by_robot or FAULTS[kind].error_class not in _BY_ROBOT
                return FAULTS[kind].sample(moment, rng) if fits else None
            drawn -= share
    classes = sorted(kind for kind in _KINDS if by_robot or kind not in _BY_ROBOT)
    names = _KINDS[classes[int(rng.integers(len(classes)))]]
    return FAULTS[names[int(rng.integers(len(names)))]].sample(moment, rng)


def _by_class() -> Mapping[ErrorClass, list[str]]:
    kinds: dict[ErrorClass, list[str]] = {}
    for name, fault in FAULTS.items():
        if name not in LOST_FOR_GOOD | UNMOVED | SHAPES_ONLY:
            kinds.setdefault(fault.error_class, []).append(name)
    return kinds


_KINDS = _by_class()
BY_ROBOT = ("misled", "slip", "drop", "missed_grasp", "offset_placement", "wrong_support")
"""Kinds of faults that act through the robot; the rarest first."""
_BY_ROBOT = frozenset({ErrorClass.GRASP, ErrorClass.OUTCOME, ErrorClass.MOTION})

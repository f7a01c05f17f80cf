"""Finding faults that really put something out of its place at a step, by trying them in physics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.datasets.replay import step_error
from sim.datasets.spec import StepError
from sim.tabletop.faults import FAULTS, ErrorClass, Fault, Moment
from sim.tabletop.truth import Truth
from sim.tabletop.world import SavedWorld, TabletopWorld

FIRST_TRIES = 12
"""How many faults are tried as the first of a step."""
NEXT_TRIES = 12
"""How many are tried as each further one."""
REACH_M = (0.30, 0.78)
"""What a fault leaves farther from or nearer to the robot's base than this is out of the arm's reach."""
LOST_FOR_GOOD = frozenset({"removed", "out_of_reach"})
"""Faults that no recovery can undo."""
UNMOVED = frozenset({"wrong_yaw"})
"""Faults that turn an object but leave it in its place."""


@dataclass(frozen=True)
class Injection:
    """Faults of one step, and what is wrong because of them.

    Attributes:
        faults: in the order in which they strike.
        error: the ground truth.
        tried: how many faults were tried.
    """

    faults: tuple[Fault, ...]
    error: StepError
    tried: int


def inject(
    world: TabletopWorld, start: SavedWorld, moment: Moment, fault_free: Truth, count: int, rng: np.random.Generator
) -> Injection | None:
    """Let a number of things go wrong at one step, each of which really puts an object out of its place.

    The first fault may concern what the robot does; it does only one thing, so the others come from outside. Each is
    tried in physics on top of the ones before it, and kept if an object that it touches is out of its place then,
    every earlier fault still shows, and all objects are where the arm can reach them.

    Args:
        world: is left in the state with the faults.
        start: the moment before the action.
        moment: the action.
        fault_free: the scene after it if nothing goes wrong.
        count: number of faults.
        rng: the source of randomness.

    Returns:
        None if so many were not found.
    """
    tried = 0
    for _ in range(FIRST_TRIES):
        first = draw_fault(moment, rng, by_robot=True)
        if first is None:
            continue
        tried += 1
        world.restore(start)
        world.faults = (first,)
        world.execute(moment.action)
        world.faults = ()
        error = _shown(world, moment, (first,), fault_free)
        if error is None:
            continue
        faults: tuple[Fault, ...] = (first,)
        for _ in range(NEXT_TRIES * (count - 1)):
            if len(faults) == count:
                break
            now = replace(moment, after=world.estimates(), taken=_taken(faults, error, moment))
            further = draw_fault(now, rng, by_robot=False)
            if further is None:
                continue
            tried += 1
            checkpoint = world.save()
            further.after(world.fault_context, moment.action)
            with_it = _shown(world, moment, (*faults, further), fault_free)
            if with_it is None:
                world.restore(checkpoint)
            else:
                faults, error = (*faults, further), with_it
            world.release(checkpoint)
        if len(faults) == count:
            return Injection(faults, error, tried)
    return None


def in_reach(world: TabletopWorld) -> bool:
    """Whether all objects are still there and where the arm can take them."""
    truth = world.truth()
    distance = np.linalg.norm(truth.positions[:, :2], axis=1)
    return bool(truth.present.all() and (distance > REACH_M[0]).all() and (distance < REACH_M[1]).all())


def _shown(world: TabletopWorld, moment: Moment, faults: Sequence[Fault], fault_free: Truth) -> StepError | None:
    """What is wrong now; None if a fault does not show or something is out of reach."""
    error = step_error(moment.step, moment.action, faults, world.truth(), fault_free)
    if error is None or not in_reach(world):
        return None
    if not all(fault.touched(moment.action) & error.deviations.keys() for fault in faults):
        return None
    return error


def _taken(faults: Sequence[Fault], error: StepError, moment: Moment) -> frozenset[str]:
    touched = frozenset().union(*(fault.touched(moment.action) for fault in faults))
    return touched | frozenset(error.deviations)


def draw_fault(moment: Moment, rng: np.random.Generator, by_robot: bool) -> Fault | None:
    """A random fault that can be undone: every class of errors equally often, and every kind within its class.

    Args:
        moment: when it is to strike.
        rng: the source of randomness.
        by_robot: whether it may concern what the robot does, and not only what others do.

    Returns:
        None if nothing of the kind that was drawn fits.
    """
    classes = sorted(kind for kind in _KINDS if by_robot or kind not in _BY_ROBOT)
    names = _KINDS[classes[int(rng.integers(len(classes)))]]
    return FAULTS[names[int(rng.integers(len(names)))]].sample(moment, rng)


def _by_class() -> Mapping[ErrorClass, list[str]]:
    kinds: dict[ErrorClass, list[str]] = {}
    for name, fault in FAULTS.items():
        if name not in LOST_FOR_GOOD | UNMOVED:
            kinds.setdefault(fault.error_class, []).append(name)
    return kinds


_KINDS = _by_class()
_BY_ROBOT = frozenset({ErrorClass.GRASP, ErrorClass.OUTCOME, ErrorClass.MOTION})

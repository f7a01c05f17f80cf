"""True cause of every deviation, from the simulator alone.

The definitions, in the order in which they are checked. They use the true states before and after the action and along
the fault-free run, and the tolerances of `truth`; of the faults they use only whether an external agent carried an
object.

1. *missing*: the object is no longer on the table.
2. *swapped*: it is in the place of another deviating object, and that one in its place.
3. *not lifted*: the action moves it, and it is still where it was before.
4. *helped*: it is where a later action of the plan puts it.
5. If the action moves it: *dropped* if the fingers lost it before they opened, or it came down by more than half its
   height afterwards; else *misplaced*.
6. Otherwise: *toppled* if it came down by more than half its height and no agent carried it; *blocking* if a later
   action of the plan needs its place, or moves or builds on its support; else *moved*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval.common.error_states import ErrorState
from eval.common.rejoin import put_in_place
from nsrecover.core import Action, Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults import BlockedPlace, Displaced, Fault, HelpingPerson, OutOfReach, Swap, Unstack
from sim.tabletop.phases import SkillPhase
from sim.tabletop.placing import boxes
from sim.tabletop.truth import TOLERANCE_M, Truth
from sim.tabletop.world import TabletopWorld

CARRIED_BY_HAND = (BlockedPlace, Displaced, HelpingPerson, OutOfReach, Swap, Unstack)
"""Faults in which an external agent carries an object and sets it down: nothing falls."""

IN_HAND_M = 0.02
"""An object that shifts farther than this between the closed fingers is lost."""

OVERLAP_M = 0.003
"""Boxes that overlap by more than this along every axis block each other."""


@dataclass(frozen=True)
class Witness(Fault, needs_arm=True):
    """Fault without effect that records the poses of the moved object.

    Attributes:
        seen: phase -> poses of the moved object at its start: (3,) in the frame of the tool, (3,) in the world.
    """

    seen: dict[SkillPhase, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]

    def touched(self, action: Action) -> frozenset[str]:
        """Return no objects."""
        return frozenset()

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Record the object's poses at the start of a phase."""
        if phase not in self.seen:
            name = action.arguments[0]
            self.seen[phase] = context.scene.in_hand(name)[0].copy(), context.scene.pose(name)[0].copy()


def true_causes(state: ErrorState) -> dict[str, Cause]:
    """Return the true cause of every deviation.

    The step is executed again, which takes half a second, if it must be known whether the gripper lost the object.

    Args:
        state: an error state.
    """
    return {name: _cause(state, name) for name in state.error.deviations}


def _cause(state: ErrorState, name: str) -> Cause:
    truth, before, action = state.truth, state.fault_free[state.step], state.episode.plan[state.step]
    if not truth.present[truth.index(name)]:
        return Cause.MISSING
    if any(_swapped(state, name, other) for other in state.error.deviations if other != name):
        return Cause.SWAPPED
    moved = name == action.arguments[0]
    if moved and _stands_as(truth, before, name):
        return Cause.NOT_LIFTED
    if any(_stands_as(truth, later, name) for later in state.fault_free[state.step + 2 :]):
        return Cause.HELPED
    carried = any(
        isinstance(fault, CARRIED_BY_HAND) and name in fault.touched(action)
        for fault in state.episode.faults_at(state.step)
    )
    if moved:
        return Cause.MISPLACED if carried or not _fell(state, name) else Cause.DROPPED
    lower = before.position(name)[2] - truth.position(name)[2] > _height(state, before, name) / 2
    if lower and not carried:
        return Cause.TOPPLED
    return Cause.BLOCKING if _blocks(state, name) else Cause.MOVED


def _stands_as(truth: Truth, other: Truth, name: str) -> bool:
    """Whether an object is in the same place in two states."""
    near = bool(np.linalg.norm(truth.position(name) - other.position(name)) <= TOLERANCE_M)
    return near and truth.supports[name] == other.supports[name]


def _swapped(state: ErrorState, name: str, other: str) -> bool:
    """Whether two objects are in each other's places; heights are ignored."""
    truth, expected = state.truth, state.fault_free[state.step + 1]
    if not truth.present[truth.index(other)]:
        return False
    ways = ((name, other), (other, name))
    return all(np.linalg.norm((truth.position(a) - expected.position(b))[:2]) <= TOLERANCE_M for a, b in ways) and all(
        truth.supports[a] == expected.supports[b] or truth.supports[a] == b for a, b in ways
    )


def _height(state: ErrorState, truth: Truth, name: str) -> float:
    return float(_box(state, truth, name)[5])


def _box(state: ErrorState, truth: Truth, name: str) -> npt.NDArray[np.float64]:
    poses = state.poses(truth)
    return np.asarray(boxes(poses)[poses.index(name)], dtype=np.float64)


def _fell(state: ErrorState, name: str) -> bool:
    """Whether the fingers lost an object, or it fell after they set it down."""
    witness = Witness(state.step, {})
    faults = (*state.episode.faults_at(state.step), witness)
    with TabletopWorld(state.episode.scene, faults, seed=state.episode.seed) as world:
        put_in_place(world, state.fault_free[state.step])
        world.step = state.step
        world.execute(state.episode.plan[state.step])
    seen = witness.seen
    if SkillPhase.LIFT not in seen:
        return False  # the fingers did not grip the object, and pushed it
    if SkillPhase.RELEASE not in seen:
        return True  # the arm noticed that it had lost the object
    (gripped, _), (held, released) = seen[SkillPhase.LIFT], seen[SkillPhase.RELEASE]
    if np.linalg.norm(held - gripped) > IN_HAND_M:
        return True
    return bool(released[2] - state.truth.position(name)[2] > _height(state, state.fault_free[state.step], name) / 2)


def _blocks(state: ErrorState, name: str) -> bool:
    """Whether the place of an object blocks the rest of the plan."""
    here, support = _box(state, state.truth, name), state.truth.supports[name]
    for step in range(state.step + 1, len(state.episode.plan)):
        action = state.episode.plan[step]
        if action.arguments[0] == name:
            return support in action.arguments[1:]  # it moves away before it blocks a later action
        wanted = _box(state, state.fault_free[step + 1], action.arguments[0])
        shared = (here[3:] + wanted[3:]) / 2 - np.abs(here[:3] - wanted[:3])
        if bool(np.all(shared > OVERLAP_M)) or support == action.arguments[0]:
            return True
    return False

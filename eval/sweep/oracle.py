"""Oracle planner: it knows the true state and plans with an optimal planner (Fast Downward).

Episodes that it does not complete are at the limit of the simulator and of the arm's skills.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from eval.common.optimum import Optimum, Puzzle, fewest
from eval.common.optimum_check import independent_optimum, placings, require
from eval.sweep.evaluation_world import EpisodeEnd, EvaluationWorld, PlannerTurn
from nsrecover.core import Action, EpisodeStatus, Plan, Recovery, RecoveryStatus
from nsrecover.core.geometry import as_box, gaps
from nsrecover.errors import NsrecoverError
from nsrecover.explanation.reasons import reason_text
from sim.tabletop.placing import boxes
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import TOLERANCE_M, Truth, deviations

SEARCHED = 20_000
"""Most expansions of our own optimal search for which Fast Downward is also called: it may take hours for more, and a
time limit would depend on the machine."""

OURS = "our own optimal search"
"""Note of a recovery without Fast Downward."""

CLOSE_M = 0.005
"""Tolerance for objects whose error would displace the objects on them."""

APART_M = 0.001
"""Horizontal gap at which a box comes down next to another one."""

LOOKED_AT = 5000
"""Most expansions for corrections of small shifts, which need few."""

LEVEL_M = 0.004
"""Boxes that overlap in height by less are on each other, not side by side."""

SHIFTS_M = sorted(product((step * 0.002 for step in range(-7, 8)), repeat=2), key=lambda shift: math.hypot(*shift))
"""Shifts of a target along x and y, the smallest first; all are within the tolerance of the goal."""


@dataclass(frozen=True)
class Oracle:
    """Monitors by ground truth and plans optimally with unified-planning; nothing is learned.

    Attributes:
        name: in tables.
        max_recoveries: recoveries in one episode before it asks for help.
    """

    name: str = "oracle"
    max_recoveries: int = 10

    def __post_init__(self) -> None:
        require("planner=oracle")

    def prepare(self) -> None:
        """Nothing to load."""

    def run(self, world: EvaluationWorld) -> EpisodeEnd:
        """Execute the plan of the world."""
        plan, step, recoveries = world.plan, 0, 0
        while step < len(plan):
            action = clear_of_neighbours(world, plan[step], world.now)
            world.execute(action)
            culprits = dict(world.wrong) | _missed(world, action)
            crept = {}
            if not culprits and step + 1 == len(plan):
                # several small shifts of one object
                crept = deviations(world.now, world.fault_free[-1])
            if not culprits and not crept:
                world.turned(PlannerTurn(plan, step))
                step += 1
                continue
            # simulating the reference states does not count as planning
            reference = world.fault_free if crept else world.true_states(plan, step + 1)[1]
            recovery, cpu = _timed(world, plan, reference, bool(crept), TOLERANCE_M)
            if _misses_subgoal(world, recovery, reference):
                closer, more = _timed(world, plan, reference, bool(crept), CLOSE_M)
                kept = closer if closer.found else recovery
                recovery, cpu = replace(kept, seconds=recovery.seconds + closer.seconds), cpu + more
            blamed = dict.fromkeys(culprits | crept, "wrong")
            world.turned(PlannerTurn(plan, step, culprits=blamed, recovery=recovery, cpu_s=cpu))
            recoveries += 1
            if not recovery.found or recoveries > self.max_recoveries:
                why = reason_text(recovery) or f"something went wrong {recoveries} times"
                return EpisodeEnd(EpisodeStatus.ASKED_FOR_HELP, why)
            assert recovery.subgoal is not None
            plan, step = Plan(recovery.actions + plan.actions[recovery.subgoal :]), 0
        return EpisodeEnd(EpisodeStatus.COMPLETED)


def _timed(
    world: EvaluationWorld, plan: Plan, reference: tuple[Truth, ...], undisturbed: bool, tolerance_m: float
) -> tuple[Recovery, float]:
    """Return a recovery and the processor time of planning."""
    began, cpu = time.perf_counter(), _processor_s()
    recovery = _planned(world, plan, reference, undisturbed, tolerance_m)
    recovery, cpu = replace(recovery, seconds=time.perf_counter() - began), _processor_s() - cpu
    return replace(recovery, actions=_shifted_actions(world, recovery.actions)), cpu


def _misses_subgoal(world: EvaluationWorld, recovery: Recovery, reference: tuple[Truth, ...]) -> bool:
    """Whether the ideal executor misses the subgoal, because a support is slightly displaced or too high.

    A brick that stands instead of lying is 12 mm too high, which is within its own tolerance.
    """
    if not recovery.found or recovery.subgoal is None:
        return False
    done = world.original(recovery.subgoal)
    assert done is not None
    return bool(deviations(world.ahead(world.now, recovery.actions), reference[done]))


def clear_of_neighbours(world: EvaluationWorld, action: Action, now: Truth) -> Action:
    """Return an action with a slightly shifted target if the object would come down on an edge.

    The recovery problem allows boxes to overlap by some millimetres.

    Args:
        world: has the sizes of the objects.
        action: to be executed.
        now: the true state before it.
    """
    if action.target is None:
        return action
    name, target = action.arguments[0], np.array(action.target)
    others = np.delete(boxes(poses_of(now, world.episode.scene)), now.index(name), axis=0)
    for shift in SHIFTS_M:
        place = target + np.array((*shift, 0, 0, 0, 0))
        apart = gaps(place, others)
        if ((apart[:, :2].max(axis=1) > APART_M) | (apart[:, 2] >= -LEVEL_M)).all():
            return replace(action, target=as_box(place))
    return action


def _shifted_actions(world: EvaluationWorld, actions: Sequence[Action]) -> tuple[Action, ...]:
    """Shift the targets of several actions, each after the ideal result of those before."""
    now, shifted = world.now, list[Action]()
    for action in actions:
        shifted.append(clear_of_neighbours(world, action, now))
        now = world.ahead(now, shifted[-1:])
    return tuple(shifted)


def _processor_s() -> float:
    """Processor time of this process and of its ended child processes."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _missed(world: EvaluationWorld, action: Action) -> dict[str, str]:
    """Object that missed its target although the ideal executor would have missed it too."""
    if action.target is None:
        return {}
    name = action.arguments[0]
    away = float(np.linalg.norm(world.now.position(name) - action.target[:3]))
    return {name: f"{1000 * away:.0f} mm off"} if away > TOLERANCE_M else {}


def _planned(
    world: EvaluationWorld, plan: Plan, reference: tuple[Truth, ...], undisturbed: bool, tolerance_m: float
) -> Recovery:
    """Plan the cheapest recovery from the true state to any state of the original plan ahead.

    Args:
        world: has the true state.
        plan: the plan in execution.
        reference: (T + 1) reference states of the original plan.
        undisturbed: whether they are those of the fault-free run; then only the last one is a subgoal.
        tolerance_m: distance up to which an object is in its place.
    """
    lost = world.lost(reference)
    if lost:
        reason = "; ".join(f"the {name} is {where}" for name, where in lost.items())
        return Recovery(RecoveryStatus.IMPOSSIBLE, note=reason, blamed=tuple(lost))
    # number of original steps done -> of present ones
    ends = {world.original(number): number for number in range(len(plan), -1, -1)}
    puzzle = world.puzzle(reference, tolerance_m)
    best, asked = None, False
    if puzzle is not None and undisturbed:
        best, asked = fewest(puzzle, [len(world.plan)], LOOKED_AT), False
    elif puzzle is not None:
        best, asked = _soonest(puzzle, sorted(t for t in ends if t is not None))
    steps = None if puzzle is None or best is None else placings(puzzle, best.steps)
    if puzzle is not None and best is not None and steps is None and asked:
        # the table has no room for this plan; it may have room for another one of the same length
        best, asked = fewest(puzzle, [best.subgoal]), False
        steps = None if best is None else placings(puzzle, best.steps)
    if best is None or steps is None:
        return Recovery(RecoveryStatus.IMPOSSIBLE, note="no recovery was found")
    actions = tuple(Action("free" if step.aside else "restore", (step.name,), as_box(step.box)) for step in steps)
    status = RecoveryStatus.RECOVERED if actions else RecoveryStatus.ALREADY_AT_SUBGOAL
    return Recovery(
        status,
        actions,
        subgoal=ends[best.subgoal],
        cost=float(best.cost),
        proven_optimal=True,
        note="" if asked else OURS,
    )


def _soonest(puzzle: Puzzle, subgoals: Sequence[int]) -> tuple[Optimum | None, bool]:
    """Find the optimal recovery with the earliest subgoal.

    Returns:
        The recovery, and whether it is from Fast Downward.

    Raises:
        NsrecoverError: the two optimal planners disagree.
    """
    best = fewest(puzzle, subgoals)
    if best is None:
        return None, False
    for subgoal in subgoals:
        way = fewest(puzzle, [subgoal])
        if way is not None and way.cost == best.cost:
            best = way
            break
    if best.expansions > SEARCHED:
        return best, False
    found = independent_optimum(puzzle, [best.subgoal], time_limit_s=None)
    if found is None or found.cost != best.cost:
        raise NsrecoverError(f"expected both optimal planners to need {best.cost} actions, found {found}")
    return found, True

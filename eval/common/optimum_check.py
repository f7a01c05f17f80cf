"""L_opt by an independent optimal planner: the recovery problem in unified-planning, for Fast Downward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from eval.common.optimum import ASIDE, NEVER, Array, Move, Optimum, Puzzle
from nsrecover.errors import InvalidConfiguration
from sim.common.rotations import matrix_of
from sim.tabletop.placing import extents

GAPS_M = (0.045, 0.02, 0.006)
"""Gaps around an object that is set aside: room for a finger on every side if possible, at least no contact."""

GRID_M = 0.01
"""Spacing of the candidate places."""


@dataclass(frozen=True, eq=False)
class Placing:
    """Move of an optimal recovery with its target.

    Attributes:
        name: of the object.
        box: (6,) its target.
        aside: whether the object is set aside.
    """

    name: str
    box: Array
    aside: bool


def placings(puzzle: Puzzle, steps: Sequence[Move]) -> list[Placing] | None:
    """Return the targets of all moves; None if the table has no room for an object that is set aside."""
    now, aside, found = puzzle.start, dict[int, Array](), list[Placing]()
    for k, step in enumerate(steps):
        now = (*now[: step.owner], step.spot, *now[step.owner + 1 :])
        aside.pop(step.owner, None)
        if step.spot != ASIDE:
            found.append(Placing(puzzle.names[step.owner], _box(puzzle, step.spot), False))
            continue
        back = next((m for m in range(k + 1, len(steps)) if steps[m].owner == step.owner), len(steps))
        meanwhile = {s for s in now if s != ASIDE} | {later.spot for later in steps[k + 1 : back]} - {ASIDE}
        box = _room(puzzle, step.owner, [*(_box(puzzle, s) for s in sorted(meanwhile)), *aside.values()])
        if box is None:
            return None
        aside[step.owner] = box
        found.append(Placing(puzzle.names[step.owner], box, True))
    return found


def _box(puzzle: Puzzle, s: int) -> Array:
    spot = puzzle.spots[s]
    return np.concatenate([spot.position, extents(matrix_of(spot.orientation), puzzle.sizes[spot.owner])])


def _room(puzzle: Puzzle, owner: int, boxes: Sequence[Array]) -> Array | None:
    """Return the nearest empty place on the table for an object, as a box (6,)."""
    box, (x_min, y_min, x_max, y_max, near, far) = _box(puzzle, owner), puzzle.area
    x, y = np.meshgrid(np.arange(x_min, x_max, GRID_M), np.arange(y_min, y_max, GRID_M), indexing="ij")
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    distance = np.linalg.norm(places, axis=1)
    obstacles = np.array(boxes).reshape(-1, 6)
    apart = np.abs(places[:, None] - obstacles[None, :, :2]) - (obstacles[None, :, 3:5] + box[3:5]) / 2
    reachable = (distance > near) & (distance < far)
    for gap in GAPS_M:
        free = np.all(apart.max(axis=2) > gap, axis=1) & reachable
        if free.any():
            break
    else:
        return None
    away = np.where(free, np.linalg.norm(places - box[:2], axis=1), np.inf)
    return np.array([*places[int(away.argmin())], box[5] / 2, *box[3:]])


TIME_LIMIT_S = 60.0


def available() -> bool:
    """Whether the independent planner is installed; it is optional because of its GPL license."""
    return find_spec("unified_planning") is not None and find_spec("up_fast_downward") is not None


def require(setting: str) -> None:
    """Check that the independent planner is installed.

    Args:
        setting: that needs it, for the message.

    Raises:
        InvalidConfiguration: it is not.
    """
    if not available():
        raise InvalidConfiguration(
            f"expected unified-planning and up-fast-downward for {setting}, found them not installed; run "
            "`pip install 'nsrecover[fast-downward]'`, or choose another setting"
        )


@contextmanager
def fast_downward() -> Iterator[Any]:
    """Optimal planner of unified-planning (A* with LM-cut) in a temporary working directory.

    It writes its translation to the working directory under a fixed name, which parallel workers would overwrite.
    """
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    with TemporaryDirectory() as place, chdir(place), OneshotPlanner(name="fast-downward-opt") as planner:
        yield planner


def independent_optimum(
    puzzle: Puzzle, subgoals: Sequence[int] | None = None, time_limit_s: float | None = TIME_LIMIT_S
) -> Optimum | None:
    """Return the optimum of the independent planner; arguments and result as for `optimum.fewest`.

    Raises:
        InvalidConfiguration: the planner is not installed, or found no optimal plan in time.
    """
    require("check > 0")
    from unified_planning.engines import PlanGenerationResultStatus as Status

    problem, moves, ends = _problem(puzzle, subgoals)
    with fast_downward() as planner:
        result = planner.solve(problem, timeout=time_limit_s)
    if result.status is Status.UNSOLVABLE_PROVEN:
        return None
    if result.status is not Status.SOLVED_OPTIMALLY:
        raise InvalidConfiguration(f"expected an optimal plan within {time_limit_s} s, found {result.status.name}")
    names = [step.action.name for step in result.plan.actions]
    steps = tuple(moves[name] for name in names if name in moves)
    end = next(ends[name] for name in names if name in ends)
    return Optimum(end, steps, len(steps) + puzzle.length - end, 0)


def _problem(puzzle: Puzzle, subgoals: Sequence[int] | None) -> tuple[Any, dict[str, Move], dict[str, int]]:
    """Return the recovery problem as a `unified_planning.model.Problem` with one action for every move.

    The remaining plan is one action for every subgoal; its cost is the number of remaining steps. Also returns the
    meaning of the moves, and the subgoal of each last action.
    """
    from unified_planning.shortcuts import (
        And,
        Fluent,
        InstantaneousAction,
        Int,
        MinimizeActionCosts,
        Not,
        Or,
        Problem,
    )

    problem = Problem("recovery")
    taken = [Fluent(f"taken_{s}") for s in range(len(puzzle.spots))]
    aside = [Fluent(f"aside_{i}") for i in range(len(puzzle.names))]
    done = Fluent("done")
    for fluent in (*taken, *aside, done):
        problem.add_fluent(fluent, default_initial_value=False)
    for s in puzzle.start:
        problem.set_initial_value(taken[s], True)
    costs, moves, ends = {}, dict[str, Move](), dict[str, int]()
    for i, choices in enumerate(puzzle.choices):
        leaving = [(f"spot{s}", taken[s], _bits(puzzle.burden[s])) for s in choices] + [("aside", aside[i], [])]
        coming: list[tuple[str, Any, int | None]] = [(f"spot{s}", taken[s], s) for s in choices]
        coming.append(("aside", aside[i], None))
        for source, here, above in leaving:
            for target, there, spot in coming:
                if here is there:
                    continue
                action = InstantaneousAction(f"move_{i}_{source}_{target}")
                action.add_precondition(here)
                for other in above:
                    action.add_precondition(Not(taken[other]))
                if spot is not None:
                    if puzzle.carriers[spot] == NEVER:
                        continue
                    for other in _bits(puzzle.clashing[spot]):
                        action.add_precondition(Not(taken[other]))
                    carriers = [taken[below] for below in _bits(puzzle.carriers[spot])]
                    if carriers:
                        action.add_precondition(Or(carriers) if len(carriers) > 1 else carriers[0])
                action.add_effect(here, False)
                action.add_effect(there, True)
                problem.add_action(action)
                costs[action] = Int(1)
                moves[action.name] = Move(i, ASIDE if spot is None else spot)
    for t in range(puzzle.length + 1) if subgoals is None else subgoals:
        right = [[taken[s] for s in choices if puzzle.right[s, t]] for choices in puzzle.choices]
        if not all(right):
            continue
        finish = InstantaneousAction(f"finish_{t}")
        finish.add_precondition(And([Or(places) if len(places) > 1 else places[0] for places in right]))
        finish.add_effect(done, True)
        problem.add_action(finish)
        costs[finish] = Int(puzzle.length - t)
        ends[finish.name] = t
    problem.add_goal(done)
    problem.add_quality_metric(MinimizeActionCosts(costs))
    return problem, moves, ends


def _bits(mask: int) -> list[int]:
    return [s for s in range(mask.bit_length()) if mask >> s & 1]

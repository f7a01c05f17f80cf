"""L_opt: the fewest actions that lead from an error state back to a state of its plan.

The search uses ground truth only: rotated boxes, supports by contact, and the places of the fault-free run. It is A*
with an admissible bound, over all objects: a clear object may go to each of its places if the place is empty and its
support is there, or be set aside.

Setting aside needs no place in the search: it always succeeds and blocks nothing. This can only make plans shorter;
`optimum_room` checks afterwards that the table has room, so that the length is exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from eval.common.error_states import ErrorState
from sim.common.rotations import matrix_of
from sim.tabletop.grasp import Obstacles, separation
from sim.tabletop.kinematic import REACH_M
from sim.tabletop.poses import PoseEstimates, poses_of
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.truth import ROOM_M, TABLE, TOLERANCE_M, Truth

SLACK_M = 0.004
"""Boxes may overlap by this much: objects that are put next to each other touch."""

STAYED_M = 0.005
"""An object that moves no farther than this along the plan is in the same place."""

ASIDE = -1
"""Represents all places to set an object aside."""

NEVER = 1 << 4096
"""Mask of a place that can be left but not taken again."""

Array = npt.NDArray[np.float64]
Arrangement = tuple[int, ...]
"""For every object the number of its place, or `ASIDE`."""


@dataclass(frozen=True, eq=False)
class Spot:
    """Place of an object.

    Attributes:
        owner: row of the object.
        position: (3,) centre.
        orientation: (4,) xyzw.
        support: row of the object below; None for the table.
        room: (3,) sides of the box around the object; None where room does not count.
    """

    owner: int
    position: Array
    orientation: Array
    support: int | None
    room: Array | None = None


@dataclass(frozen=True)
class Move:
    """Move of one object: its row, and its new place or `ASIDE`."""

    owner: int
    spot: int


@dataclass(frozen=True)
class Optimum:
    """Shortest recovery to one of some states of the plan.

    Attributes:
        subgoal: number of the state that it reaches.
        steps: the moves.
        cost: moves plus remaining actions of the plan.
        expansions: expanded arrangements.
    """

    subgoal: int
    steps: tuple[Move, ...]
    cost: int
    expansions: int


@dataclass(frozen=True, eq=False)
class Puzzle:
    """Recovery problem as places that exclude and support each other.

    Attributes:
        names: N objects.
        spots: all places; the first N are the present ones.
        right: (S, T + 1) whether the plan has the object in this place after t actions.
        clash: (S, S) whether two places exclude each other.
        above: (S, S) whether the object in the second place rests on the object in the first.
        sizes: (N, 3) sides of the objects.
        area: x_min, y_min, x_max, y_max of the table, and the nearest and farthest distance that the arm reaches.
    """

    names: tuple[str, ...]
    spots: tuple[Spot, ...]
    right: npt.NDArray[np.bool_]
    clash: npt.NDArray[np.bool_]
    above: npt.NDArray[np.bool_]
    sizes: Array
    area: tuple[float, float, float, float, float, float]

    @property
    def length(self) -> int:
        """T, the number of actions of the plan."""
        return int(self.right.shape[1]) - 1

    @property
    def start(self) -> Arrangement:
        """The present arrangement."""
        return tuple(range(len(self.names)))

    @cached_property
    def choices(self) -> list[list[int]]:
        """Places of every object."""
        return [[s for s, spot in enumerate(self.spots) if spot.owner == i] for i in range(len(self.names))]

    @cached_property
    def carriers(self) -> list[int]:
        """For every place the mask of its possible supports, one of which must be taken; 0 for the table."""
        found = []
        for s, spot in enumerate(self.spots):
            below = [] if spot.support is None else self.choices[spot.support]
            mask = sum(1 << c for c in below if (self.right[c] & self.right[s]).any())
            found.append(mask if mask or spot.support is None else NEVER)
        return found

    @cached_property
    def clashing(self) -> list[int]:
        """For every place the mask of places that must be empty."""
        return [_mask(row) for row in self.clash]

    @cached_property
    def burden(self) -> list[int]:
        """For every place the mask of places of objects that rest on it."""
        return [_mask(row) for row in self.above]

    def steps(self, now: Arrangement) -> Iterator[Move]:
        """Yield all possible moves."""
        taken = sum(1 << s for s in now if s != ASIDE)
        for i, here in enumerate(now):
            if here != ASIDE and self.burden[here] & taken:
                continue
            others = taken if here == ASIDE else taken & ~(1 << here)
            for s in self.choices[i]:
                below = self.carriers[s]
                if s != here and not self.clashing[s] & others and (not below or below & others):
                    yield Move(i, s)
            if here != ASIDE:
                yield Move(i, ASIDE)

    def reached(self, now: Arrangement, subgoal: int) -> bool:
        """Whether every object is in its place of a state of the plan."""
        return all(s != ASIDE and self.right[s, subgoal] for s in now)


def _mask(row: npt.NDArray[np.bool_]) -> int:
    return sum(1 << int(s) for s in np.flatnonzero(row))


def puzzle_of(state: ErrorState) -> Puzzle | None:
    """Return the recovery problem of an error state; None if an object is gone."""
    return puzzle_between(state.truth, state.fault_free, state.episode.scene)


def puzzle_between(
    truth: Truth,
    reference: Sequence[Truth],
    scene: SceneSpec,
    fixed: Collection[str] = (),
    tolerance_m: float = TOLERANCE_M,
) -> Puzzle | None:
    """Return the recovery problem from a true state to any reference state.

    Args:
        truth: the true state.
        reference: (T + 1) states before the first and after every action of the plan.
        scene: has the sizes of the objects.
        fixed: objects that cannot be moved.
        tolerance_m: distance up to which an object is in its place.

    Returns:
        None if an object is gone.
    """
    if not truth.present.all():
        return None
    poses, table = poses_of(truth, scene), scene.table
    spots, times = list[Spot](), list[set[int]]()
    for i in range(len(truth.names)):
        spots.append(_spot(truth, i))
        times.append({t for t in range(len(reference)) if _same(spots[i], _spot(reference[t], i), tolerance_m)})
    for i in range(len(truth.names)):
        own = list[int]()
        for t, then in enumerate(reference):
            spot = _spot(then, i)
            known = next((s for s in own if _same(spots[s], spot, STAYED_M)), None)
            if known is None:
                own.append(len(spots))
                spots.append(spot)
                times.append({u for u in range(len(reference)) if _same(spot, _spot(reference[u], i), tolerance_m)})
            else:
                times[known].add(t)
    right = np.zeros((len(spots), len(reference)), dtype=np.bool_)
    for s, row in enumerate(times):
        right[s, sorted(row)] = True
    area = (table.x_m[0], table.y_m[0], table.x_m[1], table.y_m[1], *REACH_M)
    clash, above = _relations(spots, right, poses)
    for name in fixed:
        # an object that rests on itself can never move
        above[truth.index(name), truth.index(name)] = True
    return Puzzle(truth.names, tuple(spots), right, clash, above, poses.sizes, area)


def _spot(truth: Truth, i: int) -> Spot:
    support = truth.supports[truth.names[i]]
    row = None if support in (None, TABLE) else truth.index(support)
    return Spot(i, truth.positions[i], truth.orientations[i], row, None if truth.room is None else truth.room[i])


def _same(spot: Spot, other: Spot, tolerance_m: float) -> bool:
    """Whether an object in one place counts as being in another: by `sim.tabletop.truth.deviations`."""
    away = float(np.linalg.norm(spot.position - other.position))
    fits = spot.room is None or other.room is None or float((spot.room - other.room).max()) <= ROOM_M
    return spot.support == other.support and away <= tolerance_m and fits


def _relations(
    spots: Sequence[Spot], right: npt.NDArray[np.bool_], poses: PoseEstimates
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which places exclude each other, and which rest on which."""
    count, objects = len(spots), len(poses.names)
    owner = np.array([spot.owner for spot in spots])
    centres = np.stack([spot.position for spot in spots])
    rotations = np.stack([matrix_of(spot.orientation) for spot in spots])
    halves = poses.sizes[owner] / 2
    gap = separation(centres, rotations, halves, Obstacles(centres, rotations, halves))
    other = owner[:, None] != owner[None]
    # places that were truly taken at the same time do not exclude each other
    together = (right.astype(int) @ right.T.astype(int)) > 0
    together[:objects, :objects] = True
    clash = (gap < -SLACK_M) & other & ~together
    above = np.zeros((count, count), dtype=np.bool_)
    for s, spot in enumerate(spots):
        if spot.support is None:
            continue
        for below in np.flatnonzero(owner == spot.support):
            # both where they are now, or both where the plan has them at the same time
            now = s < objects and below < objects
            above[below, s] = now or bool((right[s] & right[below]).any())
    return clash, above


@dataclass(order=True)
class _Entry:
    """Entry of the open list."""

    bound: int
    left: int
    count: int
    cost: int = field(compare=False)
    now: Arrangement = field(compare=False)


def fewest(puzzle: Puzzle, subgoals: Sequence[int] | None = None, limit: int = 300_000) -> Optimum | None:
    """Find the shortest recovery to any of some states of the plan, including the remaining plan.

    Args:
        puzzle: the recovery problem.
        subgoals: numbers of the states; all if None.
        limit: most arrangements to expand.

    Returns:
        None if there is no recovery, or none was found within the limit.
    """
    goals = list(range(puzzle.length + 1)) if subgoals is None else list(subgoals)
    bound = _Bound(puzzle, goals)
    best: dict[Arrangement, int] = {puzzle.start: 0}
    came: dict[Arrangement, tuple[Arrangement, Move]] = {}
    first = bound(puzzle.start)
    heap = [_Entry(first, first, 0, 0, puzzle.start)]
    expansions = 0
    while heap and expansions < limit:
        entry = heapq.heappop(heap)
        if entry.cost > best[entry.now]:
            continue
        ends = [t for t in goals if puzzle.reached(entry.now, t) and entry.cost + puzzle.length - t == entry.bound]
        if ends:
            return Optimum(ends[-1], _path(came, entry.now), entry.bound, expansions)
        expansions += 1
        for step in puzzle.steps(entry.now):
            after = (*entry.now[: step.owner], step.spot, *entry.now[step.owner + 1 :])
            if entry.cost + 1 < best.get(after, 1 << 30):
                best[after] = entry.cost + 1
                came[after] = (entry.now, step)
                left = bound(after)
                heapq.heappush(heap, _Entry(entry.cost + 1 + left, left, len(best), entry.cost + 1, after))
    return None


def _path(came: dict[Arrangement, tuple[Arrangement, Move]], now: Arrangement) -> tuple[Move, ...]:
    steps: list[Move] = []
    while now in came:
        now, step = came[now]
        steps.append(step)
    return tuple(reversed(steps))


class _Bound:
    """Admissible lower bound on the remaining cost, the minimum over the subgoals.

    Every misplaced object must move, and every object that rests on a moving one. If objects wait for each other in a
    cycle, at least one of them moves twice; disjoint cycles add up.
    """

    def __init__(self, puzzle: Puzzle, goals: Sequence[int]) -> None:
        self._puzzle, self._goals = puzzle, goals
        self._known: dict[Arrangement, int] = {}

    def __call__(self, now: Arrangement) -> int:
        if now not in self._known:
            puzzle = self._puzzle
            self._known[now] = min(self._to(now, t) + puzzle.length - t for t in self._goals)
        return self._known[now]

    def _to(self, now: Arrangement, goal: int) -> int:
        puzzle = self._puzzle
        moving = {i for i, s in enumerate(now) if s == ASIDE or not puzzle.right[s, goal]}
        carried = {i: self._on(now, i) for i in range(len(now))}
        waiting = list(moving)
        while waiting:
            for j in carried[waiting.pop()]:
                if j not in moving:
                    moving.add(j)
                    waiting.append(j)
        again = sum(now[i] != ASIDE and bool(puzzle.right[now[i], goal]) for i in moving)
        # i waits for objects on it, in its way, or that are its future support
        wrong = [i for i in moving if now[i] == ASIDE or not puzzle.right[now[i], goal]]
        waits = {i: {j for j in carried[i] if j in wrong} | self._before(now, i, goal, wrong) for i in wrong}
        return len(moving) + again + _circles(waits)

    def _on(self, now: Arrangement, i: int) -> list[int]:
        if now[i] == ASIDE:
            return []
        burden = self._puzzle.burden[now[i]]
        return [j for j, s in enumerate(now) if s != ASIDE and burden >> s & 1]

    def _before(self, now: Arrangement, i: int, goal: int, wrong: Sequence[int]) -> set[int]:
        """Objects that must move before an object can go to any of its places."""
        puzzle = self._puzzle
        sets = list[set[int]]()
        for s in puzzle.choices[i]:
            if puzzle.right[s, goal] and s != now[i]:
                mask = puzzle.clashing[s]
                blocking = {j for j in wrong if j != i and now[j] != ASIDE and mask >> now[j] & 1}
                support = puzzle.spots[s].support
                sets.append(blocking | {other for other in wrong if other == support})
        return set.intersection(*sets) if sets else set()


def _circles(waits: dict[int, set[int]]) -> int:
    """Number of strongly connected components with more than one node."""
    reach = {i: set(after) for i, after in waits.items()}
    for k in reach:
        for i in reach:
            if k in reach[i]:
                reach[i] |= reach[k]
    found = {frozenset(j for j in reach if j in reach[i] and i in reach[j]) for i in reach}
    return sum(len(component) > 1 for component in found)

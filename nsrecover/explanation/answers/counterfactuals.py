"""Counterfactuals: the shortest recovery in which an object is not moved, from the boxes of a log and without torch.

An exact breadth-first search. Every displaced object is where it was observed, in its place, or set aside; one clear
object moves at a time. Free places for objects that are set aside are assumed to exist.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from enum import IntEnum

import numpy as np

from nsrecover.core.geometry import CONTACT_M, intersects
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import resting_on, support_name, supporter
from nsrecover.util.english import counted, listed, the

MOST_STATES = 50_000
"""Largest number of states that the search visits."""


class Location(IntEnum):
    """Location of an object in a state of the search."""

    OBSERVED = 0
    PLACE = 1
    ASIDE = 2


Moves = tuple[tuple[str, Location], ...]
"""The moved objects in order, each with its new location: its place, or aside."""


def shortest_moves(
    start: SceneGraph, goal: SceneGraph, needed: Collection[str], untouched: Collection[str] = ()
) -> Moves | None:
    """Return the shortest sequence of moves after which every needed object is in its place.

    Args:
        start: the observed scene.
        goal: the goal scene with the same objects.
        needed: objects that have to be in their places; the others may be anywhere, but not in the way.
        untouched: objects that may not be moved.

    Returns:
        The moves; None if there is no such sequence.
    """
    rows = [goal.index(name) for name in start.names]
    places = goal.boxes[rows]
    right = np.linalg.norm(start.boxes[:, :3] - places[:, :3], axis=1) <= REACHED_M
    gone = start.missing
    first = tuple(Location.PLACE if ok else Location.OBSERVED for ok in right)
    wanted = [i for i, name in enumerate(start.names) if name in needed]
    if any(gone[i] for i in wanted):
        return None
    still = {i for i, name in enumerate(start.names) if name in untouched or gone[i]}
    queue, seen = deque([(first, Moves())]), {first}
    while queue and len(seen) < MOST_STATES:
        state, moves = queue.popleft()
        if all(state[i] is Location.PLACE for i in wanted):
            return moves
        scene = _scene(start, places, state)
        for i, name in enumerate(start.names):
            if i in still or (state[i] is Location.ASIDE and i not in wanted) or resting_on(scene, i):
                continue
            for where in (Location.PLACE, Location.ASIDE):
                if where is state[i] or (where is Location.PLACE and not _fits(scene, i, places[i])):
                    continue
                later = (*state[:i], where, *state[i + 1 :])
                if later not in seen:
                    seen.add(later)
                    queue.append((later, (*moves, (name, where))))
    return None


def _scene(start: SceneGraph, places: FloatArray, state: tuple[Location, ...]) -> SceneGraph:
    """Return the scene of a state; objects that are set aside are far away."""
    scene = start
    for i, where in enumerate(state):
        if where is Location.PLACE:
            scene = scene.with_node(i, places[i])
        elif where is Location.ASIDE:
            scene = scene.with_node(i, [100.0 + i, 0.0, places[i][5] / 2, *places[i][3:]])
    return scene


def _fits(scene: SceneGraph, index: int, place: FloatArray) -> bool:
    """Return whether a place is free and supported."""
    others = np.arange(len(scene)) != index
    if bool(np.any(intersects(place, scene.boxes[others]))):
        return False
    placed = scene.with_node(index, place)
    return float(place[2] - place[5] / 2) < CONTACT_M or supporter(placed, index) is not None


def without(start: SceneGraph, recovery: Recovery, name: str) -> str:
    """Return what a recovery would have been if an object had not been moved, in words.

    Args:
        start: the observed scene.
        recovery: what was done from there.
        name: the object.
    """
    taken = len(recovery.actions) + len(recovery.rest)
    sequences = [
        (len(moves) + left, moves, left)
        for goal, left in _goals(start, recovery)
        if (moves := shortest_moves(start, goal, _needed(goal, recovery), {name})) is not None
    ]
    without_it = f"Without moving {the(name)}"
    if not sequences:
        goal = _goals(start, recovery)[0][0]
        why = _hindrance(start, goal, _needed(goal, recovery), name)
        return f"{without_it} there would have been no recovery: {why}."
    total, moves, left = min(sequences, key=lambda each: each[0])
    steps = [
        f"set {the(other)} aside" if where is Location.ASIDE else f"put {the(other)} into its place"
        for other, where in moves
    ]
    if not steps:
        return f"{without_it} no recovery would have been needed: every object that the plan needs was in its place."
    rest = f", and {counted(left, 'step')} of the plan after that" if left else ""
    more = total - taken
    compared = "as many as with it" if not more else f"{counted(abs(more), 'action')} {'more' if more > 0 else 'fewer'}"
    return (
        f"{without_it} it would have taken {counted(len(steps), 'action')}: {listed(steps)}{rest}. That is {compared}."
    )


def _goals(start: SceneGraph, recovery: Recovery) -> list[tuple[SceneGraph, int]]:
    """Return the known scenes of the plan from the rejoined one on, each with the number of remaining steps."""
    rejoined = recovery.graphs[-1] if recovery.graphs else start
    scenes = [rejoined, *recovery.rest]
    return [(scene, len(scenes) - 1 - number) for number, scene in enumerate(scenes)]


def _needed(goal: SceneGraph, recovery: Recovery) -> set[str]:
    """Return the objects that have to be in their places in a scene."""
    return {name for name in goal.names if name not in recovery.staying}


def _hindrance(start: SceneGraph, goal: SceneGraph, needed: set[str], name: str) -> str:
    """Return why there is no recovery without moving an object."""
    i, j = start.index(name), goal.index(name)
    support = support_name(goal, j)
    here = support_name(start, i)
    if name in needed and _displaced(start, i, goal, j):
        if support == here:
            return f"{the(name)} itself would not have been in its place"
        return f"{the(name)} itself would have stayed on {the(here)}, and the plan needs it on {the(support)}"
    for other in sorted(needed - {name}):
        n, m = start.index(other), goal.index(other)
        if not _displaced(start, n, goal, m):
            continue
        if i in resting_on(start, n):
            return f"{the(name)} stood on {the(other)}, which had to be moved"
        if bool(intersects(goal.boxes[m], start.boxes[[i]])[0]):
            return f"{the(name)} stood where {the(other)} had to go"
    return f"{the(name)} stood in the way"


def _displaced(start: SceneGraph, i: int, goal: SceneGraph, j: int) -> bool:
    return float(abs(start.boxes[i, :3] - goal.boxes[j, :3]).max()) > 0.01

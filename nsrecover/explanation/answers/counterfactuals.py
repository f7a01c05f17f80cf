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
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import resting_on, supporter

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

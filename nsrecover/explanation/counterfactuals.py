"""What would have been, had an object not been touched: the shortest way back over the boxes of a log, without torch.

A small exact search: every object that is out of place is where it was seen, in its place, or set aside; one of them
moves at a time, and only what nothing stands on. Where a thing is set aside is not asked; room is taken for granted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from nsrecover.core.geometry import CONTACT_M, intersects
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import resting_on, supporter

MOST_STATES = 50_000


class Whereabouts(IntEnum):
    """Where an object is."""

    SEEN = 0
    PLACE = 1
    ASIDE = 2


@dataclass(frozen=True)
class Course:
    """A way to a goal scene.

    Attributes:
        moves: objects in the order in which they are moved, and whether each is put into its place or set aside.
    """

    moves: tuple[tuple[str, Whereabouts], ...]


def shortest(
    start: SceneGraph, goal: SceneGraph, needed: Collection[str], untouched: Collection[str] = ()
) -> Course | None:
    """The fewest moves after which every needed object is in its place.

    Args:
        start: the scene as it was seen.
        goal: the scene as it is meant to be, over the same objects.
        needed: objects that have to be in their places; the others may be anywhere, but not in the way.
        untouched: objects that may not be moved.

    Returns:
        The moves; None if there is no way.
    """
    rows = [goal.index(name) for name in start.names]
    places = goal.boxes[rows]
    right = np.linalg.norm(start.boxes[:, :3] - places[:, :3], axis=1) <= REACHED_M
    gone = start.missing
    first = tuple(Whereabouts.PLACE if ok else Whereabouts.SEEN for ok in right)
    wanted = [i for i, name in enumerate(start.names) if name in needed]
    if any(gone[i] for i in wanted):
        return None
    still = {i for i, name in enumerate(start.names) if name in untouched or gone[i]}
    queue, seen = deque([(first, tuple[tuple[str, Whereabouts], ...]())]), {first}
    while queue and len(seen) < MOST_STATES:
        state, moves = queue.popleft()
        if all(state[i] is Whereabouts.PLACE for i in wanted):
            return Course(moves)
        scene = _scene(start, places, state)
        for i, name in enumerate(start.names):
            if i in still or (state[i] is Whereabouts.ASIDE and i not in wanted) or resting_on(scene, i):
                continue
            for where in (Whereabouts.PLACE, Whereabouts.ASIDE):
                if where is state[i] or (where is Whereabouts.PLACE and not _fits(scene, i, places[i])):
                    continue
                later = (*state[:i], where, *state[i + 1 :])
                if later not in seen:
                    seen.add(later)
                    queue.append((later, (*moves, (name, where))))
    return None


def _scene(start: SceneGraph, places: FloatArray, state: tuple[Whereabouts, ...]) -> SceneGraph:
    """The scene in a state; what is set aside is out of everybody's way."""
    scene = start
    for i, where in enumerate(state):
        if where is Whereabouts.PLACE:
            scene = scene.with_node(i, places[i])
        elif where is Whereabouts.ASIDE:
            scene = scene.with_node(i, [100.0 + i, 0.0, places[i][5] / 2, *places[i][3:]])
    return scene


def _fits(scene: SceneGraph, index: int, place: FloatArray) -> bool:
    """Whether a place is free and has something below it."""
    others = np.arange(len(scene)) != index
    if bool(np.any(intersects(place, scene.boxes[others]))):
        return False
    placed = scene.with_node(index, place)
    return float(place[2] - place[5] / 2) < CONTACT_M or supporter(placed, index) is not None

"""Probe actions for an unknown world: actions that any robot that can pick and place can carry out."""

import math
from itertools import permutations

import numpy as np

from nsrecover.core import Action, Box, SceneGraph
from nsrecover.core.geometry import as_box, bottom, gaps
from nsrecover.domains.tabletop.operators import SET_ASIDE, STACK, TABLETOP
from nsrecover.domains.tabletop.relations import is_clear, supporter
from nsrecover.domains.tabletop.spatial import SpatialDomain

ROOM_M = 0.03
"""Smallest gap between the chosen objects or places and all others; a finger fits in."""

OUT_OF_REACH_M = 6.0
"""Distance that is out of reach of any arm at a table."""


def choose_action(graph: SceneGraph, domain: SpatialDomain = TABLETOP) -> Action | None:
    """Return an easy action: stack two free-standing objects, or else shift one; None if there is no room."""
    standing = [i for i in range(len(graph)) if graph.seen[i] and is_clear(graph, i) and supporter(graph, i) is None]
    room = {i: _room(graph, graph.boxes[i], i) for i in standing}
    pairs = [
        (min(room[a], room[b]), graph.names[a], graph.names[b])
        for a, b in permutations(standing, 2)
        if min(room[a], room[b]) >= ROOM_M and np.all(graph.boxes[a, 3:5] <= 1.2 * graph.boxes[b, 3:5])
    ]
    for _, *names in sorted(pairs, reverse=True):
        action = Action(STACK, tuple(names))
        if not domain.operator_of(action).violated(graph, action):
            return action
    for i in sorted(standing, key=lambda i: -room[i]):
        if room[i] >= ROOM_M:
            for distance_m in (0.08, 0.12, 0.16):
                for angle in np.linspace(0, 2 * math.pi, 12, endpoint=False):
                    target = graph.boxes[i].copy()
                    target[:2] += distance_m * np.array([math.cos(angle), math.sin(angle)])
                    nearer = np.linalg.norm(target[:2]) <= np.linalg.norm(graph.boxes[i, :2])
                    if nearer and _room(graph, target, i) >= ROOM_M:
                        return Action(SET_ASIDE, (graph.names[i],), as_box(target))
    return None


def action_back_to(graph: SceneGraph, name: str) -> Action:
    """Return the action that puts an object to its place in a scene."""
    return Action(SET_ASIDE, (name,), as_box(graph.boxes[graph.index(name)]))


def unreachable_action(graph: SceneGraph, name: str) -> Action:
    """Return a well-formed action that no robot at a table can carry out."""
    x, _, _, width, depth, height = as_box(graph.boxes[graph.index(name)])
    target: Box = (x + OUT_OF_REACH_M, 0.0, height / 2, width, depth, height)
    return Action(SET_ASIDE, (name,), target)


def promise_holds(before: SceneGraph, after: SceneGraph, action: Action, domain: SpatialDomain = TABLETOP) -> bool:
    """Return whether the effect of an action holds; without a target, its object must at least have moved."""
    if not domain.operator_of(action).achieved(before, after, action):
        return False
    if len(action.arguments) > 1 or action.target is not None:
        return True
    i = before.index(action.arguments[0])
    return bool(np.linalg.norm(after.boxes[i, :3] - before.boxes[i, :3]) > ROOM_M)


def _room(graph: SceneGraph, box: np.ndarray[tuple[int, ...], np.dtype[np.float32]], index: int) -> float:
    """Return the gap, seen from above, to everything that reaches as low as a box."""
    others = np.delete(graph.boxes, index, axis=0)
    others = others[bottom(others) < bottom(box) + box[5]]
    return float(gaps(box, others)[:, :2].max(axis=1).min()) if len(others) else math.inf

"""Symbolic relations between the objects of a scene graph, read off the boxes.

Directions are the robot's own: it looks along +x, so `behind` is farther from the robot (+x), `front` nearer (-x),
`left` is +y and `right` -y.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.scene.geometry import CONTACT_M, bottom, footprint_overlap, gaps, top
from nsrecover.structs import FloatArray, SceneGraph

TABLE = "table"
"""Name of the surface everything stands on; not an object of the graph."""

SUPPORT_OVERLAP = 0.2
"""Share of the smaller footprint that has to be shared for one object to rest on another."""


class Relation(StrEnum):
    """A directed relation between two objects."""

    ON = "on"
    LEFT = "left"
    RIGHT = "right"
    FRONT = "front"
    BEHIND = "behind"


class Edge(NamedTuple):
    """`subject relation object`; the object is a name, or the table."""

    subject: str
    relation: Relation
    object: str


DIRECTIONS: dict[Relation, tuple[int, int]] = {
    Relation.LEFT: (1, 1),
    Relation.RIGHT: (1, -1),
    Relation.FRONT: (0, -1),
    Relation.BEHIND: (0, 1),
}
"""Axis (0 = x, 1 = y) and sign of each sideways relation."""

NEAR_M = 0.08
"""Widest gap at which two objects count as standing beside each other."""


def supporter(graph: SceneGraph, index: int) -> int | None:
    """The object that another one rests on.

    Returns:
        Index of the object whose top touches the underside and shares the largest part of the footprint; None if it
        is the table (or nothing).
    """
    box = graph.boxes[index]
    touching = np.abs(top(graph.boxes) - bottom(box)) < CONTACT_M
    share = np.where(touching, footprint_overlap(box, graph.boxes), 0.0)
    share[index] = 0.0
    if len(share) == 0 or share.max() < SUPPORT_OVERLAP:
        return None
    return int(share.argmax())


def landed(graph: SceneGraph, index: int, box: npt.ArrayLike, within_m: float) -> FloatArray:
    """A box (6,) for an object, resting on what is below or on the table: camera boxes leave it in the air or sunk in.

    Args:
        graph: the scene in which it is put there.
        index: the object.
        box: where it is to stand.
        within_m: how far it may be from what it comes to rest on.
    """
    found = np.asarray(box, dtype=np.float32).copy()
    under = footprint_overlap(found, graph.boxes) >= SUPPORT_OVERLAP
    under[index] = False
    gap = np.append(top(graph.boxes)[under], 0.0) - bottom(found)
    near = np.abs(gap) <= within_m
    if near.any():
        found[2] += gap[near].max()
    return found


def support_name(graph: SceneGraph, index: int) -> str:
    """Name of what an object rests on: another object, or the table."""
    below = supporter(graph, index)
    return TABLE if below is None else graph.names[below]


def resting_on(graph: SceneGraph, index: int) -> tuple[int, ...]:
    """Indices of the objects that rest on another one, directly."""
    box = graph.boxes[index]
    touching = np.abs(bottom(graph.boxes) - top(box)) < CONTACT_M
    share = footprint_overlap(box, graph.boxes) >= SUPPORT_OVERLAP
    return tuple(int(i) for i in np.flatnonzero(touching & share) if i != index)


def is_clear(graph: SceneGraph, index: int) -> bool:
    """Whether nothing stands on an object."""
    return not resting_on(graph, index)


def stands_beside(graph: SceneGraph, index: int, relation: Relation, reference: int) -> bool:
    """Whether an object stands on one side of another: next to it, roughly in line, and at its height."""
    axis, sign = DIRECTIONS[relation]
    a, b = graph.boxes[index], graph.boxes[reference]
    gap = gaps(a, b)[0]
    in_order = bool((a[axis] - b[axis]) * sign > 0)
    in_line = bool(gap[1 - axis] < 0)
    level = bool(abs(float(bottom(a)) - float(bottom(b))) < 2 * CONTACT_M)
    return in_order and in_line and level and bool(-CONTACT_M < gap[axis] < NEAR_M)


def relations(graph: SceneGraph) -> frozenset[Edge]:
    """All relations of a scene: who rests on whom (or on the table) and who stands beside whom."""
    edges = set()
    for i, name in enumerate(graph.names):
        edges.add(Edge(name, Relation.ON, support_name(graph, i)))
        for j, other in enumerate(graph.names):
            for relation in DIRECTIONS:
                if i != j and stands_beside(graph, i, relation, j):
                    edges.add(Edge(name, relation, other))
    return frozenset(edges)

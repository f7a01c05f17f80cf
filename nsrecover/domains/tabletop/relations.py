"""Symbolic relations between the objects of a scene graph, read off the boxes.

Directions are the robot's own: it looks along +x, so `behind` is farther from the robot (+x), `front` nearer (-x),
`left` is +y and `right` -y.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core.geometry import CONTACT_M, SAME_SIZE_M, bottom, footprint_overlap, gaps, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.util.python310 import StrEnum

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


def without_gaps(graph: SceneGraph, sides: Mapping[str, FloatArray]) -> SceneGraph:
    """The scene in which the boxes of objects that seem to float reach down to what is below: nothing floats.

    Their undersides are hidden. A box stays as it is unless the object would then be as high as one of its sides: what
    bears it may be hidden, too.

    Args:
        graph: the scene.
        sides: object -> its sides (3,) as they were seen before.
    """
    boxes = graph.boxes.copy()
    for row in np.flatnonzero(graph.seen):
        box = boxes[row]
        under = (footprint_overlap(box, boxes) >= SUPPORT_OVERLAP) & (top(boxes) < bottom(box) + CONTACT_M)
        under[row] = False
        gap = float(bottom(box)) - float(np.append(top(boxes)[under], 0.0).max())
        known = sides.get(graph.names[row])
        if known is None or row == graph.held or gap <= CONTACT_M:
            continue
        if np.abs(known - (box[5] + gap)).min() < SAME_SIZE_M:
            boxes[row, [2, 5]] += np.array([-gap / 2, gap], dtype=np.float32)
    return replace(graph, boxes=boxes)


def support_name(graph: SceneGraph, index: int) -> str:
    """Name of what an object rests on: another object, or the table."""
    below = supporter(graph, index)
    return TABLE if below is None else graph.names[below]


def resting_on(graph: SceneGraph, index: int) -> tuple[int, ...]:
    """Indices of the objects that rest on another one, directly; those that are missing do not."""
    box = graph.boxes[index]
    touching = np.flatnonzero((np.abs(bottom(graph.boxes) - top(box)) < CONTACT_M) & ~graph.missing)
    if not len(touching):
        return ()
    share = footprint_overlap(box, graph.boxes[touching]) >= SUPPORT_OVERLAP
    return tuple(int(i) for i in touching[share] if i != index)


def is_clear(graph: SceneGraph, index: int) -> bool:
    """Whether nothing stands on an object."""
    return not resting_on(graph, index)


def beside(graph: SceneGraph, relation: Relation, reference: int) -> tuple[int, ...]:
    """Indices of the objects on one side of another: next to it, roughly in line, at its height, and not missing."""
    axis, sign = DIRECTIONS[relation]
    boxes, other = graph.boxes, graph.boxes[reference]
    gap = gaps(other, boxes)
    in_order = (boxes[:, axis] - other[axis]) * sign > 0
    in_line = gap[:, 1 - axis] < 0
    level = np.abs(bottom(boxes).astype(np.float64) - float(bottom(other))) < 2 * CONTACT_M
    near = (gap[:, axis] > -CONTACT_M) & (gap[:, axis] < NEAR_M)
    return tuple(int(i) for i in np.flatnonzero(in_order & in_line & level & near & ~graph.missing))


class SpatialRelation(NamedTuple):
    """How a relation is read off boxes.

    Attributes:
        holds: whether it holds from one object, by its index, to another, or to the table (None).
        subjects: indices of the objects that stand in it to an object.
    """

    holds: Callable[[SceneGraph, int, int | None], bool]
    subjects: Callable[[SceneGraph, int], tuple[int, ...]]


def _to_the(side: Relation) -> SpatialRelation:
    return SpatialRelation(
        lambda graph, index, other: other is not None and index in beside(graph, side, other),
        lambda graph, other: beside(graph, side, other),
    )


RELATIONS: dict[str, SpatialRelation] = {
    Relation.ON: SpatialRelation(lambda graph, index, other: supporter(graph, index) == other, resting_on),
    **{side: _to_the(side) for side in DIRECTIONS},
}
"""The relations that preconditions and effects of operators may name."""


def relations(graph: SceneGraph) -> frozenset[Edge]:
    """All relations of a scene: what rests on what (or on the table), and what stands next to what."""
    edges = set()
    for i, name in enumerate(graph.names):
        edges.add(Edge(name, Relation.ON, support_name(graph, i)))
        for relation in DIRECTIONS:
            edges.update(Edge(graph.names[j], relation, name) for j in beside(graph, relation, i))
    return frozenset(edges)

"""What a demonstration looks like from different frames: candidates that a law of an operator can be written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import Box, SceneGraph

Array = npt.NDArray[np.float64]

ROW_GAP_M = 0.12
"""Widest gap between neighbours of a row."""
SQUARE_M = 0.01
"""Horizontal sides that differ by less do not show a turn."""
SIZES: dict[str, Callable[[Array], Array]] = {
    "height": lambda boxes: boxes[:, 5],
    "width": lambda boxes: boxes[:, 3:5].max(axis=1),
    "footprint": lambda boxes: boxes[:, 3] * boxes[:, 4],
    "volume": lambda boxes: boxes[:, 3:].prod(axis=1),
}
"""In what the first argument may be more than the second."""
DIRECTIONS = np.array([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])


@dataclass(frozen=True)
class Shown:
    """One demonstrated action.

    Attributes:
        graph: the scene before it.
        arguments: of the action, the moved object first.
        after: the moved object's box afterwards, metres.
    """

    graph: SceneGraph
    arguments: tuple[str, ...]
    after: Box


def kind_of(name: str) -> str:
    """The kind of an object: the last word of its name without a number."""
    words = [word for word in name.split() if not word.isdigit()]
    return words[-1] if words else name


def row_from(graph: SceneGraph, first: int, moved: int, direction: Array) -> tuple[int, int]:
    """The last object of the row that begins with an object, and how many follow the first one."""
    boxes, axis = graph.boxes.astype(float), int(np.abs(direction).argmax())
    sign, last, count = direction[axis], first, 0
    while count < len(boxes):
        here = boxes[last]
        gap = sign * (boxes[:, axis] - here[axis]) - (boxes[:, 3 + axis] + here[3 + axis]) / 2
        level = np.abs(boxes[:, 1 - axis] - here[1 - axis]) < np.minimum(boxes[:, 4 - axis], here[4 - axis]) / 2
        near = level & (gap > -0.01) & (gap < ROW_GAP_M)
        near[[last, moved]] = False
        if not near.any():
            break
        last, count = int(np.where(near, gap, np.inf).argmin()), count + 1
    return last, count


@dataclass(frozen=True)
class FramedDemonstrations:
    """All demonstrations in one frame.

    Attributes:
        axes: (N, 2, 2) the frame's axes as columns, in the table's frame.
        names: P names of features.
        features: (N, P).
        anchors: name -> (N, 2) point that a place is relative to, in the table's frame.
        sides: name of an anchor -> (N, 2) half sides of the object there, along the frame's axes.
    """

    axes: Array
    names: tuple[str, ...]
    features: Array
    anchors: dict[str, Array]
    sides: dict[str, Array]

    def local(self, vectors: Array) -> Array:
        """Vectors (N, 2) of the table's frame in this frame."""
        return np.asarray(np.einsum("nij,ni->nj", self.axes, vectors))

    def table(self, vectors: Array) -> Array:
        """Vectors (N, 2) of this frame in the table's frame."""
        return np.asarray(np.einsum("nij,nj->ni", self.axes, vectors))


def usual_sides(names: npt.NDArray[np.str_], boxes: Array, after: Array) -> dict[str, int]:
    """Where objects usually go from the second argument, by the kind of the first and of the second: see `Context`.

    Args:
        names: (N, arguments) kinds.
        boxes: (N, arguments, 6) before.
        after: (N, 6) of the moved objects.
    """
    if boxes.shape[1] < 2:
        return {}
    away = after[:, :2] - boxes[:, 1, :2]
    axis = (np.abs(away) - (after[:, 3:5] + boxes[:, 1, 3:5]) / 2).argmax(axis=1)
    way = np.where(away[np.arange(len(away)), axis] > 0, axis, axis + 2)
    found = {}
    for i in (0, 1):
        found[f"{i} "] = int(np.bincount(way).argmax())
        for kind in np.unique(names[:, i]):
            found[f"{i} {kind}"] = int(np.bincount(way[names[:, i] == kind]).argmax())
    return found


class Context:
    """Scenes and arguments of N demonstrations or queries, all with the same number of arguments.

    Args:
        scenes: with the arguments of an action each.
        kinds: the kinds that are told apart.
        sides: argument and kind, such as "0 cup" -> number of the direction in which it usually goes; without a kind
            that of all.
    """

    def __init__(
        self,
        scenes: Sequence[tuple[SceneGraph, tuple[str, ...]]],
        kinds: Sequence[str],
        sides: Mapping[str, int] | None = None,
    ) -> None:
        self._scenes = scenes
        rows = [[graph.index(name) for name in arguments] for graph, arguments in scenes]
        self._rows = rows
        self.boxes = np.array([graph.boxes[row] for (graph, _), row in zip(scenes, rows, strict=True)], dtype=float)
        self.arity = self.boxes.shape[1]
        self.kinds = tuple(kinds)
        self.sides = sides or {}
        names = self.names = np.array([[kind_of(name) for name in arguments] for _, arguments in scenes])
        self._kind_flags = {
            f"kind {i} {kind}": (names[:, i] == kind).astype(float) for i in range(min(self.arity, 2)) for kind in kinds
        }

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the candidate frames: of the table, or along a direction, exactly or to the nearest axis."""
        ways = [f"side{i}" for i in range(2) if f"{i} " in self.sides]
        ways += ["robot", "long", *(["start", "neighbour"] if self.arity > 1 else [])]
        ways += ["third"] if self.arity > 2 else []
        snapped = [f"{way} {kind}" for way in ways for kind in ("axis", "mirror")]
        return ("table", *snapped, *(f"{way} exact" for way in ways if way in ("robot", "start", "third")))

    def _way(self, name: str) -> Array:
        """(N, 2) direction of a frame's first axis."""
        base = self.boxes[:, min(1, self.arity - 1)]
        if name.startswith("side"):
            i = int(name[4:])
            usual = self.sides.get(f"{i} ", 0)
            return DIRECTIONS[[self.sides.get(f"{i} {kind}", usual) for kind in self.names[:, i]]]
        if name == "robot":
            return -base[:, :2]
        if name == "neighbour":
            return self._to_neighbour
        if name == "long":
            return np.asarray(np.where((base[:, 4] > base[:, 3])[:, None], DIRECTIONS[1], DIRECTIONS[0]))
        return np.asarray(self.boxes[:, 0 if name == "start" else 2, :2] - base[:, :2])

    def axes(self, frame: str) -> Array:
        """(N, 2, 2) axes of a frame as columns."""
        name, _, kind = frame.partition(" ")
        first = np.broadcast_to(DIRECTIONS[0], (len(self), 2)) if name == "table" else self._way(name)
        if kind != "exact":
            axis, rows = np.abs(first).argmax(axis=1), np.arange(len(self))
            first = np.eye(2)[axis] * np.where(first[rows, axis] < 0, -1.0, 1.0)[:, None]
        first = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-9)
        second = np.stack([-first[:, 1], first[:, 0]], axis=1)
        if kind == "mirror":
            second = np.abs(second)
        return np.stack([first, second], axis=2)

    @cached_property
    def _to_neighbour(self) -> Array:
        """(N, 2) from the second argument to the object that is nearest to it; arguments do not count."""
        found = np.zeros((len(self), 2))
        for number, ((graph, _), row) in enumerate(zip(self._scenes, self._rows, strict=True)):
            away = np.delete(graph.boxes[:, :2], row, axis=0).astype(float) - graph.boxes[row[1], :2]
            if len(away):
                found[number] = away[np.linalg.norm(away, axis=1).argmin()]
        return found

    @cached_property
    def _taller(self) -> Array:
        """(N,) how many objects of the scene are taller than the moved one."""
        scenes = zip(self._scenes, self._rows, strict=True)
        return np.array([(graph.boxes[:, 5] > graph.boxes[row[0], 5]).sum() for (graph, _), row in scenes], dtype=float)

    @cached_property
    def _row_ends(self) -> tuple[Array, Array]:
        """(N, 4, 6) the last object of the row in each direction of the table, and (N, 4) how many follow."""
        found = [
            [row_from(graph, row[1], row[0], way) for way in DIRECTIONS]
            for (graph, _), row in zip(self._scenes, self._rows, strict=True)
        ]
        ends = [[graph.boxes[i] for i, _ in each] for (graph, _), each in zip(self._scenes, found, strict=True)]
        return np.array(ends, dtype=float), np.array([[count for _, count in each] for each in found], dtype=float)

    def view(self, frame: str, turned: npt.NDArray[np.bool_]) -> FramedDemonstrations:
        """The scenes in a frame, with the moved objects as they are turned afterwards (N,)."""
        axes, boxes = self.axes(frame), self.boxes.copy()
        boxes[turned, 0, 3:5] = boxes[turned, 0, 4:2:-1]
        half = np.einsum("nij,nki->nkj", np.abs(axes), boxes[:, :, 3:5] / 2)
        columns = {f"half {i} {axis}": half[:, i, axis] for i in range(self.arity) for axis in (0, 1)}
        columns |= {f"height {i}": boxes[:, i, 5] / 2 for i in range(self.arity)}
        columns |= {f"longest {i}": boxes[:, i, 3:5].max(axis=1) / 2 for i in range(self.arity)}
        anchors = {f"object {i}": boxes[:, i, :2] for i in range(self.arity)}
        sides = {f"object {i}": half[:, i] for i in range(self.arity)}
        base = boxes[:, min(1, self.arity - 1), :2]
        for i in [i for i in range(self.arity) if i != 1 and self.arity > 1]:
            way = np.einsum("nij,ni->nj", axes, boxes[:, i, :2] - base)
            columns |= {f"way {i} {axis}": way[:, axis] for axis in (0, 1)}
        if frame == "table":
            anchors["table"], sides["table"] = np.zeros((len(self), 2)), np.zeros((len(self), 2))
            columns |= {f"place {i} {axis}": boxes[:, i, axis] for i in range(self.arity) for axis in (0, 1)}
            columns["taller"] = self._taller
        if self.arity > 1 and not frame.endswith("exact"):
            ends, counts = self._row_ends
            for number, way in enumerate(DIRECTIONS):
                chosen = np.einsum("nij,j->ni", axes, way) @ DIRECTIONS.T
                rows, which = np.arange(len(self)), chosen.argmax(axis=1)
                end = ends[rows, which]
                anchors[f"row {number}"] = end[:, :2]
                sides[f"row {number}"] = np.einsum("nij,ni->nj", np.abs(axes), end[:, 3:5] / 2)
                columns[f"count {number}"] = counts[rows, which]
        columns |= self._kind_flags
        return FramedDemonstrations(axes, tuple(columns), np.stack(list(columns.values()), axis=1), anchors, sides)

    @cached_property
    def conditions(self) -> dict[str, Array]:
        """What the law may depend on: name -> (N,) values; kinds are flags."""
        found = dict(self._kind_flags)
        for i in range(self.arity):
            found |= {f"height {i}": self.boxes[:, i, 5], f"width {i}": self.boxes[:, i, 3:5].max(axis=1)}
        found |= {f"slender {i}": self.boxes[:, i, 3] - self.boxes[:, i, 4] for i in range(self.arity)}
        found |= {f"place {i} {axis}": self.boxes[:, i, axis] for i in range(min(2, self.arity)) for axis in (0, 1)}
        if self.arity > 1:
            first, second = self.boxes[:, 0], self.boxes[:, 1]
            found |= {f"way {axis}": (first - second)[:, axis] for axis in (0, 1)}
            found |= {f"more {name}": size(first) - size(second) for name, size in SIZES.items()}
        return found

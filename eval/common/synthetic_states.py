"""Synthetic error states of any size: boxes on a large table, with the appearance of real objects.

The simulator's scenes have at most 14 objects, because of the arm's reach. For more objects, boxes are put on a larger
table, singly and in towers; a short plan is imagined with the learned transition model, and the objects of some towers
are stacked anew in each other's places. Appearance and size of every box are those of a real object.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from eval.common.systems import system_of
from nsrecover.core import Action, Discrepancy, FloatArray, Plan, SceneGraph, Trace
from nsrecover.core.geometry import intersects, top
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.domains.tabletop.relations import supporter
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import is_free
from nsrecover.records.recording import example
from nsrecover.system import System

ORDINARY = 10
"""Number of objects for the normal table; for more, its area grows in proportion."""

STACKED = 0.3
"""Share of the objects that are on others at the start."""

HIGHEST_M = 0.20
"""Greatest height of an object that supports others."""

ROOM_M = 0.02
"""Gap between objects on the table."""

MOVED_M = 0.025
"""Least distance of an object that counts as misplaced."""

NOISE_M = 0.001
"""Standard deviation of observed places."""

TRIES = 400
STEPS = 5
"""Length of the plan."""


Appearance = tuple[FloatArray, FloatArray]
"""Appearance (D,) and size (3,) of a real object."""


@dataclass(frozen=True, eq=False)
class SyntheticErrorState:
    """Error state without a simulator.

    Attributes:
        graph: the observed scene.
        trace: the imagined plan.
        discrepancy: verdict of the monitor.
        misplaced: displaced objects.
    """

    graph: SceneGraph
    trace: Trace
    discrepancy: Discrepancy
    misplaced: frozenset[str]


@cache
def of_example(checkpoint: str | None) -> list[Appearance]:
    """Return the appearances of the objects of the shipped episode to a checkpoint."""
    scene = system_of(checkpoint).perceiver()(example("collapse").observations[0])
    return list(zip(scene.visual, scene.boxes[:, 3:], strict=True))


def enlarged(system: System, objects: int) -> System:
    """Return a system for a larger table and an arm that reaches all of it."""
    if objects <= ORDINARY:
        return system
    x_min, y_min, x_max, y_max = system.model.bundle.workspace
    factor = math.sqrt(objects / ORDINARY)
    middle, half = (y_min + y_max) / 2, factor * (y_max - y_min) / 2
    workspace = (x_min, middle - half, x_min + factor * (x_max - x_min), middle + half)
    far = math.hypot(workspace[2], half + abs(middle))
    bundle: Bundle = copy(system.model.bundle)
    bundle.config = replace(bundle.config, workspace=workspace, reach_m=(bundle.config.reach_m[0], far))
    return system.with_model(replace(system.model, models=bundle))


def problem(
    system: System, bank: Sequence[Appearance], objects: int, errors: int, rng: np.random.Generator
) -> SyntheticErrorState:
    """Draw a scene and a plan; at one step some objects are stacked anew.

    Args:
        system: for a table of this size, from `enlarged`.
        bank: appearances of objects.
        objects: number of objects.
        errors: so many objects or a few more are stacked anew in each other's places.
        rng: the source of randomness.

    Raises:
        InvalidConfiguration: there is no room for so many objects or errors.
    """
    for _ in range(20):
        looks = [bank[int(i)] for i in rng.integers(len(bank), size=objects)]
        start = _start(system, looks, rng)
        trace = None if start is None else _trace(system, start, rng)
        if start is None or trace is None:
            continue
        step = int(rng.integers(STEPS))
        found = _stacked_anew(trace.graphs[step + 1], errors, rng)
        if found is None:
            continue
        boxes, misplaced = found
        boxes[:, :2] += np.clip(rng.normal(0.0, NOISE_M, (objects, 2)), -3 * NOISE_M, 3 * NOISE_M)
        graph = replace(start, boxes=boxes)
        names = frozenset(graph.names[i] for i in misplaced)
        return SyntheticErrorState(graph, trace, system.comparison.after(graph, trace, step), names)
    raise InvalidConfiguration(
        f"expected room for {objects} objects and {errors} errors, found none in 20 tries; ask for fewer"
    )


def _start(system: System, looks: Sequence[Appearance], rng: np.random.Generator) -> SceneGraph | None:
    """Draw a scene with single objects and towers."""
    count = len(looks)
    boxes = np.zeros((0, 6), np.float32)
    for _, size in looks:
        clear = [j for j in range(len(boxes)) if _bears(boxes, j, size)]
        if clear and rng.random() < STACKED:
            place = _on(boxes[clear[int(rng.integers(len(clear)))]], size)
        else:
            spot = _somewhere(system, size, boxes, rng)
            if spot is None:
                return None
            place = spot
        boxes = np.concatenate([boxes, place[None]])
    names = tuple(f"object {i}" for i in range(count))
    return SceneGraph(names, np.stack([visual for visual, _ in looks]), boxes, np.ones(count, np.bool_))


def _bears(boxes: FloatArray, index: int, size: FloatArray) -> bool:
    """Whether an object supports another one of a size."""
    box = boxes[index]
    if float(top(box)) > HIGHEST_M or (box[3:5] < 0.6 * size[:2]).any():
        return False
    placed = _on(box, size)
    return not intersects(placed, np.delete(boxes, index, axis=0)).any()


def _on(box: FloatArray, size: FloatArray) -> FloatArray:
    return np.array([*box[:2], float(top(box)) + size[2] / 2, *size], dtype=np.float32)


def _somewhere(system: System, size: FloatArray, boxes: FloatArray, rng: np.random.Generator) -> FloatArray | None:
    """Draw a free place on the table."""
    x_min, y_min, x_max, y_max = system.model.bundle.workspace
    for _ in range(TRIES):
        place = np.array([rng.uniform(x_min, x_max), rng.uniform(y_min, y_max), size[2] / 2, *size], dtype=np.float32)
        if is_free(place, boxes, system.model.bundle, ROOM_M):
            return place
    return None


def _trace(system: System, start: SceneGraph, rng: np.random.Generator) -> Trace | None:
    """Draw and imagine a plan; None if none was found."""
    operators = ("top", "top", "left", "right", "front", "behind")
    graphs, actions = [start], list[Action]()
    for _ in range(TRIES):
        if len(actions) == STEPS:
            return Trace(Plan(tuple(actions)), tuple(graphs))
        graph = graphs[-1]
        i, j = rng.choice(len(graph), 2, replace=False)
        action = Action(operators[int(rng.integers(len(operators)))], (graph.names[i], graph.names[j]))
        if operator_of(action).violated(graph, action):
            continue
        if action.operator == "top" and not _bears(graph.boxes, int(j), graph.boxes[i, 3:]):
            continue
        if action.operator != "top" and graph.boxes[j, 2] > graph.boxes[j, 5]:  # next to an object on a tower
            continue
        after = system.imagination.step(graph, action)
        others = np.delete(after.boxes, i, axis=0)
        x, y = after.boxes[i, :2]
        x_min, y_min, x_max, y_max = system.model.bundle.workspace
        inside = x_min < x < x_max and y_min < y < y_max
        if inside and not intersects(after.boxes[i], others, 0.0).any():
            graphs.append(after)
            actions.append(action)
    return None


def _stacked_anew(graph: SceneGraph, count: int, rng: np.random.Generator) -> tuple[FloatArray, set[int]] | None:
    """Take towers apart and stack their objects anew on the same spots; return the boxes and the displaced objects."""
    columns = {i: [i] for i in range(len(graph)) if supporter(graph, i) is None}
    for i in np.argsort(graph.boxes[:, 2]).tolist():
        for column in columns.values():
            if supporter(graph, i) == column[-1]:
                column.append(i)
    towers, taken = [list(each) for each in columns.values()], list[list[int]]()
    for number in rng.permutation(len(towers)).tolist():
        if sum(map(len, taken)) < count:
            taken.append(towers[number])
    every = [i for tower in taken for i in tower]
    for _ in range(TRIES):
        boxes, order = graph.boxes.copy(), rng.permutation(every).tolist()
        stands = all(_pile(boxes, graph.boxes[tower[0], :2], [order.pop() for _ in tower]) for tower in taken)
        if stands and all(not intersects(boxes[i], np.delete(boxes, i, axis=0)).any() for i in every):
            far = np.linalg.norm(boxes[:, :3] - graph.boxes[:, :3], axis=1) > MOVED_M
            return boxes, set(np.flatnonzero(far).tolist())
    return None


def _pile(boxes: FloatArray, spot: FloatArray, objects: Sequence[int]) -> bool:
    """Put objects on each other at a spot (2,), the lowest first; False if one is too wide for what is below it."""
    height = 0.0
    for below, i in zip([None, *objects], objects, strict=False):
        if below is not None and (boxes[below, 3:5] < 0.6 * boxes[i, 3:5]).any():
            return False
        boxes[i, :2], boxes[i, 2] = spot, height + boxes[i, 5] / 2
        height += float(boxes[i, 5])
    return True

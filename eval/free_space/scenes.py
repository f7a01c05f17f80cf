"""Scenes in which an object must be set aside: from the simulator's plans, and synthetic ones of up to 20 objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.relations import is_clear
from nsrecover.models.free_place import Table
from nsrecover.training.free_space import random_scene
from sim.tabletop.sampling import Structure, nominal_box, nominal_graph, sample_plan, sample_scene

SIMULATOR, SYNTHETIC = "simulator", "synthetic"
MOST_OF_SIMULATOR = 10
"""Most objects that fit with the gaps that the simulator's arm needs."""
LONGEST_PLAN = 6


@dataclass(frozen=True)
class PlacementProblem:
    """Object that must leave its place.

    Attributes:
        source: `SIMULATOR` or `SYNTHETIC`.
        objects: number of objects in the scene.
        box: (6,) the object.
        obstacles: (M, 6) boxes to keep free: all other objects, its own place, and places that the plan needs.
    """

    source: str
    objects: int
    box: FloatArray
    obstacles: FloatArray


@dataclass(frozen=True)
class ProposedPlace:
    """Place that one method proposes for one problem.

    Attributes:
        place: (6,), None if the method found none.
        free: whether it keeps the gap of the problem.
        moved_m: distance from the place of the object; nan if there is none.
    """

    place: FloatArray | None
    free: bool
    moved_m: float


@dataclass(frozen=True)
class JudgedProblem:
    """A problem with the places that all methods propose.

    Attributes:
        problem: scene and object.
        gap_m: the largest of `nsrecover.models.free_place.MARGINS_M` that leaves a free place; None if none does.
        nearest_m: distance of the nearest place with that gap; nan if there is none.
        keeps: gap -> whether the raw proposal keeps it, for gaps that leave a free place.
        on_grid_mm: how much farther the nearest point of the dense grid is; nan if none is free.
        answers: by method.
    """

    problem: PlacementProblem
    gap_m: float | None
    nearest_m: float
    keeps: dict[float, bool]
    on_grid_mm: float
    answers: dict[str, ProposedPlace]


def problems(seed: int, counts: Sequence[int], scenes: int, table: Table) -> Iterator[PlacementProblem]:
    """Yield scenes for every number of objects, synthetic ones and, if they fit, of the simulator.

    Training uses other seeds.

    Args:
        seed: the same seed gives the same scenes.
        counts: numbers of objects.
        scenes: of every number and source.
        table: its workspace is what synthetic scenes fill.
    """
    for count in counts:
        for number in range(scenes):
            rng = np.random.default_rng([seed, count, number])
            yield _synthetic(rng, count, table)
            if count <= MOST_OF_SIMULATOR:
                yield _of_a_plan(rng, count)


def _synthetic(rng: np.random.Generator, count: int, table: Table) -> PlacementProblem:
    boxes = random_scene(rng, count, np.asarray(table.workspace))
    return PlacementProblem(SYNTHETIC, count, boxes[int(rng.integers(count))], boxes)


def _of_a_plan(rng: np.random.Generator, count: int) -> PlacementProblem:
    """Return a clear object in the middle of a plan; the places that the plan needs stay empty."""
    scene = sample_scene(rng, count)
    plan = sample_plan(rng, scene, Structure.MIXED, int(rng.integers(1, min(count, LONGEST_PLAN) + 1)))
    graphs = [nominal_graph(scene)]
    for action in plan:
        moved = graphs[-1].index(action.arguments[0])
        graphs.append(graphs[-1].with_node(moved, nominal_box(graphs[-1], action)))
    done = int(rng.integers(len(graphs)))
    now = graphs[done]
    clear = [index for index in range(count) if is_clear(now, index)]
    needed = [
        after.boxes[after.index(action.arguments[0])]
        for action, after in zip(plan.actions[done:], graphs[done + 1 :], strict=True)
    ]
    return PlacementProblem(SIMULATOR, count, now.boxes[int(rng.choice(clear))], np.stack([*now.boxes, *needed]))

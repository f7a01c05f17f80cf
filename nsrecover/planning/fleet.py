"""Many recovery searches at once, for fleets of robots and for sweeps.

The tables of all error states are worked out together (`nsrecover.planning.fleet_tables`); then the searches
(`nsrecover.planning.fleet_search`) take turns, and the free places that any of them wait for are proposed in one call.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from nsrecover.core.scene import FloatArray
from nsrecover.models.free_place import find_free_places
from nsrecover.models.protocols import RecoveryModels
from nsrecover.planning.fleet_search import FleetSearch, Search, Wanted
from nsrecover.planning.fleet_tables import compared, packed_models
from nsrecover.planning.neural_model import Move, State
from nsrecover.planning.packed import PackedModel
from nsrecover.planning.placement import FreePlaces, proposed_place
from nsrecover.planning.problem import Problem
from nsrecover.planning.search import SearchResult

Answer = tuple[PackedModel, SearchResult[State, Move]]


def search_together(
    models: RecoveryModels,
    problems: Sequence[Problem],
    free_places: FreePlaces = proposed_place,
    budget_s: float | None = None,
    max_expansions: int | None = None,
) -> list[Answer]:
    """Find the cheapest way back for each of many error states, where every action costs one.

    Args:
        models: the learned parts.
        problems: the error states.
        free_places: finds free places for what is in the way; the proposed ones are found for many states at once.
        budget_s: wall time for all of them together, in seconds; None: no limit.
        max_expansions: nodes that each search may expand; None: no limit.

    Returns:
        For each problem what was searched and what was found.
    """
    began = time.perf_counter()

    def time_is_up() -> bool:
        return budget_s is not None and time.perf_counter() - began >= budget_s

    packed = packed_models(models, problems)
    results: list[SearchResult[State, Move] | None] = [None] * len(packed)
    running: list[tuple[int, Search, Sequence[int] | None]] = [
        (i, FleetSearch(model, max_expansions, time_is_up).run(), None) for i, model in enumerate(packed)
    ]
    while running:
        asked: list[tuple[int, Search, Wanted]] = []
        pausing: list[tuple[int, Search, Sequence[int] | None]] = []
        for i, search, places in running:
            try:
                wanted = next(search) if places is None else search.send(places)
            except StopIteration as finished:
                results[i] = finished.value
                continue
            if wanted is None:
                pausing.append((i, search, None))
            else:
                asked.append((i, search, wanted))
        made = _make_places(models, free_places, [(packed[i], wanted) for i, _, wanted in asked])
        running = pausing + [(i, search, places) for (i, search, _), places in zip(asked, made, strict=True)]
    return [(model, result) for model, result in zip(packed, results, strict=True) if result is not None]


def _make_places(
    models: RecoveryModels, free_places: FreePlaces, asked: Sequence[tuple[PackedModel, Wanted]]
) -> list[list[int]]:
    """Add free places to the models that want one; their numbers."""
    boxes = [model.tables.boxes[wanted.here] for model, wanted in asked]
    obstacles = [model.obstacles(wanted.here, wanted.occupied) for model, wanted in asked]
    if free_places is proposed_place:
        found: list[list[FloatArray]] = [[] for _ in asked]
        for attempt in range(2):
            open_ones = [row for row, places in enumerate(found) if not places]
            chosen = [obstacles[row][attempt] for row in open_ones]
            for row, place in zip(
                open_ones, find_free_places(models, [boxes[r] for r in open_ones], chosen), strict=True
            ):
                found[row] = [] if place is None else [place]
    else:
        found = [[*free_places(models, box, those)] for box, those in zip(boxes, obstacles, strict=True)]
    return _add(models, [(model, wanted.here, places) for (model, wanted), places in zip(asked, found, strict=True)])


def _add(models: RecoveryModels, fresh: Sequence[tuple[PackedModel, int, Sequence[FloatArray]]]) -> list[list[int]]:
    """Compare all fresh places with what the scenes have for their objects, in one call, and add them."""
    pairs = [
        (model, here, box, goal)
        for model, here, boxes in fresh
        for box in boxes
        for goal in model.goals_of(model.tables.owner[here])
    ]
    if not pairs:
        return [[] for _ in fresh]
    values = compared(
        models,
        np.stack([model.tables.visual[goal] for model, _, _, goal in pairs]),
        np.stack([model.tables.boxes[goal] for model, _, _, goal in pairs]),
        np.stack([model.tables.visual[here] for model, here, _, _ in pairs]),
        np.stack([box for _, _, box, _ in pairs]),
    )
    left = deque(values.tolist())
    numbers = []
    for model, here, boxes in fresh:
        goals = model.goals_of(model.tables.owner[here])
        numbers.append([model.grow(here, box, {goal: left.popleft() for goal in goals}) for box in boxes])
    return numbers

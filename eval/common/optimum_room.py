"""Places on the table for objects that an optimal recovery sets aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eval.common.optimum import ASIDE, Array, Move, Puzzle
from sim.common.rotations import matrix_of
from sim.tabletop.placing import extents

GAPS_M = (0.045, 0.02, 0.006)
"""Gaps around an object that is set aside: room for a finger on every side if possible, at least no contact."""

GRID_M = 0.01
"""Spacing of the candidate places."""


@dataclass(frozen=True, eq=False)
class Placing:
    """Move of an optimal recovery with its target.

    Attributes:
        name: of the object.
        box: (6,) its target.
        aside: whether the object is set aside.
    """

    name: str
    box: Array
    aside: bool


def room_for(puzzle: Puzzle, steps: Sequence[Move]) -> bool:
    """Whether the table has room for all objects that are set aside, as long as they stay there."""
    return placings(puzzle, steps) is not None


def placings(puzzle: Puzzle, steps: Sequence[Move]) -> list[Placing] | None:
    """Return the targets of all moves; None if the table has no room for an object that is set aside."""
    now, aside, found = puzzle.start, dict[int, Array](), list[Placing]()
    for k, step in enumerate(steps):
        now = (*now[: step.owner], step.spot, *now[step.owner + 1 :])
        aside.pop(step.owner, None)
        if step.spot != ASIDE:
            found.append(Placing(puzzle.names[step.owner], _box(puzzle, step.spot), False))
            continue
        back = next((m for m in range(k + 1, len(steps)) if steps[m].owner == step.owner), len(steps))
        meanwhile = {s for s in now if s != ASIDE} | {later.spot for later in steps[k + 1 : back]} - {ASIDE}
        box = _room(puzzle, step.owner, [*(_box(puzzle, s) for s in sorted(meanwhile)), *aside.values()])
        if box is None:
            return None
        aside[step.owner] = box
        found.append(Placing(puzzle.names[step.owner], box, True))
    return found


def _box(puzzle: Puzzle, s: int) -> Array:
    spot = puzzle.spots[s]
    return np.concatenate([spot.position, extents(matrix_of(spot.orientation), puzzle.sizes[spot.owner])])


def _room(puzzle: Puzzle, owner: int, boxes: Sequence[Array]) -> Array | None:
    """Return the nearest empty place on the table for an object, as a box (6,)."""
    box, (x_min, y_min, x_max, y_max, near, far) = _box(puzzle, owner), puzzle.area
    x, y = np.meshgrid(np.arange(x_min, x_max, GRID_M), np.arange(y_min, y_max, GRID_M), indexing="ij")
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    distance = np.linalg.norm(places, axis=1)
    obstacles = np.array(boxes).reshape(-1, 6)
    apart = np.abs(places[:, None] - obstacles[None, :, :2]) - (obstacles[None, :, 3:5] + box[3:5]) / 2
    reachable = (distance > near) & (distance < far)
    for gap in GAPS_M:
        free = np.all(apart.max(axis=2) > gap, axis=1) & reachable
        if free.any():
            break
    else:
        return None
    away = np.where(free, np.linalg.norm(places - box[:2], axis=1), np.inf)
    return np.array([*places[int(away.argmin())], box[5] / 2, *box[3:]])

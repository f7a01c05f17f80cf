"""A free place on the table for an object: the learned proposal where it holds, a grid search where it does not."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from nsrecover.structs import FloatArray

MARGINS_M = (0.03, 0.015, 0.006)
"""Gaps to all other boxes that are tried in turn: room for the fingers of a gripper first, then less."""

GRID_M = 0.01
"""Spacing of the grid of the fallback."""


class Table(Protocol):
    """Where a robot can put things down and pick them up."""

    @property
    def workspace(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max of the table that things are put down on, metres."""
        ...

    @property
    def reach_m(self) -> tuple[float, float]:
        """Nearest and farthest distance from the robot's base, along the table, at which it can grasp."""
        ...


class FreeSpaceModel(Table, Protocol):
    """What is asked for a proposal."""

    def free_box(self, boxes: npt.ArrayLike, moved: npt.ArrayLike) -> FloatArray:
        """Proposed boxes (B, 6) for the moved objects (B,) of scenes (B, N, 6)."""
        ...


def within_reach(centres: FloatArray, table: Table) -> npt.NDArray[np.bool_]:
    """Whether the robot can grasp at places (..., 2 or more) on the table: (...,)."""
    distance = np.linalg.norm(centres[..., :2], axis=-1)
    return np.asarray((distance >= table.reach_m[0]) & (distance <= table.reach_m[1]), dtype=np.bool_)


def is_free(box: FloatArray, obstacles: FloatArray, table: Table, gap_m: float) -> bool:
    """Whether a box (6,) stands in reach inside the workspace with a gap to all obstacles (M, 6), seen from above."""
    return bool(_free(box[None, :2], box[3:5], obstacles, table, gap_m)[0])


def _free(
    centres: FloatArray,
    size: FloatArray,
    obstacles: FloatArray,
    table: Table,
    gap_m: float,
) -> npt.NDArray[np.bool_]:
    """Which centres (C, 2) are free for a footprint of size (2,)."""
    low, high = np.asarray(table.workspace[:2]) + size / 2, np.asarray(table.workspace[2:]) - size / 2
    inside = np.all((centres >= low) & (centres <= high), axis=1) & within_reach(centres, table)
    reach = (size + obstacles[:, 3:5]) / 2 + gap_m
    hit = np.all(np.abs(centres[:, None] - obstacles[None, :, :2]) < reach, axis=-1).any(axis=1)
    return np.asarray(inside & ~hit, dtype=np.bool_)


def find_free_place(model: FreeSpaceModel, box: FloatArray, obstacles: FloatArray) -> FloatArray | None:
    """A box on the table that runs into nothing.

    The network's proposal is checked; if it fails at a margin, the nearest point of a grid over the workspace that
    holds is taken; then a smaller margin is tried.

    Args:
        model: makes the proposal and knows the workspace.
        box: (6,) the object as it stands; it is no obstacle itself, unless it is among the obstacles.
        obstacles: (M, 6) everything to keep clear of.

    Returns:
        (6,) of the object's size, resting on the table; None if there is no room.
    """
    scene = np.concatenate([box[None], obstacles]).astype(np.float32)
    proposal = np.asarray(model.free_box(scene[None], np.zeros(1, dtype=np.int64))[0], dtype=np.float32)
    proposal[3:] = box[3:]
    proposal[2] = box[5] / 2
    x_min, y_min, x_max, y_max = model.workspace
    grid: FloatArray | None = None
    for gap_m in MARGINS_M:
        if is_free(proposal, obstacles, model, gap_m):
            return proposal
        if grid is None:
            x, y = np.meshgrid(np.arange(x_min, x_max, GRID_M), np.arange(y_min, y_max, GRID_M), indexing="ij")
            grid = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
        free = np.flatnonzero(_free(grid, box[3:5], obstacles, model, gap_m))
        if len(free):
            nearest = free[np.linalg.norm(grid[free] - box[:2], axis=1).argmin()]
            proposal[:2] = grid[nearest]
            return proposal
    return None

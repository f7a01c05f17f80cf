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


class FreeSpaceModel(Protocol):
    """What is asked for a proposal."""

    @property
    def workspace(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max of the reachable table, metres."""
        ...

    def free_box(self, boxes: npt.ArrayLike, moved: npt.ArrayLike) -> FloatArray:
        """Proposed boxes (B, 6) for the moved objects (B,) of scenes (B, N, 6)."""
        ...


def is_free(box: FloatArray, obstacles: FloatArray, workspace: tuple[float, float, float, float], gap_m: float) -> bool:
    """Whether a box (6,) stands inside the workspace with a gap to all obstacles (M, 6), seen from above."""
    return bool(_free(box[None, :2], box[3:5], obstacles, workspace, gap_m)[0])


def _free(
    centres: FloatArray,
    size: FloatArray,
    obstacles: FloatArray,
    workspace: tuple[float, float, float, float],
    gap_m: float,
) -> npt.NDArray[np.bool_]:
    """Which centres (C, 2) are free for a footprint of size (2,)."""
    low, high = np.asarray(workspace[:2]) + size / 2, np.asarray(workspace[2:]) - size / 2
    inside = np.all((centres >= low) & (centres <= high), axis=1)
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
        if is_free(proposal, obstacles, model.workspace, gap_m):
            return proposal
        if grid is None:
            x, y = np.meshgrid(np.arange(x_min, x_max, GRID_M), np.arange(y_min, y_max, GRID_M), indexing="ij")
            grid = np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
        free = np.flatnonzero(_free(grid, box[3:5], obstacles, model.workspace, gap_m))
        if len(free):
            nearest = free[np.linalg.norm(grid[free] - box[:2], axis=1).argmin()]
            proposal[:2] = grid[nearest]
            return proposal
    return None

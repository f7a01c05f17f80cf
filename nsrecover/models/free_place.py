"""A free place on the table for an object: the nearest one, exactly, or the checked proposal of a network."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray

MARGINS_M = (0.03, 0.015, 0.006)
"""Gaps to all other boxes that are tried in turn: room for the fingers of a gripper first, then less."""

SLACK_M = 1e-5
"""Distance of the nearest place from borders, so that rounding does not put it inside."""

ALIKE_M = 0.005
"""A footprint that sticks out of another one by no more than this is merged with it: the same place, imagined twice."""

Points = npt.NDArray[np.floating]
"""Coordinates of either precision."""


class Table(Protocol):
    """Places where a robot can put things down and pick them up."""

    @property
    def workspace(self) -> tuple[float, float, float, float]:
        """x_min, y_min, x_max, y_max of the table that things are put down on, metres."""

    @property
    def reach_m(self) -> tuple[float, float]:
        """Nearest and farthest distance from the robot's base, along the table, at which it can grasp."""


class FreeSpaceModel(Table, Protocol):
    """A table with a model that proposes free places."""

    def free_box(self, boxes: npt.ArrayLike, moved: npt.ArrayLike) -> FloatArray:
        """Proposed boxes (B, 6) for the moved objects (B,) of scenes (B, N, 6)."""


def within_reach(centres: Points, table: Table) -> npt.NDArray[np.bool_]:
    """Whether the robot can grasp at places (..., 2 or more) on the table: (...,)."""
    distance = np.linalg.norm(centres[..., :2], axis=-1)
    return np.asarray((distance >= table.reach_m[0]) & (distance <= table.reach_m[1]), dtype=np.bool_)


def is_free(box: FloatArray, obstacles: FloatArray, table: Table, gap_m: float) -> bool:
    """Whether a box (6,) stands in reach inside the workspace with a gap to all obstacles (M, 6), seen from above."""
    return bool(are_free(box[None, :2], box[3:5], obstacles, table, gap_m)[0])


def are_free(centres: Points, size: Points, obstacles: FloatArray, table: Table, gap_m: float) -> npt.NDArray[np.bool_]:
    """Which centres (C, 2) are free for a footprint of size (2,), as `is_free` means it: (C,)."""
    low, high = np.asarray(table.workspace[:2]) + size / 2, np.asarray(table.workspace[2:]) - size / 2
    inside = np.all((centres >= low) & (centres <= high), axis=1) & within_reach(centres, table)
    reach = (size + obstacles[:, 3:5]) / 2 + gap_m
    hit = np.all(np.abs(centres[:, None] - obstacles[None, :, :2]) < reach, axis=-1).any(axis=1)
    return np.asarray(inside & ~hit, dtype=np.bool_)


def nearest_free_place(box: FloatArray, obstacles: FloatArray, table: Table, gap_m: float) -> FloatArray | None:
    """The free place nearest to a box, to a hundredth of a millimetre.

    Seen from above, a centre is free outside of rectangles (the obstacles, widened by half the box and the gap), inside
    one (the workspace, narrowed) and between two circles (the reach). The nearest such point is the centre itself, its
    projection on a border, or a point where two borders cross. All of these are tested; those on straight borders form
    a grid, which one matrix product tests against all rectangles.

    Args:
        box: (6,) the object as it stands; it is no obstacle itself, unless it is among the obstacles.
        obstacles: (M, 6) everything to keep clear of.
        table: its workspace and the robot's reach.
        gap_m: to keep to every obstacle.

    Returns:
        (6,) of the object's size, resting on the table; None if there is no room.
    """
    centre, size = box[:2].astype(np.float64), box[3:5].astype(np.float64)
    middles = obstacles[:, :2].astype(np.float64)
    half = (size + obstacles[:, 3:5]) / 2 + gap_m
    low = np.asarray(table.workspace[:2]) + size / 2 + SLACK_M
    high = np.asarray(table.workspace[2:]) - size / 2 - SLACK_M
    axes, inside = [], []  # for x and y: coordinates of the centre and all borders; which obstacles they lie in (C, M)
    for i in range(2):
        borders = (middles[:, i] - half[:, i] - SLACK_M, middles[:, i] + half[:, i] + SLACK_M)
        values = np.concatenate([centre[i : i + 1], low[i : i + 1], high[i : i + 1], *borders])
        values = values[(values >= low[i]) & (values <= high[i])]
        axes.append(values)
        inside.append((np.abs(values[:, None] - middles[:, i]) < half[:, i]).astype(np.float32))
    x, y = axes
    blocked = inside[0] @ inside[1].T > 0
    squared = (x[:, None] ** 2) + y**2
    reach = (table.reach_m[0] + SLACK_M, table.reach_m[1] - SLACK_M)
    blocked |= (squared < reach[0] ** 2) | (squared > reach[1] ** 2)
    away = np.where(blocked, np.inf, (x[:, None] - centre[0]) ** 2 + (y - centre[1]) ** 2)
    best = np.unravel_index(away.argmin(), away.shape) if away.size else None
    nearest = None if best is None or np.isinf(away[best]) else np.array([x[best[0]], y[best[1]]])
    on_circles = _on_circles(centre, x, y, reach)
    # most tables lie within reach: then no circle is nearer than what was found
    distance = np.linalg.norm(on_circles - centre, axis=1)
    if nearest is not None:
        nearer = distance < np.sqrt(away[best])
        on_circles, distance = on_circles[nearer], distance[nearer]
    if len(on_circles):
        free = np.flatnonzero(are_free(on_circles, size, obstacles, table, gap_m))
        if len(free):
            nearest = on_circles[free[distance[free].argmin()]]
    if nearest is None:
        return None
    return np.array([*nearest, box[5] / 2, *box[3:]], dtype=np.float32)


def _on_circles(centre: Points, x: Points, y: Points, radii: tuple[float, float]) -> Points:
    """Where circles about the robot's base cross lines at x (X,) and y (Y,), and their points nearest to a centre."""
    points = []
    for radius in radii:
        for values, order in ((x, (0, 1)), (y, (1, 0))):
            along = values[np.abs(values) <= radius]
            across = np.sqrt(radius**2 - along**2)
            for sign in (-1.0, 1.0):
                points.append(np.stack([along, sign * across], axis=1)[:, order])
        distance = float(np.linalg.norm(centre))
        if distance > 0:
            points.append(centre[None] * radius / distance)
    return np.concatenate(points)


def find_free_place(table: Table, box: FloatArray, obstacles: FloatArray) -> FloatArray | None:
    """The nearest collision-free box on the table, with the largest of `MARGINS_M` that there is room for.

    Args:
        table: its workspace and the robot's reach.
        box: (6,) the object as it stands; it is no obstacle itself, unless it is among the obstacles.
        obstacles: (M, 6) everything to keep clear of.

    Returns:
        (6,) of the object's size, resting on the table; None if there is no room.
    """
    places = (nearest_free_place(box, obstacles, table, gap_m) for gap_m in MARGINS_M)
    return next((place for place in places if place is not None), None)


def proposed_free_place(model: FreeSpaceModel, box: FloatArray, obstacles: FloatArray) -> FloatArray | None:
    """The same with a network that proposes the place (Kalithasan et al., section V, item 2).

    The proposal is checked. If it does not keep the gap, the nearest place that does is taken; if there is none, a
    smaller gap is tried.

    Args:
        model: makes the proposal and knows the workspace.
        box: as for `find_free_place`.
        obstacles: likewise.
    """
    scene = np.concatenate([box[None], footprints(obstacles)]).astype(np.float32)
    proposal = np.asarray(model.free_box(scene[None], np.zeros(1, dtype=np.int64))[0], dtype=np.float32)
    proposal[3:] = box[3:]
    proposal[2] = box[5] / 2
    for gap_m in MARGINS_M:
        if is_free(proposal, obstacles, model, gap_m):
            return proposal
        nearest = nearest_free_place(box, obstacles, model, gap_m)
        if nearest is not None:
            return nearest
    return None


def footprints(obstacles: FloatArray) -> FloatArray:
    """Fewer boxes with the same footprint, seen from above, to about `ALIKE_M`.

    A tower, or a place that occurs in many imagined scenes, becomes one footprint. The network then gets about as many
    boxes as in training and answers sooner; its proposal is checked against all obstacles.

    Args:
        obstacles: (M, 6).

    Returns:
        (L, 6) some of them, L <= M, in the same order; each that stands for others is wider by `ALIKE_M` on all sides.
    """
    low = obstacles[:, :2] - obstacles[:, 3:5] / 2
    high = obstacles[:, :2] + obstacles[:, 3:5] / 2
    covered = np.all((low[:, None] >= low - ALIKE_M) & (high[:, None] <= high + ALIKE_M), axis=-1)  # (M, M) by whom
    rank = np.empty(len(obstacles), dtype=np.intp)
    rank[np.argsort(-obstacles[:, 3] * obstacles[:, 4], kind="stable")] = np.arange(len(obstacles))
    spare = covered & (rank[:, None] > rank)  # to a larger one: the largest of those alike always stays
    kept = ~spare.any(axis=1)
    found: FloatArray = obstacles[kept]
    found[spare[:, kept].any(axis=0), 3:5] += 2 * ALIKE_M
    return found

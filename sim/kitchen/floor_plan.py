"""Where the base can stand and how it gets there: an occupancy test of the floor and a path on a grid."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.common.rounding import rounded
from sim.kitchen.robot import BASE_RADIUS_M, BasePose

Array = npt.NDArray[np.float64]

CLEARANCE_M = 0.02
"""Least distance between the base and furniture."""
_ROOMY_M = 0.24
"""Within this distance of something tall the arm could touch it; paths avoid that if they can."""
_CELL_M = 0.06
_DETOUR = 4.0
"""How much longer a way may be to keep away from tall things."""
_NEIGHBOURS = [(i, j, math.hypot(i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]


@dataclass(frozen=True)
class Obstacle:
    """A rectangle on the floor.

    Attributes:
        centre: x and y, metres.
        half: half sides in its own frame, metres.
        yaw: of its frame, radians.
        tall: whether it is higher than the stowed arm.
    """

    centre: tuple[float, float]
    half: tuple[float, float]
    yaw: float
    tall: bool


@dataclass(frozen=True)
class FloorPlan:
    """The obstacles on the floor, and the extent in which the base drives.

    Attributes:
        obstacles: furniture and open doors.
        low: smallest x and y, metres.
        high: largest x and y, metres.
    """

    obstacles: tuple[Obstacle, ...]
    low: tuple[float, float] = (-3.2, -3.6)
    high: tuple[float, float] = (1.6, 3.6)

    def distance(self, points: Array, tall_only: bool = False) -> Array:
        """Distance (N,) of points (N, 2) to the nearest obstacle, metres; infinite if there is none."""
        nearest = np.full(len(points), math.inf)
        for obstacle in self.obstacles:
            if tall_only and not obstacle.tall:
                continue
            cos, sin = math.cos(obstacle.yaw), math.sin(obstacle.yaw)
            local = (points - np.asarray(obstacle.centre)) @ np.array([[cos, -sin], [sin, cos]])
            outside = np.maximum(np.abs(local) - np.asarray(obstacle.half), 0.0)
            nearest = np.minimum(nearest, np.hypot(outside[:, 0], outside[:, 1]))
        return rounded(nearest)

    def free(self, points: Array) -> npt.NDArray[np.bool_]:
        """Whether the base can stand with its centre at points (N, 2)."""
        inside = ((points >= np.asarray(self.low)) & (points <= np.asarray(self.high))).all(axis=1)
        return np.asarray(inside & (self.distance(points) >= BASE_RADIUS_M + CLEARANCE_M))

    def path(self, start: BasePose, goal: BasePose) -> list[BasePose] | None:
        """A path without collision; None if there is none. The heading turns evenly along it."""
        corners = self._corners((start.x, start.y), (goal.x, goal.y))
        if corners is None:
            return None
        lengths = [math.dist(a, b) for a, b in itertools.pairwise(corners)]
        total = sum(lengths) or 1.0
        turn = math.remainder(goal.yaw - start.yaw, 2 * math.pi)
        poses, done = [start], 0.0
        for corner, length in zip(corners[1:], lengths, strict=True):
            done += length
            poses.append(BasePose(corner[0], corner[1], start.yaw + turn * done / total))
        poses.append(goal)
        return poses

    def _corners(self, start: tuple[float, float], goal: tuple[float, float]) -> list[tuple[float, float]] | None:
        if self._clear(start, goal):
            return [start, goal]
        cells = self._search(start, goal)
        if cells is None:
            return None
        points = [start, *cells[1:-1], goal]
        # shortcuts between what sees each other
        result, at = [points[0]], 0
        while at < len(points) - 1:
            step = len(points) - 1
            while step > at + 1 and not self._clear(points[at], points[step]):
                step -= 1
            result.append(points[step])
            at = step
        return result

    def _clear(self, first: tuple[float, float], second: tuple[float, float]) -> bool:
        """Whether the base can go straight, without coming nearer to something tall than it must."""
        count = max(2, math.ceil(math.dist(first, second) / 0.03))
        line = np.linspace(first, second, count)
        if not self.free(line[1:-1]).all():
            return False
        away = self.distance(line, tall_only=True) - BASE_RADIUS_M
        return bool((away >= min(_ROOMY_M, away[0], away[-1]) - 1e-9).all())

    def _search(self, start: tuple[float, float], goal: tuple[float, float]) -> list[tuple[float, float]] | None:
        """A shortest path over the cells of a grid (A*)."""
        low, high = np.asarray(self.low), np.asarray(self.high)
        shape = tuple(((high - low) / _CELL_M).astype(int) + 1)
        axes = [low[i] + _CELL_M * np.arange(shape[i]) for i in (0, 1)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        free = self.free(points).reshape(shape)
        near = (self.distance(points, tall_only=True).reshape(shape) - BASE_RADIUS_M) < _ROOMY_M
        first, last = (self._nearest(free, axes, point) for point in (start, goal))
        if first is None or last is None:
            return None
        best, parents = {first: 0.0}, {first: first}
        open_list: list[tuple[float, tuple[int, int]]] = [(0.0, first)]
        closed: set[tuple[int, int]] = set()
        while open_list:
            _, cell = heapq.heappop(open_list)
            if cell == last:
                break
            if cell in closed:
                continue
            closed.add(cell)
            for i, j, length in _NEIGHBOURS:
                other = (cell[0] + i, cell[1] + j)
                if not (0 <= other[0] < shape[0] and 0 <= other[1] < shape[1]) or not free[other]:
                    continue
                cost = best[cell] + length * (_DETOUR if near[other] else 1.0)
                if cost < best.get(other, math.inf):
                    best[other], parents[other] = cost, cell
                    heapq.heappush(open_list, (cost + math.dist(other, last), other))
        if last not in parents:
            return None
        chain = [last]
        while chain[-1] != first:
            chain.append(parents[chain[-1]])
        return [(float(axes[0][i]), float(axes[1][j])) for i, j in reversed(chain)]

    def _nearest(
        self, free: npt.NDArray[np.bool_], axes: Sequence[Array], point: tuple[float, float]
    ) -> tuple[int, int] | None:
        """The free cell nearest to a point; None if none is within 20 cm."""
        cells = np.argwhere(free)
        places = np.stack([axes[0][cells[:, 0]], axes[1][cells[:, 1]]], axis=1)
        gaps = np.linalg.norm(places - np.asarray(point), axis=1)
        if not len(gaps) or gaps.min() > 0.2:
            return None
        i, j = cells[int(gaps.argmin())]
        return int(i), int(j)

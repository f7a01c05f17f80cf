"""Where objects are while an action runs: a quick look at one frame, without appearance and without memory.

What is visible is compared with the few places where each object may be, so that an object that the arm hides in part
is neither moved nor smaller. Nothing is encoded, and cameras are not watched; that is for the observation after the
action.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from nsrecover.core import Observation
from nsrecover.core.glances import Glance, Numbers, RobotState
from nsrecover.core.scene import SceneGraph
from nsrecover.perception.cameras.visibility import seen_through
from nsrecover.perception.lifting import lift_views

CLOSER_M = 0.001
"""The tool is at an object where it was nearest to it; coming nearer by less than this is noise."""
FEWEST = 30
"""A mask with fewer points shows an object mostly hidden, and next to the arm it shows the arm as well."""
MOVED_M = 0.02
"""An object that fits a mask where it was is preferred by so much to one that may have come there, metres."""
UNLIKE_M = 0.05
"""What the names of a detector are worth, if it gives any, in metres of distance."""


class ActionGlances:
    """The frames of one action.

    Args:
        before: the scene before the action.
        expected: the scene after it, as imagined.
        moved: the object that the action moves.
        time_s: when it began.
    """

    def __init__(self, before: SceneGraph, expected: SceneGraph, moved: str, time_s: float) -> None:
        self._names = before.names
        self._row, self._since = before.index(moved), time_s
        after = [
            expected.boxes[expected.index(name)] if name in expected.names else box
            for name, box in zip(before.names, before.boxes, strict=True)
        ]
        self._places = np.stack([before.boxes, np.array(after)], axis=1).astype(np.float32)  # (N, 2, 6)
        self._tool_m = np.full(3, np.inf)
        self._misfit: Numbers | None = None

    def look(self, observation: Observation, robot: RobotState) -> Glance:
        """What a frame shows."""
        start, goal = self._places[self._row]
        tool = np.asarray(robot.tool_m, dtype=np.float64)
        if np.linalg.norm(tool - start[:3]) < np.linalg.norm(self._tool_m - start[:3]) - CLOSER_M:
            self._tool_m = tool
        places = np.array([start, self._carried(tool, start, goal), goal], dtype=np.float32)
        points = self._points(observation, places)
        row = self._row
        beyond = _outside_all(points[row], places)
        others = np.array([_outside_all(own, at).min() for own, at in zip(points, self._places, strict=True)])
        if self._misfit is None:  # a box that was wrong before does not begin to move with the action
            self._misfit = np.nan_to_num(others)
        others = np.maximum(others - self._misfit, 0.0)
        empty, hidden = np.zeros(len(others), np.float32), np.isnan(others)
        hidden[row] = False
        empty[hidden] = seen_through(observation, self._places[hidden].reshape(-1, 6)).reshape(-1, 2).min(axis=1)
        sides = start[3:]
        return Glance(
            observation.time_s - self._since,
            robot.opening_m,
            _apart(tool, start),
            _apart(tool, goal),
            float(sides[np.argmin(np.abs(sides - robot.opening_m))]),
            beyond,
            seen_through(observation, places),
            np.delete(others, row),
            np.delete(empty, row),
        )

    def _carried(self, tool: Numbers, start: Numbers, goal: Numbers) -> Numbers:
        """Where the moved object is if the gripper has it: it may turn about the vertical on its way."""
        across = np.maximum(start[3:], goal[3:])
        across[:2] = np.hypot(*across[:2])
        return np.concatenate([start[:3] + tool - self._tool_m, across])

    def _points(self, observation: Observation, moved: Numbers) -> list[list[Numbers]]:
        """Points (M, 3) on what is visible of each object, for each view that shows it."""
        points: list[list[Numbers]] = [[] for _ in self._names]
        for _, _, found, numbers in lift_views(observation):
            counts = zip(*np.unique(numbers, return_counts=True), strict=True)
            shown = [number for number, count in counts if count >= FEWEST]
            parts = [found[numbers == number] for number in shown]
            costs = np.empty((len(parts), len(points)))
            for i, (number, part) in enumerate(zip(shown, parts, strict=True)):
                label = observation.labels.get(int(number))
                for column, name in enumerate(self._names):
                    away = _outside(part, moved if column == self._row else self._places[column])
                    away[1:] += MOVED_M
                    costs[i, column] = away.min() + UNLIKE_M * (label in self._names and label != name)
            for i, column in zip(*linear_sum_assignment(costs), strict=True):
                points[column].append(parts[i])
        return points


def _outside_all(views: list[Numbers], places: Numbers) -> Numbers:
    """`_outside` in the view that shows an object nearest to each place: in another one its mask may be mistaken."""
    if not views:
        return np.full(len(places), np.nan)
    return np.asarray(np.min([_outside(points, places) for points in views], axis=0))


def _outside(points: Numbers, places: Numbers) -> Numbers:
    """Distance of half of the points (M, 3) from each of some boxes (P, 6) at least: (P,), metres."""
    away = np.maximum(np.abs(points[:, None] - places[None, :, :3]) - places[None, :, 3:] / 2, 0.0)
    return np.asarray(np.median(np.linalg.norm(away, axis=-1), axis=0))


def _apart(tool: Numbers, box: Numbers) -> Numbers:
    offset = tool - box[:3]
    return np.array([np.hypot(offset[0], offset[1]), offset[2]])

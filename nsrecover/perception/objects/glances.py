"""Where objects are while an action runs: a quick look at one frame, without appearance and without memory.

What is visible is compared with the few places where each object may be, so that an object that the arm hides in part
is neither moved nor smaller. Nothing is encoded, and cameras are not watched; that is for the observation after the
action.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from nsrecover.core import Observation
from nsrecover.core.glances import PHASES, Glance, Numbers, RobotState
from nsrecover.core.scene import SceneGraph
from nsrecover.perception.cameras.visibility import seen_through
from nsrecover.perception.lifting import lift_views


@dataclass(frozen=True)
class GlanceRules:
    """What frames during an action show.

    Attributes:
        settled_m: fingers that move by less than this between two frames have closed on the object.
        fewest: a mask with fewer points shows an object mostly hidden, and next to the arm it shows the arm as well.
        points: no more points of a mask are looked at.
        hand_m: points that are horizontally nearer to the tool, and higher above it, are of the hand that hides an
            object.
        piece_m: what has its centre within a box, or so near to it, is a piece of that object: another one is thicker.
        moved_m: an object that fits a mask where it was is preferred by so much to one that may have come there,
            metres.
        unlike_m: what the names of a detector are worth, if it gives any, in metres of distance.
        first: boxes grow to what each camera sees first of an object, in so many first frames: a box that was wrong
            before is no deviation.
        grown_m: a mask that reaches farther beyond a box than this does not show that object.
        edge: share of the points of a mask that are left out on each side when a box grows: they lie on edges.
    """

    settled_m: float = 0.001
    fewest: int = 30
    points: int = 300
    hand_m: tuple[float, float] = (0.12, 0.06)
    piece_m: float = 0.01
    moved_m: float = 0.02
    unlike_m: float = 0.05
    first: int = 3
    grown_m: float = 0.05
    edge: float = 0.05


RULES = GlanceRules()


class ActionGlances:
    """The frames of one action.

    Args:
        before: the scene before the action.
        expected: the scene after it, as imagined.
        moved: the object that the action moves.
        time_s: when it began.

    Attributes:
        names: the objects that are looked at, without pieces of the moved one that were taken for objects.
    """

    def __init__(self, before: SceneGraph, expected: SceneGraph, moved: str, time_s: float) -> None:
        own = before.boxes[before.index(moved)]
        piece = (np.abs(before.boxes[:, :3] - own[:3]) < own[3:] / 2 + RULES.piece_m).all(axis=1)
        boxes = {name: before.boxes[i] for i, name in enumerate(before.names) if name == moved or not piece[i]}
        self.names, self._since = tuple(boxes), time_s
        self._row = self.names.index(moved)
        after = [expected.boxes[expected.index(name)] if name in expected.names else boxes[name] for name in boxes]
        self._places = np.stack([list(boxes.values()), after], axis=1).astype(np.float32)  # (N, 2, 6)
        self._place, self._phase = self._places[self._row, 0], PHASES[0]  # of the moved object
        self._last: RobotState | None = None
        self._taken: Numbers | None = None
        self._closed_m, self._frames = np.nan, 0
        self._empty: Numbers | None = None
        self._grown = set[tuple[int, int]]()

    def look(self, observation: Observation, robot: RobotState) -> Glance:
        """What a frame shows."""
        row, tool = self._row, np.asarray(robot.tool_m, dtype=np.float64)
        self._follow(robot, tool)
        points = self._points(observation, tool)
        if self._frames < RULES.first and self._phase == PHASES[0]:
            self._grow(points)
            self._place = self._places[row, 0]
        self._frames += 1
        place = self._place[None].astype(np.float32)
        others = np.array([_outside_all(own, at).min() for own, at in zip(points, self._places, strict=True)])
        empty, hidden = np.zeros(len(others), np.float32), np.isnan(others)
        hidden[row] = False
        empty[hidden] = seen_through(observation, self._places[hidden].reshape(-1, 6)).reshape(-1, 2).min(axis=1)
        if self._empty is None:
            self._empty = empty
        return Glance(
            observation.time_s - self._since,
            self._phase,
            float(np.nan_to_num(robot.opening_m - self._closed_m)),
            float(_outside_all(points[row], place)[0]),
            float(seen_through(observation, self._core()[None])[0]),
            np.delete(others, row),
            np.delete(np.maximum(empty - self._empty, 0.0), row),
        )

    def _follow(self, robot: RobotState, tool: Numbers) -> None:
        """Move the place of the moved object with the hand that has it: it may turn about the vertical on its way."""
        last, self._last = self._last, robot
        if robot.gripping and (last is None or not last.gripping):
            across = self._places[self._row, :, 3:].max(axis=0)
            across[:2] = np.hypot(*across[:2])
            self._taken = np.concatenate([self._place[:3] - tool, across])
            self._phase, self._closed_m = PHASES[1], np.nan
            return
        if last is None or not last.gripping or self._taken is None:
            return
        if not robot.gripping:  # the hand has let go where it was lowest
            tool = min(tool, np.asarray(last.tool_m), key=lambda each: float(each[2]))
            self._phase, self._closed_m = PHASES[2], np.nan
        elif np.isnan(self._closed_m) and abs(robot.opening_m - last.opening_m) < RULES.settled_m:
            self._closed_m = robot.opening_m
        self._place = self._taken + np.pad(tool, (0, 3))

    def _core(self) -> Numbers:
        """The part of its place that the moved object fills, however it is turned about the vertical, (6,)."""
        core: Numbers = self._place.astype(np.float32)
        if self._phase != PHASES[0]:
            core[3:5] = self._places[self._row, :, 3:5].min()
        return core

    def _grow(self, points: list[dict[int, Numbers]]) -> None:
        """Make boxes hold what cameras see of their objects for the first time."""
        for row, views in enumerate(points):
            for view, part in views.items():
                if (row, view) in self._grown:
                    continue
                self._grown.add((row, view))
                low, high = np.quantile(part, (RULES.edge, 1 - RULES.edge), axis=0)
                centre, half = self._places[row, 0, :3], self._places[row, 0, 3:] / 2
                below, above = np.maximum(centre - half - low, 0.0), np.maximum(high - centre - half, 0.0)
                if max(below.max(), above.max()) < RULES.grown_m:
                    self._places[row, :, :3] += (above - below) / 2
                    self._places[row, :, 3:] += above + below

    def _points(self, observation: Observation, tool: Numbers) -> list[dict[int, Numbers]]:
        """Points (M, 3) on what is visible of each object, by the views that show it."""
        moved = np.concatenate([self._place[None], self._places[self._row]])
        points: list[dict[int, Numbers]] = [{} for _ in self.names]
        for view, (_, _, found, numbers) in enumerate(lift_views(observation)):
            hand = np.linalg.norm(found[:, :2] - tool[:2], axis=1) < RULES.hand_m[0]
            hand &= found[:, 2] > tool[2] + RULES.hand_m[1]
            found, numbers = found[~hand], numbers[~hand]
            counts = zip(*np.unique(numbers, return_counts=True), strict=True)
            shown = [number for number, count in counts if count >= RULES.fewest]
            parts = [found[numbers == number] for number in shown]
            parts = [part[:: 1 + len(part) // RULES.points] for part in parts]
            costs = np.empty((len(parts), len(points)))
            for i, (number, part) in enumerate(zip(shown, parts, strict=True)):
                label = observation.labels.get(int(number))
                for column, name in enumerate(self.names):
                    away = _outside(part, moved if column == self._row else self._places[column])
                    away[1:] += RULES.moved_m
                    costs[i, column] = away.min() + RULES.unlike_m * (label in self.names and label != name)
            for i, column in zip(*linear_sum_assignment(costs), strict=True):
                points[column][view] = parts[i]
        return points


def _outside_all(views: dict[int, Numbers], places: Numbers) -> Numbers:
    """`_outside` in the view that shows an object nearest to each place: in another one its mask may be mistaken."""
    if not views:
        return np.full(len(places), np.nan)
    return np.asarray(np.min([_outside(points, places) for points in views.values()], axis=0))


def _outside(points: Numbers, places: Numbers) -> Numbers:
    """Distance of half of the points (M, 3) from each of some boxes (P, 6) at least: (P,), metres."""
    away = np.maximum(np.abs(points[:, None] - places[None, :, :3]) - places[None, :, 3:] / 2, 0.0)
    return np.asarray(np.median(np.linalg.norm(away, axis=-1), axis=0))

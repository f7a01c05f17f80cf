"""The arm's controller has wrong estimates of the objects' places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from nsrecover.domains.tabletop.relations import resting_on, supporter
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.placing import boxes, true_graph
from sim.tabletop.poses import PoseEstimates

SWEPT_M = 0.015
"""The load hits a structure this close to its straight path."""
TALL_M = 0.085
"""The arm passes over lower structures even if it does not know of them."""


@dataclass(frozen=True)
class Misled(Fault):
    """For one action, the pose estimates of some objects are wrong, and the arm relies on them.

    With `height_share` below 1 the estimated tower is lower than the true one, and the arm hits it.

    Attributes:
        names: the objects with wrong estimates.
        offset_m: estimated minus true place.
        height_share: estimated height as a share of the true one.
    """

    kind: ClassVar[str] = "misled"
    error_class: ClassVar[ErrorClass] = ErrorClass.MOTION
    cause: ClassVar[Cause] = Cause.TOPPLED
    needs_arm: ClassVar[bool] = True

    names: tuple[str, ...]
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    height_share: float = 1.0

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The goal tower with a lower estimate; or a tower near the path with a lower or displaced estimate."""
        moved = moment.action.arguments[0]
        if moved in moment.taken:
            return None
        options = []
        for tower, heights, is_goal in _towers(moment):
            if moment.taken & set(tower):
                continue
            if is_goal:
                options.append(cls(moment.step, tower, height_share=round(believed_share(heights), 4)))
            else:
                options.append(cls(moment.step, tower, height_share=round(float(rng.uniform(0.1, 0.4)), 3)))
                # the estimate is at the other end of the table
                side = 0.6 if moment.before.positions[moment.before.index(tower[0]), 1] < 0 else -0.6
                options.append(cls(moment.step, tower, offset_m=(0.0, side, 0.0)))
        return options[int(rng.integers(len(options)))] if options else None

    def touched(self, action: Action) -> frozenset[str]:
        """The objects that are hit, and the load."""
        return frozenset([*self.names, action.arguments[0]])

    def cause_of(self, name: str, action: Action) -> Cause:
        """The load counts as dropped, the others as toppled."""
        return Cause.DROPPED if name == action.arguments[0] else self.cause

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift the controller's estimates."""
        for name in self.names:
            if name in estimates:
                height = float(estimates.positions[estimates.index(name), 2])
                lower = np.array([0.0, 0.0, height * (self.height_share - 1.0)])
                estimates = estimates.shifted(name, np.asarray(self.offset_m) + lower)
        return estimates


def believed_share(heights: Sequence[float]) -> float:
    """The `height_share` of a tower with which the arm hits the two highest blocks.

    The goal of the carried block is then the place of the second highest one: the arm knocks the two away and does not
    press on the rest.

    Args:
        heights: of the blocks from the lowest to the highest, metres.
    """
    centre = sum(heights) - heights[-1] / 2
    believed = sum(heights[:-2]) - heights[-1] / 2
    return believed / centre


def _towers(moment: Moment) -> Iterator[tuple[tuple[str, ...], list[float], bool]]:
    """Towers that the load would hit: their objects and heights from the lowest up, and whether one is its goal."""
    graph, here = true_graph(moment.before), boxes(moment.before)
    moved = graph.index(moment.action.arguments[0])
    start = here[moved, :2]
    goal = moment.after.positions[moment.after.index(graph.names[moved]), :2]
    for peak in range(len(graph)):
        if peak == moved or resting_on(graph, peak):
            continue
        tower: list[int] = [peak]
        while (below := supporter(graph, tower[0])) is not None and below not in tower:
            tower.insert(0, below)
        height = float(here[peak, 2] + here[peak, 5] / 2)
        if len(tower) < 2 or height < TALL_M or moved in tower:
            continue
        is_goal = moment.action.operator == "top" and graph.names[peak] == moment.action.arguments[1]
        shares = np.linspace(0.15, 0.85, 30)
        way = start + shares[:, None] * (goal - start)
        gaps = np.abs(way - here[peak, :2]) - (here[peak, 3:5] + here[moved, 3:5]) / 2
        if is_goal or bool(np.any(gaps.max(axis=1) < -SWEPT_M)):
            yield tuple(graph.names[i] for i in tower), [float(here[i, 5]) for i in tower], is_goal

"""The arm's controller is wrong about where things are."""

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
"""A structure this near to the straight way of the load is run into."""
TALL_M = 0.085
"""Lower structures than this are passed over even by an arm that does not know of them."""


@dataclass(frozen=True)
class Misled(Fault):
    """For one action, the pose estimates of some objects are off; the arm moves as if they were right.

    With `height_share` below 1 a tower is believed to be lower than it is, and the arm sweeps into it.

    Attributes:
        names: the objects the estimates are wrong about.
        offset_m: how far they are believed to be from where they are.
        height_share: the height they are believed to be at, as a share of the true one.
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
        """A tower that is to be built on is believed lower; one beside the way is believed lower, or elsewhere."""
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
                # as if it stood at the other end of the table
                side = 0.6 if moment.before.positions[moment.before.index(tower[0]), 1] < 0 else -0.6
                options.append(cls(moment.step, tower, offset_m=(0.0, side, 0.0)))
        return options[int(rng.integers(len(options)))] if options else None

    def touched(self, action: Action) -> frozenset[str]:
        """What is run into, and the load."""
        return frozenset([*self.names, action.arguments[0]])

    def cause_of(self, name: str, action: Action) -> Cause:
        """The load is knocked out of the gripper, the others over."""
        return Cause.DROPPED if name == action.arguments[0] else self.cause

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift what the controller believes."""
        for name in self.names:
            if name in estimates:
                height = float(estimates.positions[estimates.index(name), 2])
                lower = np.array([0.0, 0.0, height * (self.height_share - 1.0)])
                estimates = estimates.shifted(name, np.asarray(self.offset_m) + lower)
        return estimates


def believed_share(heights: Sequence[float]) -> float:
    """As what share of its height the arm shall take a tower, so that it sweeps into the two highest blocks.

    The carried block then is to be set down where the second highest one was: the arm knocks the two away and does not
    press on what is left.

    Args:
        heights: of the blocks from the lowest to the highest, metres.
    """
    centre = sum(heights) - heights[-1] / 2
    believed = sum(heights[:-2]) - heights[-1] / 2
    return believed / centre


def _towers(moment: Moment) -> Iterator[tuple[tuple[str, ...], list[float], bool]]:
    """Towers that the load would run into: their objects and heights from the lowest up, and whether it goes on top."""
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

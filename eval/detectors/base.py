"""What a failure detector is: a similarity of what is expected and what is seen, and the values it alarms below."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from eval.detectors.reference import References
from nsrecover.core.actions import Trace
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph


@dataclass(frozen=True, eq=False)
class Moment:
    """A scene after an action, which is the scene before the next one.

    Attributes:
        step: number of the action, from 0.
        expected: the scene as it was imagined.
        trace: everything that is imagined of the plan, with the objects that have appeared since.
        seen: the scene as it is perceived.
        observation: the pictures that it is perceived from.
    """

    step: int
    expected: SceneGraph
    trace: Trace
    seen: SceneGraph
    observation: Observation


class Scores(NamedTuple):
    """How much a moment is like what was expected; the lower, the more suspicious.

    Attributes:
        after: of the action that was just carried out.
        before: of the next one, which is not carried out yet; None if there is none.
    """

    after: float
    before: float | None


class Detector(Protocol):
    """Compares a scene with what was expected of it."""

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The scores below which it alarms, as its authors use it."""
        ...

    def scores(self, moment: Moment, references: References) -> Scores:
        """Judge a moment.

        Args:
            moment: the expected and the perceived scene graph, the same for every detector, and the observation.
            references: the same moment in successful runs, only for those that compare pictures.
        """
        ...


def both(moment: Moment, score: float) -> Scores:
    """The scores of a detector that compares scenes only: before an action as after the last one."""
    return Scores(score, score if moment.step + 1 < len(moment.trace.plan) else None)


def part(graph: SceneGraph, rows: npt.NDArray[np.intp]) -> SceneGraph:
    """Some of the objects of a scene."""
    return replace(
        graph,
        names=tuple(graph.names[row] for row in rows),
        visual=graph.visual[rows],
        boxes=graph.boxes[rows],
        seen=graph.seen[rows],
        occluded=None if graph.occluded is None else graph.occluded[rows],
        held=None,
    )

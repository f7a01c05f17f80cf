"""Interface of failure detectors: a similarity of expected and observed scenes, with alarm thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from eval.detectors.reference import References
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace


@dataclass(frozen=True, eq=False)
class Moment:
    """Scene after an action, and before the next one.

    Attributes:
        step: number of the action, from 0.
        expected: the imagined scene.
        trace: the imagined plan, with objects that have appeared since.
        seen: the perceived scene.
        observation: the images.
    """

    step: int
    expected: SceneGraph
    trace: Trace
    seen: SceneGraph
    observation: Observation


class Detector(Protocol):
    """Comparison of a scene with its expectation."""

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Scores below which the detector alarms, as its authors use it."""
        ...

    def score(self, moment: Moment, references: References) -> float:
        """Similarity of a moment with the expectation; low scores are suspicious.

        Args:
            moment: expected and perceived scene graph, the same for every detector, and the observation.
            references: the same moment in successful runs, for detectors that compare images.
        """
        ...


def part(graph: SceneGraph, rows: npt.NDArray[np.intp]) -> SceneGraph:
    """Return a scene graph with some of its objects."""
    return replace(graph.chosen([graph.names[row] for row in rows]), held=None)

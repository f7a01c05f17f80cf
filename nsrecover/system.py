"""The parts put together: what `nsrecover.load()` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.explain import GroundedExplainer
from nsrecover.imagine import Imagination
from nsrecover.models.bundle import Bundle
from nsrecover.monitor import Monitor
from nsrecover.perceive import ScenePerceiver
from nsrecover.planning.recover import RecoveryPlanner
from nsrecover.protocols import Explainer


@dataclass(frozen=True)
class System:
    """Perception, imagination, monitor, planner and explainer around one checkpoint; each usable alone.

    Attributes:
        bundle: the learned parts.
        explainer: puts discrepancies into words.
    """

    bundle: Bundle
    explainer: Explainer = field(default_factory=GroundedExplainer)

    def perceiver(self) -> ScenePerceiver:
        """A fresh perceiver; one for each episode, since it remembers."""
        return ScenePerceiver(self.bundle)

    @property
    def imagination(self) -> Imagination:
        """What the scene should look like after an action or a plan."""
        return Imagination(self.bundle)

    @property
    def monitor(self) -> Monitor:
        """What is not as it should be."""
        return Monitor(self.bundle)

    @property
    def planner(self) -> RecoveryPlanner:
        """The way back."""
        return RecoveryPlanner(self.bundle)


def load(checkpoint: str | Path | None = None) -> System:
    """Load a checkpoint.

    Args:
        checkpoint: folder of a checkpoint; the shipped one (tabletop) by default.

    Raises:
        InvalidCheckpoint: it is missing, damaged or does not fit.
    """
    return System(Bundle.load(checkpoint))

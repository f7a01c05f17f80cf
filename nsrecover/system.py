"""The parts put together: what `nsrecover.load()` returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from nsrecover.explain import GroundedExplainer
from nsrecover.imagine import Imagination
from nsrecover.models.bundle import Bundle
from nsrecover.monitor import Monitor
from nsrecover.perceive import ScenePerceiver
from nsrecover.planning.recover import RecoveryPlanner, Rejoin
from nsrecover.protocols import Explainer


@dataclass(frozen=True)
class System:
    """Perception, imagination, monitor, planner and explainer around one checkpoint; each usable alone.

    Attributes:
        bundle: the learned parts.
        explainer: puts discrepancies into words.
        rejoin: what counts as being back on the plan.
    """

    bundle: Bundle
    explainer: Explainer = field(default_factory=GroundedExplainer)
    rejoin: Rejoin = Rejoin.POSE

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
        return RecoveryPlanner(self.bundle, rejoin=self.rejoin)


def load(checkpoint: str | Path | None = None, alpha: float | None = None) -> System:
    """Load a checkpoint.

    Args:
        checkpoint: folder of a checkpoint; the shipped one (tabletop) by default.
        alpha: false-alarm rate per successful step that the monitor shall keep to, in the long run and in scenes like
            those of training; the lower, the larger a deviation has to be to be noticed. None: the checkpoint's own
            threshold, which is made for deviations of 2 cm.

    Raises:
        InvalidCheckpoint: it is missing, damaged or does not fit, or was calibrated on too few steps for the rate.
        InvalidConfiguration: the rate is out of its range.
    """
    bundle = Bundle.load(checkpoint)
    if alpha is not None:
        bundle.config = replace(bundle.config, threshold=bundle.threshold_for(alpha))
    return System(bundle)

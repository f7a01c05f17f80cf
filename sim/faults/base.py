"""The hooks through which a fault acts on the simulated world.

A fault is physics, not a label: it misleads the arm's controller, weakens its grip, or moves objects by an outside
hand. Faults hold parameters, not state; what they do may depend on the step number and the given generator only, so
that an episode can be saved, restored and repeated exactly.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from nsrecover.structs import Action
from sim.poses import PoseEstimates

if TYPE_CHECKING:
    from sim.world import TabletopWorld


class SkillPhase(StrEnum):
    """The phases of a pick-and-place, in order."""

    APPROACH = "approach"
    """From home to the object, fingers open."""
    GRASP = "grasp"
    """Closing the fingers."""
    LIFT = "lift"
    """Straight up to transit height."""
    TRANSPORT = "transport"
    """Sideways, at transit height."""
    LOWER = "lower"
    """Down to the place."""
    RELEASE = "release"
    """Opening the fingers."""
    RETREAT = "retreat"
    """Up and back home."""


class Fault:
    """A fault that does nothing; subclasses override the hooks they need.

    `step` counts the calls of `TabletopWorld.execute` from 0. Hooks of several faults run in the order in which the
    faults were given.
    """

    def estimates(self, step: int, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Called once, before the arm moves: what the controller shall believe. Returns the (distorted) estimates."""
        return estimates

    def during(self, world: TabletopWorld, step: int, action: Action, phase: SkillPhase, progress: float) -> None:
        """Called every few physics steps while the arm moves.

        Useful here: `world.weaken_grip(force_n=..., friction=...)`, which lasts until the end of the action.

        Args:
            world: the world; do not call `execute`, `observe`, `carry` or `restore` on it from here.
            step: number of the action.
            action: the action.
            phase: what the arm is doing.
            progress: share of the phase that is done, 0 to 1. Every phase that takes place is reported at least once
                with progress 0 and once with progress 1.
        """

    def after(self, world: TabletopWorld, step: int, action: Action) -> None:
        """Called when the arm is home again; `world.carry` moves objects by an outside hand."""

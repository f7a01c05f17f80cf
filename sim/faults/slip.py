"""The gripper loses what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsrecover.structs import Action
from sim.faults.base import Fault, SkillPhase

if TYPE_CHECKING:
    from sim.world import TabletopWorld


@dataclass(frozen=True)
class Slip(Fault):
    """The fingers go slack on the way, and the object falls from where it is.

    Attributes:
        progress: share of the phase's time after which it happens, 0 to 1.
        phase: what the arm is doing then.
    """

    progress: float = 0.5
    phase: SkillPhase = SkillPhase.TRANSPORT

    def during(self, world: TabletopWorld, action: Action, phase: SkillPhase, progress: float) -> None:
        """Take force and friction from the fingers."""
        if phase is self.phase and progress >= self.progress:
            world.weaken_grip(force_n=0.0, friction=0.0)

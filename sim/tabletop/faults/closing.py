"""The object slides out of the fingers, which then close on nothing, as those of a gripper under force control do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nsrecover.core.actions import Action
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.drop import Drop
from sim.tabletop.faults.slip import Slip
from sim.tabletop.phases import SkillPhase

OUT_M = 0.055
"""An object whose centre is farther from the tool than this is out of the fingers."""


def _press_on(context: FaultContext, action: Action) -> None:
    """Give the fingers their force back, once nothing is between them."""
    if float(np.linalg.norm(context.scene.in_hand(action.arguments[0])[0])) > OUT_M:
        context.grip.weaken_grip(friction=0.0)


@dataclass(frozen=True)
class DropClosing(Drop):
    """As `Drop`, but the fingers close when the object has left them; there, they stay slack."""

    kind: ClassVar[str] = "drop_closing"
    needs_arm: ClassVar[bool] = True

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Remove the friction, and the force until the object has left the fingers."""
        super().during(context, action, phase, progress)
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            _press_on(context, action)


@dataclass(frozen=True)
class SlipClosing(Slip):
    """As `Slip`, but the fingers close when the object has left them; there, they stay slack."""

    kind: ClassVar[str] = "slip_closing"
    needs_arm: ClassVar[bool] = True

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Reduce friction, and the force until the object has left the fingers."""
        super().during(context, action, phase, progress)
        if phase is SkillPhase.LIFT and progress >= self.progress:
            _press_on(context, action)

"""One action while it is carried out: where it puts its object, and the faults that strike in its phases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import Fault
from sim.tabletop.phases import SkillPhase
from sim.tabletop.physics import SOLVER_ITERATIONS, SOLVER_ITERATIONS_EMPTY
from sim.tabletop.placing import place_for
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]

_FAULT_STEPS = 4
"""Faults are called at every fourth physics step."""
_EMPTY = frozenset({SkillPhase.APPROACH, SkillPhase.RETREAT})


class SkillFailure(Exception):
    """The motion cannot be continued; the message is the reason."""


class Interrupted(SkillFailure):
    """Who watches the motion has stopped it."""


class Execution:
    """An action that is being carried out.

    Attributes:
        action: a well-formed action.
        scene: the physics scene.
        ending: whether the arm gets out of the way after a failure, which is not interrupted any more.
    """

    def __init__(self, action: Action, context: FaultContext, faults: Sequence[Fault]) -> None:
        """Begin an action.

        Args:
            action: a well-formed action.
            context: what its faults act on.
            faults: those that strike at this action, in their order.
        """
        self.action, self.scene = action, context.scene
        self._context, self._faults = context, faults
        self._phase: SkillPhase | None = None
        self.ending = False
        self._waiting = [fault for fault in self._faults if fault.moment is not None]

    def goal(self, estimates: PoseEstimates) -> tuple[Array, Array] | None:
        """Where the moved object is to be put, according to the action and the faults.

        Args:
            estimates: what the controller believes.

        Returns:
            Centre (3,), metres, and rotation (3, 3); None if there is no free place.
        """
        place = place_for(self.action, estimates)
        for fault in self._faults:
            if place is not None:
                place = fault.goal(self.action, estimates, place)
        return place

    def tick(self, phase: SkillPhase, progress: float) -> None:
        """Run one physics step of a phase, of which a share `progress` is done; call the faults when they are due."""
        if phase is not self._phase or progress >= 1.0 or self.scene.ticks % _FAULT_STEPS == 0:
            self.report(phase, progress)
        self.scene.advance()
        if self.scene.halting:
            self.scene.halting = False
            if self.ending:
                return
            raise Interrupted(f"it was interrupted in {phase}")

    def report(self, phase: SkillPhase, progress: float) -> None:
        """Call the faults; the first call of a phase has progress 0."""
        before, self._phase = self._phase, phase
        if (phase in _EMPTY) != (before in _EMPTY):
            self.scene.limit_iterations(SOLVER_ITERATIONS_EMPTY if phase in _EMPTY else SOLVER_ITERATIONS)
        for fault in self._faults:
            fault.during(self._context, self.action, phase, 0.0 if phase is not before else progress)
        for fault in [
            each for each in self._waiting if each.moment is not None and _reached(each.moment, phase, progress)
        ]:
            self._waiting.remove(fault)
            self.scene.struck_s = self.scene.time_s
            fault.strike(self._context)


def _reached(moment: tuple[SkillPhase, float], phase: SkillPhase, progress: float) -> bool:
    """Whether a motion has come so far."""
    phases = list(SkillPhase)
    return (phases.index(moment[0]), moment[1]) <= (phases.index(phase), progress)

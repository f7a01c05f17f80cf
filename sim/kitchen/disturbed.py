"""Motions of a robot on which faults act."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from sim.common.arm import STEP_S, Leg
from sim.kitchen.cell import KitchenCell
from sim.kitchen.faults.base import Fault
from sim.kitchen.person import Person
from sim.kitchen.reach import ToolPose
from sim.kitchen.skills.motion import FAST_M_S, Motion

Array = npt.NDArray[np.float64]

_FAULT_TICKS = 4
"""Physics steps between two calls of a fault during an action."""


class WeakHand:
    """The robot's hand, as faults see it."""

    def __init__(self, cell: KitchenCell) -> None:
        self._cell = cell
        self._weak = False

    @property
    def held(self) -> str:
        """Name of the held thing; empty for none."""
        return self._cell.robot.held

    def slacken(self) -> None:
        """Take force and friction from the fingers until `recover` is called."""
        self._cell.struck_s = min(self._cell.struck_s, self._cell.time_s)
        self._cell.robot.unlatch()
        self._cell.robot.arm.weaken_grip(0.0, 0.0)
        self._weak = True

    def recover(self) -> None:
        """Give the fingers their force and friction back."""
        if self._weak:
            self._cell.robot.arm.weaken_grip()
            self._weak = False


class DisturbedMotion(Motion):
    """Moves the robot of one cell while faults act on it.

    Args:
        cell: the kitchen.
        faults: those of the present action.
    """

    def __init__(self, cell: KitchenCell, faults: Sequence[Fault]) -> None:
        super().__init__(cell)
        self._faults = tuple(faults)
        self._shift: tuple[ToolPose, ToolPose] | None = None

    def follow(self, poses: Iterable[ToolPose], speed_m_s: float = FAST_M_S) -> list[Leg]:
        """Move the tool through world poses, as the faults make it, and return the motion.

        Raises:
            SkillFailure: a pose is out of reach, or a fault stops the arm.
        """
        planned = [self._shifted(pose) for pose in poses]
        changed = planned
        for fault in self._faults:
            changed = fault.poses(changed, self._gripping)
        if changed and len(changed) < len(planned):
            # the rest of the action happens where the arm has stopped
            self._shift = planned[-1], changed[-1]
        return super().follow(changed, speed_m_s)

    def recover(self) -> None:
        """After a failure: let go of handles, draw back, and stow the arm; faults no longer act."""
        self._faults = ()
        super().recover()

    def _shifted(self, pose: ToolPose) -> ToolPose:
        if self._shift is None:
            return pose
        planned, stopped = self._shift
        turn = stopped.rotation @ planned.rotation.T
        return ToolPose(stopped.position + turn @ (pose.position - planned.position), turn @ pose.rotation)


@contextmanager
def acting(cell: KitchenCell, faults: Sequence[Fault], action: Action) -> Iterator[DisturbedMotion]:
    """Let faults act on the robot for one action; afterwards its hand is as strong as ever."""
    hand, start, before = WeakHand(cell), cell.ticks, cell.on_tick
    waiting = list(faults)

    def tick() -> None:
        if before is not None:
            before()
        if cell.ticks % _FAULT_TICKS == 0:
            seconds = (cell.ticks - start) * STEP_S
            for fault in faults:
                fault.during(hand, seconds)
            for fault in [each for each in waiting if cell.moving and each.due(seconds)]:
                waiting.remove(fault)
                cell.struck_s, cell.moving = cell.time_s, False
                fault.meanwhile(Person(cell), action)
                cell.moving = True

    cell.on_tick = tick
    try:
        yield DisturbedMotion(cell, faults)
    finally:
        cell.on_tick = before
        hand.recover()

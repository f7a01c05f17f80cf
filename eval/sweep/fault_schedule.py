"""When faults strike: the schedule of a dataset's episode, and random faults during recoveries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core.actions import Action, Plan
from sim.datasets.inject import draw_fault
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults import Fault
from sim.tabletop.faults.base import Moment
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import Truth
from sim.tabletop.world import TabletopWorld

TRIES = 12
"""Faults that are drawn until one fits."""


@dataclass
class FaultSchedule:
    """When faults strike.

    A fault of a plan step strikes when the step's action is executed for the first time; if a recovery skips the step,
    it does not strike. During a recovery natural failures may occur, and a share of the actions is struck by a fault
    drawn at random from the datasets' kinds.

    Attributes:
        episode: the episode with its faults.
        during_recovery: share of the recovery actions for which a fault is drawn.
    """

    episode: ErrorEpisode
    during_recovery: float = 0.0
    _count: int = 0

    def execute(self, world: TabletopWorld, action: Action, expected: Truth) -> None:
        """Execute an action with the faults that are due.

        Args:
            world: the simulator, with the faults of the episode.
            action: the action.
            expected: the scene after it without faults.
        """
        self._count += 1
        if not self.during_recovery or world.is_next(action):
            world.execute(action)
            return
        rng = np.random.default_rng([self.episode.seed, self._count])
        struck = rng.random() < self.during_recovery
        fault = self._drawn(world, action, expected, rng) if struck else None
        plan, faults = world.plan, world.faults
        if fault is not None:
            world.plan, world.faults = None, (replace(fault, at_step=world.step),)
        try:
            world.execute(action)
        finally:
            world.plan, world.faults = plan, faults

    def _drawn(self, world: TabletopWorld, action: Action, expected: Truth, rng: np.random.Generator) -> Fault | None:
        if not expected.present.all():
            return None
        after = poses_of(expected, self.episode.scene)
        moment = Moment(0, Plan((action,)), world.estimates(), after)
        drawn = (draw_fault(moment, rng, by_robot=True) for _ in range(TRIES))
        return next((fault for fault in drawn if fault is not None), None)

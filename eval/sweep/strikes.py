"""How things go wrong while a planner is at work: the schedule of a dataset, and what strikes during recovery."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core.actions import Action, Plan
from sim.datasets.inject import draw_fault
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults.base import Moment
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import Truth
from sim.tabletop.world import TabletopWorld

TRIES = 12
"""Faults that are drawn until one fits."""


@dataclass
class Strikes:
    """When faults strike.

    Those of a step of the plan strike when its action is carried out for the first time; where a recovery jumps over
    the step, they do not. While the planner recovers, everything that goes wrong by itself does, and in addition a
    share of its actions is struck by a fault drawn at random, as the datasets draw theirs.

    Attributes:
        episode: whose schedule it is.
        during_recovery: share of the actions outside the plan that a fault is drawn for.
    """

    episode: ErrorEpisode
    during_recovery: float = 0.0
    _count: int = 0

    def execute(self, world: TabletopWorld, action: Action, expected: Truth) -> None:
        """Carry out an action, and let strike what has to.

        Args:
            world: the simulator, with the faults of the episode.
            action: the action.
            expected: the scene after it if nothing goes wrong.
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

    def _drawn(self, world: TabletopWorld, action: Action, expected: Truth, rng: np.random.Generator):
        if not expected.present.all():
            return None
        after = poses_of(expected, self.episode.scene)
        moment = Moment(0, Plan((action,)), world.estimates(), after)
        for _ in range(TRIES):
            fault = draw_fault(moment, rng, by_robot=True)
            if fault is not None:
                return fault
        return None

"""When faults strike: the schedule of a dataset's episode, and random faults during recoveries."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core.actions import Action, Plan
from sim.datasets.inject import draw_fault, in_reach, inject, shown
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults import Fault
from sim.tabletop.faults.base import Moment
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import Truth
from sim.tabletop.world import TabletopWorld

TRIES = 12
"""Faults that are drawn until one fits."""
IN_PLACE = 1
"""Part of the seed of faults that are drawn where they strike."""


@dataclass
class FaultSchedule:
    """When faults strike.

    A fault of a plan step strikes when the step's action is executed for the first time; if a recovery skips the step,
    it does not strike. During a recovery natural failures may occur, and a share of the actions is struck by a fault
    drawn at random from the datasets' kinds.

    After recoveries the scene differs from the one in which a dataset drew its faults. With `drawn_in_place`, faults
    that throw an object out of reach there, or change nothing, are drawn again in that scene.

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
        number = world.next_step(action)
        if self.episode.drawn_in_place and number is not None and self.episode.faults_at(number):
            self._strike(world, action, number, expected)
            return
        if not self.during_recovery or number is not None:
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

    def _strike(self, world: TabletopWorld, action: Action, number: int, expected: Truth) -> None:
        """Execute an action of the plan with the faults of its step, or with others if those do not fit the scene."""
        faults = self.episode.faults_at(number)
        if not in_reach(world) or not expected.present.all():
            world.execute(action)
            return
        before, start = world.estimates(), world.save()
        moment = Moment(number, self.episode.plan, before, poses_of(expected, self.episode.scene))
        world.execute(action)
        if shown(world, moment, faults, expected) is None:
            rng = np.random.default_rng([self.episode.seed, IN_PLACE, number])
            scheduled, world.faults = world.faults, ()
            found = inject(world, start, moment, expected, len(faults), rng)
            if found is None:
                world.restore(start)
                world.execute(action)
            world.faults, world.last_faults = scheduled, () if found is None else found.faults
        world.release(start)

    def _drawn(self, world: TabletopWorld, action: Action, expected: Truth, rng: np.random.Generator) -> Fault | None:
        if not expected.present.all():
            return None
        after = poses_of(expected, self.episode.scene)
        moment = Moment(0, Plan((action,)), world.estimates(), after)
        drawn = (draw_fault(moment, rng, by_robot=True) for _ in range(TRIES))
        return next((fault for fault in drawn if fault is not None), None)

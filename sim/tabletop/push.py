"""Pushes with the arm's closed fingers, along the table."""

from __future__ import annotations

import numpy as np

from nsrecover.models.outcomes.scene import APPROACH_M, pushed_boxes
from sim.common.arm import DOWN, HOME_POSITION_M
from sim.tabletop.contact import PUSH_M_S, TIP_HEIGHT_M
from sim.tabletop.execution import SkillFailure
from sim.tabletop.grasp import TIP_M
from sim.tabletop.phases import SkillPhase
from sim.tabletop.placing import boxes
from sim.tabletop.skills import FAST_M_S, NEAR_M_S, PickAndPlace, transit_height

_CLOSING_STEPS = 40
_BACK_M = 0.01


class Push(PickAndPlace):
    """One push: the fingers close, go down behind the object, push it to the target of the action, and go home."""

    def _run(self) -> None:
        if self._action.target is None:
            raise SkillFailure("it is not said where to push")
        row, every = self._estimates.index(self._name), boxes(self._estimates)
        _, push = pushed_boxes(every, row, self._action.target)
        ahead = np.array([*push.direction, 0.0])
        start = np.array([*push.start, TIP_HEIGHT_M])
        end = start + ahead * (APPROACH_M + push.distance)
        height = transit_height(np.array(HOME_POSITION_M), start, every, TIP_M)
        self._arm.open(0.0, _CLOSING_STEPS, self._ticker(SkillPhase.APPROACH, 0.0, 0.1))
        above = np.array([*start[:2], height])
        self._go([(above, DOWN, FAST_M_S), (start, DOWN, 2 * NEAR_M_S)], SkillPhase.APPROACH, part=(0.1, 1.0))
        self._go([(end, DOWN, PUSH_M_S)], SkillPhase.TRANSPORT)
        back = end - _BACK_M * ahead
        legs = [(back, DOWN, NEAR_M_S), (np.array([*back[:2], height]), DOWN, FAST_M_S)]
        self._follow_home(self._plan(legs, SkillPhase.RETREAT), self._ticker(SkillPhase.RETREAT, 0.0, 1.0))

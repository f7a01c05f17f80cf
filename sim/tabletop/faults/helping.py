"""A person carries out some of the robot's next actions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.common.rotations import axis_aligned, matrix_of
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.placing import place_for

MOST = 3
"""Maximum number of actions of the person, when sampled."""


@dataclass(frozen=True)
class HelpingPerson(Fault):
    """After an action of the robot, a person carries out other actions by hand.

    Attributes:
        actions: of the person, in order.
    """

    kind: ClassVar[str] = "helping_person"
    error_class: ClassVar[ErrorClass] = ErrorClass.AGENT
    cause: ClassVar[Cause] = Cause.HELPED

    actions: tuple[Action, ...]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The next one to three actions of the plan, if no other fault acts on their objects."""
        count = int(rng.integers(1, MOST + 1))
        actions = []
        for action in moment.plan.actions[moment.step + 1 : moment.step + 1 + count]:
            if moment.taken & set(action.arguments):
                break
            actions.append(action)
        return cls(moment.step, tuple(actions)) if actions else None

    def touched(self, action: Action) -> frozenset[str]:
        """The objects that the person moves."""
        return frozenset(done.arguments[0] for done in self.actions)

    def after(self, context: FaultContext, action: Action) -> None:
        """Carry each object to the place of its action."""
        for done in self.actions:
            estimates = context.scene.estimates()
            place = place_for(done, estimates) if all(name in estimates for name in done.arguments) else None
            if place is None:
                context.scene.note(f"the person cannot do {done}")
                return
            name = done.arguments[0]
            turn = place[1] @ axis_aligned(matrix_of(context.scene.pose(name)[1])).T
            context.agent.carry(name, place[0], yaw=math.atan2(turn[1, 0], turn[0, 0]))

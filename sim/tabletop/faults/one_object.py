"""Faults that act on one object after an action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import Fault


@dataclass(frozen=True)
class OneObjectFault(Fault):
    """After an action, something happens to one object; subclasses say what, in `act`.

    Attributes:
        cause_if_moved: correct cause if the object is the one that the action has just moved; `cause` if None.
        name: the object.
    """

    cause_if_moved: ClassVar[Cause | None] = None

    name: str

    def touched(self, action: Action) -> frozenset[str]:
        """The object."""
        return frozenset([self.name])

    def cause_of(self, name: str, action: Action) -> Cause:
        """`cause_if_moved` for the object that the action has just moved, `cause` for any other."""
        return self.cause_if_moved if self.cause_if_moved and name == action.arguments[0] else self.cause

    def after(self, context: FaultContext, action: Action) -> None:
        """Act on the object, unless it is gone."""
        if self.name in context.scene.estimates():
            self.act(context)

    def act(self, context: FaultContext) -> None:
        """Act on the object, which is on the table."""
        raise NotImplementedError


@dataclass(frozen=True)
class CarryFault(OneObjectFault):
    """After an action, an external agent carries an object to another place.

    Attributes:
        name: the object. Nothing may stand on it.
        position_m: new place of its centre, x, y and z.
    """

    position_m: tuple[float, float, float]

    def act(self, context: FaultContext) -> None:
        """Carry the object there."""
        context.agent.carry(self.name, self.position_m)

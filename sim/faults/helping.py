"""A person does part of the robot's work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nsrecover.structs import Action
from sim.faults.base import Fault
from sim.placing import place_for

if TYPE_CHECKING:
    from sim.world import TabletopWorld


@dataclass(frozen=True)
class HelpingPerson(Fault):
    """After an action of the robot, a person carries out the next ones by hand.

    Attributes:
        actions: what the person does, in this order.
    """

    actions: tuple[Action, ...]

    def after(self, world: TabletopWorld, action: Action) -> None:
        """Carry each object where its action puts it."""
        for done in self.actions:
            estimates = world.estimates()
            place = place_for(done, estimates) if all(name in estimates for name in done.arguments) else None
            if place is None:
                world.note(f"the person cannot do {done}")
                return
            world.hand.carry(done.arguments[0], place[0])

"""What a fault may do to the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sim.tabletop.external_agent import ExternalAgent
from sim.tabletop.physics import PhysicsScene


class Grip(Protocol):
    """What holds objects: the fingers of an arm, or what stands for them."""

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Change the grip's force, newtons, and friction until the end of the action; None: the ordinary value."""
        ...


@dataclass(frozen=True)
class FaultContext:
    """What a fault acts on.

    Attributes:
        scene: the physics scene: where objects are, and the log.
        agent: moves objects without the robot; only for use after an action.
        grip: holds the object; faults weaken it during an action.
    """

    scene: PhysicsScene
    agent: ExternalAgent
    grip: Grip

"""Physics clients: what all scenes in PyBullet have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pybullet

from nsrecover.util.closing import ClosedByWith
from sim.common.arm import STEP_S


class PhysicsClient(ClosedByWith):
    """A physics client of its own, under gravity; use it as a context manager, or call `close`.

    Attributes:
        client: its number; negative once it is closed.
        ticks: physics steps so far.
    """

    def __init__(self, iterations: int, **engine: Any) -> None:
        """Start it.

        Args:
            iterations: most iterations of the constraint solver in a step.
            engine: further parameters of the physics engine.
        """
        self.ticks = 0
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -9.81, physicsClientId=self.client)
        # the cache would keep every body that was ever created
        common = {"deterministicOverlappingPairs": 1, "enableFileCaching": 0, "physicsClientId": self.client}
        pybullet.setPhysicsEngineParameter(fixedTimeStep=STEP_S, numSolverIterations=iterations, **engine, **common)

    def advance(self) -> None:
        """Run one physics step."""
        pybullet.stepSimulation(physicsClientId=self.client)
        self.ticks += 1

    def close(self) -> None:
        """End the physics client. A second call does nothing."""
        if self.client >= 0:
            pybullet.disconnect(physicsClientId=self.client)
            self.client = -1

    def rests(self, bodies: Iterable[int], linear: float, angular: float) -> bool:
        """Whether no body is faster than so many metres and radians per second, along any axis."""
        for body in bodies:
            speed, spin = pybullet.getBaseVelocity(body, physicsClientId=self.client)
            if max(map(abs, speed)) > linear or max(map(abs, spin)) > angular:
                return False
        return True

"""A tabletop whose actions are watched while they run, behind a sensor."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidConfiguration
from sim.common.arm import STEP_S
from sim.sensors.sensor import SensorStream
from sim.sensors.world import SensedWorld
from sim.tabletop.world import SavedWorld, TabletopWorld


@dataclass(frozen=True)
class Motion:
    """When an action ran, by the simulated time, seconds.

    Attributes:
        began_s: its begin.
        struck_s: when a fault struck; infinite: none did.
        interrupted_s: when it was interrupted; infinite: it was not.
        ended_s: when the arm was home again.
    """

    began_s: float
    struck_s: float
    interrupted_s: float
    ended_s: float


class WatchedWorld(SensedWorld[SavedWorld]):
    """A world with an arm as a sensor shows it; implements `nsrecover.core.protocols.GlancingWorld`.

    Args:
        tabletop: the exact world; its `on_frame` is used.
        stream: the sensor during this episode.
        rate_hz: frames a second of simulated time.

    Raises:
        InvalidConfiguration: the world has no arm, or the rate is not from 0.5 to 50.
    """

    def __init__(self, tabletop: TabletopWorld, stream: SensorStream, rate_hz: float = 10.0) -> None:
        if tabletop.arm is None or not 0.5 <= rate_hz <= 50:
            raise InvalidConfiguration(
                f"expected a world with an arm and a rate from 0.5 to 50 Hz, found {tabletop.fidelity} and {rate_hz:g}"
            )
        super().__init__(tabletop, stream)
        self.tabletop, self.rate_hz = tabletop, rate_hz
        self.motions: list[Motion] = []
        """The actions that were carried out."""

    def robot(self) -> RobotState:
        """What the arm measures of itself."""
        arm = self.tabletop.arm
        assert arm is not None
        x, y, z = arm.tool()[0].tolist()
        return RobotState(arm.measured_opening_m(), (x, y, z), arm.gripping)

    def execute_watched(self, action: Action, glance: Callable[[Observation, RobotState], bool]) -> None:
        """Carry out one action; stop it if `glance` returns false, put back what is held, and bring the arm home."""
        interrupted_s = math.inf

        def frame(world: TabletopWorld) -> None:
            nonlocal interrupted_s
            watched = world.moving and math.isinf(interrupted_s)
            if watched and not glance(self.stream.observe(world.observe_from, quick=True), self.robot()):
                interrupted_s, world.halting = world.time_s, True

        before = self.tabletop.on_frame, self.tabletop.frame_steps
        self.tabletop.on_frame, self.tabletop.frame_steps = frame, max(1, round(1 / (self.rate_hz * STEP_S)))
        began_s = self.tabletop.time_s
        try:
            self.tabletop.execute(action)
        finally:
            self.tabletop.on_frame, self.tabletop.frame_steps = before
        self.motions.append(Motion(began_s, self.tabletop.struck_s, interrupted_s, self.tabletop.time_s))

    def execute(self, action: Action) -> None:
        """Carry out one action that nobody watches."""
        began_s = self.tabletop.time_s
        super().execute(action)
        self.motions.append(Motion(began_s, self.tabletop.struck_s, math.inf, self.tabletop.time_s))

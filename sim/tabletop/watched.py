"""A tabletop whose actions are watched while they run, behind a sensor."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.core import Action, Observation
from nsrecover.core.glances import RobotState
from sim.sensors.sensor import SensorStream
from sim.sensors.watched import Motion, check_watched, watch
from sim.sensors.world import SensedWorld
from sim.tabletop.world import SavedWorld, TabletopWorld


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
        check_watched(tabletop, rate_hz)
        super().__init__(tabletop, stream)
        self.tabletop, self.rate_hz = tabletop, rate_hz
        self.motions: list[Motion] = []
        """The actions that were carried out."""

    def execute_watched(self, action: Action, glance: Callable[[Observation, RobotState], bool]) -> None:
        """Carry out one action; stop it if `glance` returns false, put back what is held, and bring the arm home."""
        self.motions.append(watch(self.tabletop, action, self.stream, self.rate_hz, glance))

    def execute(self, action: Action) -> None:
        """Carry out one action that nobody watches."""
        self.motions.append(watch(self.tabletop, action, self.stream))

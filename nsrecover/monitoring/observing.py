"""Observations of a world with their times, and attempts that are repeated if an observation cannot be used."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, TypeVar

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import LookingWorld, World
from nsrecover.errors import InvalidObservation, UnknownObject
from nsrecover.monitoring.monitor import LOOKS, Monitor

Result = TypeVar("Result")


class ClockedSensors:
    """The sensors of a world, with the time of the last observation.

    Args:
        world: the world.

    Attributes:
        time_s: by the clock of the observation if it has one, else seconds since this object was made.
    """

    def __init__(self, world: World[Any]) -> None:
        self._world = world
        self._began = time.monotonic()
        self.time_s = 0.0

    def observe(self) -> Any:
        """Observe the scene."""
        return self._timed(self._world.observe())

    def look(self, monitor: Any) -> Any:
        """Observe the scene again, from where that which is in doubt is seen best if the world's robot can go there."""
        if not isinstance(self._world, LookingWorld):
            return self.observe()
        return self._timed(self._world.look(getattr(monitor, "doubtful", ())))

    def _timed(self, seen: Any) -> Any:
        self.time_s = seen.time_s if isinstance(seen, Observation) else time.monotonic() - self._began
        return seen

    def judge(self, monitor: Monitor[Any], action: Action) -> Discrepancy:
        """Judge an action that was executed by one observation."""
        return monitor.step(action, self.observe())


def patiently(attempt: Callable[[], Result]) -> Result:
    """Return the result of an attempt that needs an observation; it is repeated if the observation cannot be used.

    Raises:
        InvalidObservation: the observations of all `LOOKS` attempts cannot be used.
        UnknownObject: they do not show an object.
    """
    for _ in range(LOOKS - 1):
        with contextlib.suppress(InvalidObservation, UnknownObject):
            return attempt()
    return attempt()

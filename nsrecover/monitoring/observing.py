"""Observations of a world in the order of its clock, and attempts that are repeated if one cannot be used."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import LookingWorld, World
from nsrecover.errors import InvalidObservation, NsrecoverError, UnknownObject
from nsrecover.monitoring.monitor import LOOKS, Monitor

Result = TypeVar("Result")


class ClockedSensors:
    """The sensors of a world, with the time of the last observation.

    An observation of before the last one is refused: it shows a scene that is past. An error of the world is an
    observation that cannot be used, too.

    Args:
        world: the world.
        on_observation: receives every observation that is not refused.

    Attributes:
        time_s: by the clock of the observation if it has one, else seconds since this object was made.
    """

    def __init__(self, world: World[Any], on_observation: Callable[[Any], None] = lambda observation: None) -> None:
        self._world, self._on_observation = world, on_observation
        self._began = time.monotonic()
        self.time_s = -math.inf

    def observe(self) -> Any:
        """Observe the scene.

        Raises:
            InvalidObservation: the observation is older than the last one, or the world raised an error.
        """
        return self._timed(self._world.observe)

    def look(self, monitor: Any) -> Any:
        """Observe the scene again, from where that which is in doubt is seen best if the world's robot can go there.

        Raises:
            InvalidObservation: as for `observe`.
        """
        if not isinstance(self._world, LookingWorld):
            return self.observe()
        return self._timed(partial(self._world.look, getattr(monitor, "doubtful", ())))

    def _timed(self, sense: Callable[[], Any]) -> Any:
        try:
            seen = sense()
        except NsrecoverError:
            raise
        except Exception as problem:
            logging.getLogger("nsrecover.agent").exception("the sensors raised an error")
            raise InvalidObservation(
                f"expected an observation, found an error of the world: {type(problem).__name__}: {problem}"
            ) from problem
        if seen is None:
            raise InvalidObservation("expected an observation, found None; let observe() return what is seen now")
        if not isinstance(seen, Observation):
            self.time_s = time.monotonic() - self._began
            self._on_observation(seen)
            return seen
        if seen.time_s < self.time_s:
            raise InvalidObservation(
                f"expected an observation of {self.time_s:.3f} s or later, found one of {seen.time_s:.3f} s; send "
                "frames in their order, with the time at which they were taken, by one clock that is never set back"
            )
        self.time_s = seen.time_s
        self._on_observation(seen)
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

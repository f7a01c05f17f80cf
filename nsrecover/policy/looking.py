"""Which observations count: only what was seen later than the last one."""

from __future__ import annotations

import math
from numbers import Real

from nsrecover.core.observation import Observation
from nsrecover.core.sessions.requests import Unusable
from nsrecover.errors import InvalidObservation


class Clock:
    """The time of the last observation.

    Attributes:
        time_s: by the clock of the observations, seconds; -inf before the first.
    """

    def __init__(self) -> None:
        self.time_s = -math.inf

    def take(self, observation: object, time_s: float | None) -> None:
        """Take the time of an observation. One frame that is delivered twice is no second look.

        Args:
            observation: the observation. Camera images have a time of their own; 0 says that it is not known.
            time_s: when it was made, if it has no time of its own; None: not known.

        Raises:
            InvalidObservation: there is none, or it is not later than the last one.
        """
        if observation is None:
            raise InvalidObservation("expected an observation, found None; report what is seen now")
        if isinstance(observation, Unusable):
            raise InvalidObservation(observation.problem)
        if isinstance(observation, Observation):
            time_s = observation.time_s or None
        if time_s is None:
            return
        if not isinstance(time_s, Real):
            raise InvalidObservation(f"expected the time of an observation in seconds, found {time_s!r}")
        if not math.isfinite(time_s) or time_s <= self.time_s:
            raise InvalidObservation(
                f"expected an observation later than {self.time_s:.3f} s, found one of {time_s:.3f} s; a new frame is "
                "needed for every look, with the time at which it was taken, by one clock that is never set back"
            )
        self.time_s = time_s

"""Any world whose robot and sensors fail at random, and which changes while the robot plans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import numpy as np

from nsrecover.core import Action, Observation, World

Rng = np.random.Generator

PRESENT = 0.15
"""Probability that a disturbance occurs in an episode at all."""
RATES = (0.02, 0.4)
"""How often it then strikes, as a probability for each call."""


class Disturbance(StrEnum):
    """What a robot, a sensor or a person does."""

    IDLE = "an action does nothing and reports success"
    REPEATS = "an action does what the last one did"
    RAISES = "an action raises an error"
    RAISES_AFTERWARDS = "an action is done and raises an error"
    HANGS = "an action never returns"
    NO_FRAME = "the driver raises an error"
    NOTHING = "the driver returns nothing"
    REPEATED = "a frame is repeated"
    LATE = "a frame is one before the last"
    CLOCK = "time goes backwards"
    DEAF = "the microphone is dead"
    CHANGES = "the world changes while the robot plans"
    HIDDEN = "facts are hidden"
    WRONG = "facts are misperceived"
    CAMERA = "a camera is bumped, frozen, dropped, late, swapped or rescaled, masks merge, or a hand passes"


OWN = frozenset({Disturbance.HIDDEN, Disturbance.WRONG, Disturbance.CAMERA})
"""Those that worlds make, not `DisturbedWorld`."""
TIMED = frozenset({Disturbance.CLOCK, Disturbance.DEAF})
"""Those of camera images with time and sound."""


def drawn(rng: Rng, possible: Sequence[Disturbance]) -> dict[Disturbance, float]:
    """The disturbances of an episode and how often they strike."""
    present = [each for each in possible if rng.random() < PRESENT and each not in OWN]
    return {each: float(rng.uniform(*RATES)) for each in present}


class DisturbedWorld:
    """World wrapper with disturbances. Close it before the world inside: an action may hang in another thread.

    Args:
        world: the true world.
        rates: probability of each disturbance for each call.
        rng: decides when they strike.
        change: changes the world, as a person would.

    Attributes:
        struck: the disturbances that struck.
    """

    def __init__(
        self, world: World[Any], rates: Mapping[Disturbance, float], rng: Rng, change: Callable[[], None]
    ) -> None:
        self.world, self.rates, self.struck = world, rates, set[Disturbance]()
        self._rng, self._change = rng, change
        self._seen: list[Any] = []
        self._last: Action | None = None
        self._released, self._acting = threading.Event(), threading.Lock()

    def close(self) -> None:
        """Let actions that hang return, and wait for those that are under way."""
        self._released.set()
        with self._acting:
            pass

    def execute(self, action: Action) -> None:
        """Carry out an action, or not."""
        if self._strikes(Disturbance.HANGS):
            self._released.wait()
            return
        if self._strikes(Disturbance.RAISES):
            raise ConnectionError("the arm's controller does not answer")
        if self._strikes(Disturbance.IDLE):
            return
        if self._last is not None and self._strikes(Disturbance.REPEATS):
            action = self._last
        with self._acting:
            self.world.execute(action)
        self._last = action
        if self._strikes(Disturbance.RAISES_AFTERWARDS):
            raise RuntimeError("the arm's controller lost its connection")

    def observe(self) -> Any:
        """Observe, or not."""
        return self._received(self.world.observe)

    def planned(self) -> None:
        """Note that the robot has planned, during which the world may change."""
        if self._strikes(Disturbance.CHANGES):
            self._change()

    def _received(self, sense: Callable[[], Any]) -> Any:
        if self._strikes(Disturbance.NO_FRAME):
            raise TimeoutError("no frame within 2 s")
        if self._strikes(Disturbance.NOTHING):
            return None
        if self._seen and self._strikes(Disturbance.REPEATED):
            return self._seen[-1]
        if len(self._seen) > 1 and self._strikes(Disturbance.LATE):
            return self._seen[-2]
        seen = sense()
        if isinstance(seen, Observation):
            if self._strikes(Disturbance.CLOCK):
                seen = replace(seen, time_s=seen.time_s - float(self._rng.uniform(0.0, 10.0)))
            if seen.audio is not None and self._strikes(Disturbance.DEAF):
                seen = replace(seen, audio=np.zeros_like(seen.audio))
        self._seen = [*self._seen[-1:], seen]
        return seen

    def _strikes(self, which: Disturbance) -> bool:
        struck = which in self.rates and bool(self._rng.random() < self.rates[which])
        if struck:
            self.struck.add(which)
        return struck


class DisturbedLookingWorld(DisturbedWorld):
    """The same for a robot that can go and look."""

    def look(self, names: Sequence[str]) -> Any:
        """Go and observe, or not."""
        inside: Any = self.world
        return self._received(lambda: inside.look(names))

"""All sounds of a world: events that have happened or go on, and what a microphone hears between two observations."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration
from sim.sound.events import SoundEvent, Vector
from sim.sound.microphone import Microphone, audible, record


@dataclass(frozen=True)
class SavedSound:
    """A saved state of a soundscape: events that are over, those that go on, and how far was listened."""

    over: tuple[SoundEvent, ...]
    going_on: tuple[tuple[Hashable, SoundEvent], ...]
    heard_until_s: float


class Soundscape:
    """The sounds of a world during an episode.

    Attributes:
        microphone: what listens.
        heard_until_s: end of the last recording, seconds of simulated time.
    """

    def __init__(self, microphone: Microphone, start_s: float = 0.0) -> None:
        self.microphone, self.heard_until_s = microphone, start_s
        self._over: list[SoundEvent] = []
        self._going_on: dict[Hashable, SoundEvent] = {}

    @property
    def events(self) -> tuple[SoundEvent, ...]:
        """All events by their start, the ground truth of what is heard; those that go on have an infinite duration."""
        return tuple(sorted((*self._over, *self._going_on.values()), key=lambda event: (event.start_s, event.key)))

    def add(self, *events: SoundEvent) -> None:
        """Add events whose end is known."""
        for event in events:
            if math.isinf(event.duration_s):
                raise InvalidConfiguration(f"expected an end of {event.kind}, found none; use `begin` and `end`")
        self._over.extend(events)

    def begin(self, name: Hashable, event: SoundEvent) -> None:
        """Begin a sound that goes on until `end`; if one of this name goes on already, nothing happens."""
        if name not in self._going_on:
            self._going_on[name] = replace(event, duration_s=math.inf)

    def end(self, name: Hashable, time_s: float) -> None:
        """End a sound that was begun; if there is none of this name, nothing happens."""
        event = self._going_on.pop(name, None)
        if event is not None and time_s > event.start_s:
            self._over.append(replace(event, duration_s=time_s - event.start_s))

    def set(self, name: Hashable, event: SoundEvent | None, time_s: float) -> None:
        """Let a sound go on as long as this is called with an event, and end it when called with None.

        If its kind or place changes, or its strength by more than a tenth, it ends and begins again.
        """
        before = self._going_on.get(name)
        if before is not None and (event is None or _differs(before, event)):
            self.end(name, time_s)
        if event is not None:
            self.begin(name, replace(event, start_s=time_s))

    def listen(self, time_s: float, position_m: Vector | None = None) -> tuple[npt.NDArray[np.float32], int]:
        """What the microphone hears since the last recording.

        Args:
            time_s: now, seconds of simulated time.
            position_m: where the microphone is; None: its own position.

        Returns:
            Samples (S,) float32 and their rate in hertz, as of `record`; none if no time has passed.
        """
        end_s = max(time_s, self.heard_until_s)
        lead = self.microphone.room.reverberation_s + 1.0
        heard = [event for event in self._over if audible(event) + lead > self.heard_until_s]
        found = record((*heard, *self._going_on.values()), self.heard_until_s, end_s, self.microphone, position_m)
        self.heard_until_s = end_s
        return found

    def save(self) -> SavedSound:
        """Save the state; `restore` takes it any number of times."""
        return SavedSound(tuple(self._over), tuple(self._going_on.items()), self.heard_until_s)

    def restore(self, saved: SavedSound) -> None:
        """Return to a saved state."""
        self._over, self._going_on = list(saved.over), dict(saved.going_on)
        self.heard_until_s = saved.heard_until_s


def _differs(one: SoundEvent, other: SoundEvent) -> bool:
    return (one.kind, one.position_m, one.bodies) != (other.kind, other.position_m, other.bodies) or abs(
        one.strength - other.strength
    ) > 0.1 * one.strength

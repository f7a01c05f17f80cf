"""Turns of clients at what only so many can use at once: who has used it least goes first."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

HALF_LIFE_S = 10.0
"""Time after which half of what a client has used is forgotten, seconds."""


@dataclass
class Turns:
    """Places that clients take in turn.

    Args:
        places: number of places.
        each: most places of one client; while other clients use or want one, a client has a single place.

    Attributes:
        running: places taken, by client.
        waiting: who waits, in the order of arrival.
        waited_s: time that all have waited, seconds.
    """

    places: int
    each: int
    running: Counter[Hashable] = field(default_factory=Counter)
    waiting: list[tuple[Hashable, asyncio.Future[None]]] = field(default_factory=list)
    waited_s: float = 0.0
    _used: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    @asynccontextmanager
    async def turn(self, client: Hashable) -> AsyncIterator[float]:
        """Context with a place; its value is how long the client has waited for it, seconds."""
        arrived = time.monotonic()
        granted = asyncio.get_running_loop().create_future()
        self.waiting.append((client, granted))
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if (client, granted) in self.waiting:
                self.waiting.remove((client, granted))
            else:
                self._leave(client)
            raise
        began = time.monotonic()
        self.waited_s += began - arrived
        try:
            yield began - arrived
        finally:
            self._used[client] = (self._seconds(client) + time.monotonic() - began, time.monotonic())
            self._leave(client)

    def _leave(self, client: Hashable) -> None:
        self.running[client] -= 1
        self.running += Counter()  # forgets those with none
        if not self.running and not self.waiting:
            self._used = {each: used for each, used in self._used.items() if self._seconds(each) > 1e-3}
        self._grant()

    def _grant(self) -> None:
        while self.running.total() < self.places:
            allowed = [each for each in self.waiting if self._may(each[0])]
            if not allowed:
                return
            client, granted = first = min(allowed, key=lambda each: (self.running[each[0]], self._seconds(each[0])))
            self.waiting.remove(first)
            if not granted.done():
                self.running[client] += 1
                granted.set_result(None)

    def _may(self, client: Hashable) -> bool:
        alone = all(each == client for each in (*self.running, *(each for each, _ in self.waiting)))
        return self.running[client] < (self.each if alone else 1)

    def _seconds(self, client: Hashable) -> float:
        """What a client has used lately, seconds."""
        seconds, at = self._used.get(client, (0.0, 0.0))
        return float(seconds * 0.5 ** ((time.monotonic() - at) / HALF_LIFE_S))

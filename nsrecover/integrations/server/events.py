"""Server-sent events of one session: a short memory, and whoever listens."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any, NamedTuple

MEMORY = 256
"""Events kept for those who listen later, or again."""

SILENCE_S = 10.0
"""After so long without an event a comment is sent, so that nobody in between closes the connection."""


class EventKind(StrEnum):
    """What can happen in a session."""

    STEP = "step"
    """An observation was compared with what should be."""
    IMPROVEMENT = "improvement"
    """A search has found a way back, or a better one."""
    RECOVERY = "recovery"
    """A search is over."""
    PLAN = "plan"
    """Another plan is followed."""


class Event(NamedTuple):
    """Something that happened: its number in the session, its kind and its data."""

    number: int
    kind: EventKind
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """As it is sent."""
        return f"id: {self.number}\nevent: {self.kind}\ndata: {json.dumps(self.data)}\n\n"


class Events:
    """What happened in a session; publishing is allowed from any thread, everything else from the loop's.

    Args:
        loop: of the server.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: deque[Event] = deque(maxlen=MEMORY)
        self._news = asyncio.Event()
        self._number = 0
        self.closed = False
        self.listeners = 0

    def publish(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Tell everybody who listens, now or later."""
        self._loop.call_soon_threadsafe(self._add, kind, data)

    def close(self) -> None:
        """Let everybody go."""
        self.closed = True
        self._wake()

    async def follow(self, after: int, seconds: float) -> AsyncIterator[str]:
        """What happens, as it is sent.

        Args:
            after: number of the last event that is known already; 0 for none.
            seconds: how long to listen.
        """
        until = self._loop.time() + seconds
        self.listeners += 1
        try:
            # so that the answer begins at once, and browsers come back soon after its end
            yield "retry: 1000\n\n"
            while True:
                news = self._news
                for event in [each for each in self._kept if each.number > after]:
                    after = event.number
                    yield event.text
                left = until - self._loop.time()
                if self.closed or left <= 0:
                    return
                try:
                    await asyncio.wait_for(news.wait(), min(left, SILENCE_S))
                except TimeoutError:
                    if left > SILENCE_S:
                        yield ": still here\n\n"
        finally:
            self.listeners -= 1

    def _add(self, kind: EventKind, data: dict[str, Any]) -> None:
        self._number += 1
        self._kept.append(Event(self._number, kind, data))
        self._wake()

    def _wake(self) -> None:
        woken, self._news = self._news, asyncio.Event()
        woken.set()

"""Server-sent events of one session: the latest events are kept for listeners that connect later or reconnect."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any

from sse_starlette import ServerSentEvent

MEMORY = 256
"""Number of events kept for listeners that connect later or reconnect."""

SILENCE_S = 10.0
"""Interval of the comments that keep an idle connection open, seconds."""


class EventKind(StrEnum):
    """Kind of an event of a session."""

    STEP = "step"
    """An observation was compared with the expected scene."""
    IMPROVEMENT = "improvement"
    """A search has found a recovery, or a better one."""
    RECOVERY = "recovery"
    """A search has ended."""
    PLAN = "plan"
    """The session follows another plan."""


class Events:
    """Events of one session. `publish` may be called from any thread, everything else from the event loop only.

    Args:
        loop: the event loop of the server.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: deque[tuple[int, EventKind, dict[str, Any]]] = deque(maxlen=MEMORY)
        self._news = asyncio.Event()
        self._number = 0
        self.closed = False
        self.listeners = 0

    def publish(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Send an event to all present and future listeners."""
        self._loop.call_soon_threadsafe(self._add, kind, data)

    def close(self) -> None:
        """End the answers to all listeners."""
        self.closed = True
        self._wake()

    async def follow(self, after: int, seconds: float) -> AsyncIterator[ServerSentEvent]:
        """Yield events as they are published.

        Args:
            after: number of the last event that the listener has; 0 for none.
            seconds: how long to listen.
        """
        until = self._loop.time() + seconds
        self.listeners += 1
        try:
            # The first message starts the answer at once; browsers reconnect one second after its end.
            yield ServerSentEvent(retry=1000, sep="\n")
            while True:
                news = self._news
                for number, kind, data in [each for each in self._kept if each[0] > after]:
                    after = number
                    yield ServerSentEvent(json.dumps(data), event=kind, id=str(number), sep="\n")
                left = until - self._loop.time()
                if self.closed or left <= 0:
                    return
                try:
                    await asyncio.wait_for(news.wait(), left)
                except TimeoutError:
                    return
        finally:
            self.listeners -= 1

    def _add(self, kind: EventKind, data: dict[str, Any]) -> None:
        self._number += 1
        self._kept.append((self._number, kind, data))
        self._wake()

    def _wake(self) -> None:
        woken, self._news = self._news, asyncio.Event()
        woken.set()

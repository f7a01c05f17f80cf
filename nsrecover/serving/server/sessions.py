"""Sessions with secret names and events; they answer one request at a time and are closed when they are idle."""

import asyncio
import json
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

from sse_starlette import ServerSentEvent

from nsrecover.serving.server.limits import ServerLimits
from nsrecover.serving.server.problems import RefusedRequest, shown
from nsrecover.util.json_data import Json
from nsrecover.util.python310 import StrEnum

MEMORY = 256
"""Number of events kept for listeners that connect later or reconnect."""

SILENCE_S = 10.0
"""Interval of the comments that keep an idle connection open, seconds."""


class EventKind(StrEnum):
    """Kind of an event of a session."""

    COMPARED = "compared"
    """The scene was compared with the expected one; if it deviates, a recovery is searched for next."""
    IMPROVEMENT = "improvement"
    """A search has found a recovery, or a better one."""
    TURN = "turn"
    """A turn is over, but for a person's decision about its recovery."""
    REQUEST = "request"
    """The session asks for something."""


class Events:
    """Events of one session; the latest ones are kept for listeners that connect later or reconnect.

    `publish` may be called from any thread, everything else from the event loop only.

    Args:
        loop: the event loop of the server.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: deque[tuple[int, str, str]] = deque(maxlen=MEMORY)
        self._news = asyncio.Event()
        self._number = 0
        self.closed = False
        self.listeners = 0

    def publish(self, kind: str, data: Json) -> None:
        """Send an event to all present and future listeners."""
        self._loop.call_soon_threadsafe(self._add, kind, json.dumps(data))

    def close(self) -> None:
        """End the answers to all listeners."""
        self.closed = True
        self._wake()

    async def follow(self, after: int, seconds: float) -> AsyncGenerator[ServerSentEvent]:
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
                    yield ServerSentEvent(data, event=kind, id=str(number), sep="\n")
                left = until - self._loop.time()
                if self.closed or left <= 0:
                    return
                try:
                    await asyncio.wait_for(news.wait(), left)
                except TimeoutError:
                    return
        finally:
            self.listeners -= 1

    def _add(self, kind: str, data: str) -> None:
        self._number += 1
        self._kept.append((self._number, kind, data))
        self._wake()

    def _wake(self) -> None:
        woken, self._news = self._news, asyncio.Event()
        woken.set()


class StoredSession:
    """The session of one client.

    Attributes:
        name: secret name, which is all that is needed to use the session.
        client: who has opened it.
        system: name of its system.
        state: the session, as `nsrecover.serving.server.work.jobs` stores it; None until it was opened.
        answer: the last answer.
        key: of the report that it answers; empty if the report had none.
        events: events of the session.
        stop: set to end the running search.
    """

    def __init__(self, name: str, system: str, client: str) -> None:
        self.name, self.system, self.client = name, system, client
        self.state: bytes | None = None
        self.answer: Json = None
        self.key = ""
        self.events = Events(asyncio.get_running_loop())
        self.stop = asyncio.Event()
        self.touched = time.monotonic()
        self.busy = False

    @property
    def in_use(self) -> bool:
        """Whether a request or a listener is active."""
        return self.busy or self.events.listeners > 0

    @property
    def over(self) -> bool:
        """Whether it is done or stopped, and no request or listener is active."""
        last = self.answer if isinstance(self.answer, dict) else {}
        request = last.get("request")
        return isinstance(request, dict) and request.get("code") in ("done", "stopped") and not self.in_use

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Context with exclusive access.

        Raises:
            Refused: another request is active.
        """
        if self.busy:
            raise RefusedRequest(
                409, "busy", "expected one request at a time for a session, found another one at work; wait for its "
                "answer, or stop its search by DELETE .../search", {"Retry-After": "1"},
            )  # fmt: skip
        self.busy = True
        self.stop.clear()
        try:
            yield
        finally:
            self.busy = False
            self.touched = time.monotonic()

    def end(self) -> None:
        """Stop the search and end the answers to listeners."""
        self.stop.set()
        self.events.close()


class Sessions:
    """All sessions of a server.

    Args:
        limits: their largest number and idle time.
    """

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._all: dict[str, StoredSession] = {}

    def __len__(self) -> int:
        return len(self._all)

    def open(self, system: str, client: str) -> StoredSession:
        """Make room for a session of a client: of those that are over, the oldest is forgotten if there are too many.

        Raises:
            Refused: there are too many sessions that are not over.
        """
        self.forget_idle()
        limits = self._limits
        for whose, most in ((client, limits.sessions_of_client), (None, limits.sessions)):
            of = "" if whose is None else " of one client"
            known = [each for each in self._all.values() if whose in (each.client, None)]
            over = [each for each in known if each.over]
            if len(known) < most:
                continue
            if not over:
                raise RefusedRequest(
                    429, "too_many_sessions", f"expected at most {most} sessions{of}, found as many; delete "
                    "those that are not needed, or start the server with a higher limit", {"Retry-After": "10"},
                )  # fmt: skip
            self.close(min(over, key=lambda each: each.touched).name)
        session = StoredSession(secrets.token_urlsafe(18), system, client)
        self._all[session.name] = session
        return session

    def get(self, name: str) -> StoredSession:
        """Return the session with a name.

        Raises:
            Refused: there is no such session.
        """
        self.forget_idle()
        session = self._all.get(name)
        if session is None:
            raise RefusedRequest(
                404, "unknown_session", f"expected the name of a session, found {shown(name)}; it was deleted, or "
                f"forgotten after {self._limits.idle_s:g} s without a request: open a new one by POST /v1/sessions",
            )  # fmt: skip
        session.touched = time.monotonic()
        return session

    def close(self, name: str) -> None:
        """End a session.

        Raises:
            Refused: there is no such session.
        """
        self.get(name).end()
        del self._all[name]

    def forget_idle(self) -> None:
        """Close the sessions that have been idle for too long."""
        latest = time.monotonic() - self._limits.idle_s
        for name in [key for key, each in self._all.items() if each.touched < latest and not each.in_use]:
            self._all.pop(name).end()

    def close_all(self) -> None:
        """End every session."""
        for session in self._all.values():
            session.end()
        self._all.clear()

"""Sessions: each with a secret name, one request at a time, forgotten when nobody asks for it any more."""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from nsrecover.integrations.server.events import Events
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.problems import Refused, shown
from nsrecover.integrations.server.watch import Watch


class Session:
    """One client's plan and what became of it.

    Attributes:
        name: secret; who knows it can use the session.
        watch: follows the plan.
        events: what happened.
        stop: set to end the search that is running.
    """

    def __init__(self, watch: Watch, events: Events) -> None:
        self.name = secrets.token_urlsafe(18)
        self.watch = watch
        self.events = events
        self.stop = threading.Event()
        self.planning = False
        self.touched = time.monotonic()
        self._busy = False

    @property
    def in_use(self) -> bool:
        """Whether somebody waits for it or listens to it."""
        return self._busy or self.events.listeners > 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Watch]:
        """Work with the plan, alone.

        Raises:
            Refused: another request is at it.
        """
        if self._busy:
            raise Refused(
                409, "busy", "expected one request at a time for a session, found another one at work; wait for its "
                "answer, or stop its search by DELETE .../recovery", {"Retry-After": "1"},
            )  # fmt: skip
        self._busy = True
        self.stop.clear()
        try:
            yield self.watch
        finally:
            self._busy = False
            self.touched = time.monotonic()

    def end(self) -> None:
        """Stop what it is doing and let its listeners go."""
        self.stop.set()
        self.events.close()


class Sessions:
    """All sessions of a server.

    Args:
        limits: how many there may be and how long they may idle.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._all: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._all)

    def open(self, make: Callable[[], Watch]) -> Session:
        """A new session.

        Raises:
            Refused: there are too many.
        """
        self.forget_idle()
        if len(self._all) >= self._limits.sessions:
            raise Refused(
                429, "too_many_sessions", f"expected at most {self._limits.sessions} sessions, found as many; delete "
                "those that are over, or start the server with a higher limit", {"Retry-After": "10"},
            )  # fmt: skip
        session = Session(make(), Events(asyncio.get_running_loop()))
        self._all[session.name] = session
        return session

    def get(self, name: str) -> Session:
        """The session of that name.

        Raises:
            Refused: there is none.
        """
        self.forget_idle()
        session = self._all.get(name)
        if session is None:
            raise Refused(
                404, "unknown_session", f"expected the name of a session, found {shown(name)}; it was deleted, or "
                f"forgotten after {self._limits.idle_s:g} s without a request: open a new one by POST /v1/sessions",
            )  # fmt: skip
        session.touched = time.monotonic()
        return session

    def close(self, name: str) -> None:
        """End a session.

        Raises:
            Refused: there is none.
        """
        self.get(name).end()
        del self._all[name]

    def forget_idle(self) -> None:
        """End the sessions that nobody has asked for anything for too long."""
        latest = time.monotonic() - self._limits.idle_s
        for name in [key for key, each in self._all.items() if each.touched < latest and not each.in_use]:
            self._all.pop(name).end()

    def close_all(self) -> None:
        """End every session."""
        for session in self._all.values():
            session.end()
        self._all.clear()

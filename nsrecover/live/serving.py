"""The server of a live page, in a thread of its own."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from sse_starlette import ServerSentEvent

from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.server import check_token, listen
from nsrecover.integrations.server.running import GRACE_S, Server
from nsrecover.integrations.server.sessions import Events

PANEL = "panel"
"""Kind of the events."""
FOREVER_S = 1e9
Command = Callable[[str, Mapping[str, str]], str]
"""Carries out a command of a viewer with its fields, and returns what to answer."""


class Board(Events):
    """The panels of a page, each as it was changed last; who connects late gets these."""

    @property
    def panels(self) -> dict[str, str]:
        """Panel -> HTML. In the event loop only."""
        return {data["panel"]: data["html"] for _, _, data in self._kept}

    @property
    def number(self) -> int:
        """Number of the last change. In the event loop only."""
        return self._number

    def show(self, panel: str, html: str, at: float) -> None:
        """Change a panel. From any thread.

        Args:
            panel: its name.
            html: its content.
            at: time of what it shows, seconds since the epoch.
        """
        self.publish(PANEL, {"panel": panel, "html": html, "at": at})

    def follow(self, after: int, seconds: float = FOREVER_S) -> AsyncIterator[ServerSentEvent]:
        """Yield the changes after one that a viewer has; all panels if it has one of another run of the server."""
        return super().follow(after if after <= self._number else 0, seconds)

    def _add(self, kind: str, data: dict[str, Any]) -> None:
        older = next((each for each in self._kept if each[2]["panel"] == data["panel"]), None)
        if older is not None:
            self._kept.remove(older)
        super()._add(kind, data)


@dataclass
class LiveServer:
    """A running server.

    Attributes:
        title: of the page.
        board: the panels.
        url: address with the token, which viewers open once.
        command: carries out commands of viewers.
        report: makes the report of the run until now.
    """

    title: str
    board: Board
    url: str = ""
    command: Command = lambda name, fields: ""
    report: Callable[[], str] = lambda: ""


@contextmanager
def served(title: str, host: str, port: int, token: str | None) -> Iterator[LiveServer]:
    """Serve a page until the end of the `with` block.

    Args:
        title: of the page.
        host: address to listen on.
        port: port; 0 for any free one.
        token: what viewers need; a fresh one if None.

    Raises:
        InvalidConfiguration: the token is too short, or the address is in use.
    """
    from nsrecover.live.app import application  # it needs what is defined here

    check_token(token)
    secret = token or secrets.token_urlsafe(24)
    with listen(host, port) as listening:
        loop = asyncio.new_event_loop()
        found = LiveServer(title, Board(loop))
        address, number = listening.getsockname()[:2]
        url = f"http://{f'[{address}]' if ':' in address else address}:{number}"
        found.url = f"{url}/enter?token={secret}"
        ready = threading.Event()
        config = uvicorn.Config(
            application(found, secret, f"nsrecover-{number}"), log_level="warning", server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )  # fmt: skip
        server = Server(config, found.board.close, ready.set)

        def serve() -> None:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(server.serve(sockets=[listening]))

        thread = threading.Thread(target=serve, name="live page", daemon=True)
        thread.start()
        try:
            if not ready.wait(30.0):
                raise InvalidConfiguration("expected the server of the live page to start, found that it did not")
            yield found
        finally:
            server.should_exit = True
            thread.join()

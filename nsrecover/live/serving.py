"""The server of a live page, in a thread of its own."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.server import check_token, listen
from nsrecover.integrations.server.running import GRACE_S, Server, address_of
from nsrecover.live.app import ENTRANCE, application
from nsrecover.live.board import Board, LiveServer


@contextmanager
def served(
    title: str, host: str, port: int, token: str | None, template: str = "live.html.jinja"
) -> Iterator[LiveServer]:
    """Serve a page until the end of the `with` block.

    Args:
        title: of the page.
        host: address to listen on.
        port: port; 0 for any free one.
        token: what viewers need; a fresh one if None.
        template: of the page.

    Raises:
        InvalidConfiguration: the token is too short, or the address is in use.
    """
    check_token(token)
    secret = token or secrets.token_urlsafe(24)
    with listen(host, port) as listening:
        loop = asyncio.new_event_loop()
        found = LiveServer(title, Board(loop), template)
        url = address_of(listening)
        found.url = f"{url}{ENTRANCE}?token={secret}"
        ready = threading.Event()
        config = uvicorn.Config(
            application(found, secret, f"nsrecover-{url.rpartition(':')[2]}"), log_level="warning", server_header=False,
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
                raise InvalidConfiguration("expected the server of the live page to start, found it stopped")
            yield found
        finally:
            server.should_exit = True
            thread.join()

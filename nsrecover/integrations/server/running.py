"""The server process: loads checkpoints, runs uvicorn and shuts down."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import uvicorn

import nsrecover
from nsrecover.integrations.server.app import application
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.watch import Systems
from nsrecover.records.recording import example
from nsrecover.records.review import review

BOXES_ONLY = "boxes"
"""Name of the system of a server without checkpoints."""

BACKLOG = 512
"""Number of simultaneous connections; further ones are answered with 503."""

GRACE_S = 3
"""Time for finishing answers at shutdown, seconds."""


def run(
    listening: socket.socket,
    checkpoints: Mapping[str, Path | None],
    token: str | None,
    limits: Limits,
    on_ready: Callable[[str], None],
) -> None:
    """Load the checkpoints and answer requests until interrupted; without checkpoints, answer by geometry alone."""
    preload = "nsrecover.models.bundle" if checkpoints else "nsrecover.models.geometric"
    app = application(tuple(checkpoints) or (BOXES_ONLY,), partial(loaded, checkpoints), [preload], limits, token)
    for worker in app.state.service.workers:
        worker.start()
    config = uvicorn.Config(
        app, log_level="warning", server_header=False, limit_concurrency=BACKLOG, timeout_graceful_shutdown=GRACE_S
    )
    url = address_of(listening)
    server = Server(config, app.state.service.sessions.close_all, lambda: on_ready(url))
    asyncio.run(server.serve(sockets=[listening]))


def address_of(listening: socket.socket) -> str:
    """The address at which a socket listens, for browsers and clients."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


class Server(uvicorn.Server):
    """Says when it answers; ends searches and event streams first, so that their answers are sent at shutdown.

    Args:
        config: of uvicorn.
        end_work: called before it shuts down.
        on_ready: called once it answers.
    """

    def __init__(self, config: uvicorn.Config, end_work: Callable[[], None], on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_work, self._on_ready = end_work, on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the work, then shut down."""
        self._end_work()
        await super().shutdown(sockets)


def loaded(checkpoints: Mapping[str, Path | None]) -> Systems:
    """Load checkpoints, and use each once, so that the first client does not wait for what is loaded on first use.

    Raises:
        InvalidCheckpoint: a checkpoint is invalid.
    """
    systems = {name: nsrecover.load(folder) for name, folder in checkpoints.items()}
    for system in systems.values():
        for _ in review(system, example(), budget_s=0.1):
            pass
    return Systems(systems or {BOXES_ONLY: nsrecover.geometric()}, nsrecover.geometric())

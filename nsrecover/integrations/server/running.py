"""The server process: loads systems, runs uvicorn and shuts down."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import uvicorn

from nsrecover import geometric
from nsrecover.integrations.server.app import application
from nsrecover.integrations.server.jobs import Systems
from nsrecover.integrations.server.limits import Limits
from nsrecover.loading import system_at
from nsrecover.models.geometric import GeometricModels
from nsrecover.monitoring.watching import BoxWatching
from nsrecover.records.recording import example
from nsrecover.records.review import review

BOXES = "boxes"
"""Name of the system of boxes, which every server has."""

BACKLOG = 512
"""Number of simultaneous connections; further ones are answered with 503."""

GRACE_S = 3
"""Time for finishing answers at shutdown, seconds."""


def run(
    listening: socket.socket,
    systems: Mapping[str, str | Path | None],
    token: str | None,
    limits: Limits,
    on_ready: Callable[[str], None],
) -> None:
    """Load the systems and answer requests until interrupted."""
    preload = "nsrecover.models.bundle" if systems else "nsrecover.models.geometric"
    app = application(tuple({**systems, BOXES: ""}), partial(loaded, systems), [preload], limits, token)
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


def loaded(systems: Mapping[str, str | Path | None]) -> Systems:
    """Load systems, and use each once, so that the first client does not wait for what is loaded on first use.

    Raises:
        InvalidCheckpoint: a checkpoint is invalid.
        InvalidConfiguration: a factory cannot be loaded, or makes something else.
    """
    found = {name: system_at(place) for name, place in systems.items()}
    for system in found.values():
        if isinstance(system.watching, BoxWatching) and not isinstance(system.models, GeometricModels):
            review(system, example(), budget_s=0.1)
    return {**found, BOXES: found.get(BOXES) or geometric()}

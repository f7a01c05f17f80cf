"""The server process: loads checkpoints, runs uvicorn and shuts down."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
import uvicorn

import nsrecover
from nsrecover.integrations.server.app import create_app
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.watch import Systems
from nsrecover.records.recording import example
from nsrecover.records.review import review
from nsrecover.system import System, geometric

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
    """Load the checkpoints and answer requests until interrupted."""
    torch.set_num_threads(1)  # the networks are small; sessions use the threads
    systems = {name: nsrecover.load(folder) for name, folder in checkpoints.items()}
    for system in systems.values():
        warm_up(system)
    app = create_app(Systems(systems, geometric()), limits, token)
    server = _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            server_header=False,
            limit_concurrency=BACKLOG,
            timeout_graceful_shutdown=GRACE_S,
        ),
        app.state.service.sessions.close_all,
    )
    host, port = listening.getsockname()[:2]
    asyncio.run(_announced(server, listening, f"http://{f'[{host}]' if ':' in host else host}:{port}", on_ready))


class _Server(uvicorn.Server):
    """Ends searches and event streams first, so that their answers are sent before the connections are closed."""

    def __init__(self, config: uvicorn.Config, end_work: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_work = end_work

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end_work()
        await super().shutdown(sockets)


def warm_up(system: System) -> None:
    """Review the example once, so that the first client does not wait for what is loaded on first use."""
    for _ in review(system, example(), budget_s=0.1):
        pass


async def _announced(
    server: uvicorn.Server, listening: socket.socket, url: str, on_ready: Callable[[str], None]
) -> None:
    async def announce() -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        on_ready(url)

    announcing = asyncio.create_task(announce())
    try:
        await server.serve(sockets=[listening])
    finally:
        announcing.cancel()

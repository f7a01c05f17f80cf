"""The server process: loads systems, runs uvicorn and shuts down."""

import asyncio
import socket
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from nsrecover import geometric
from nsrecover.loading import system_at
from nsrecover.models.geometric import GeometricModels
from nsrecover.monitoring.box_belief import BoxModel
from nsrecover.records.recording import example
from nsrecover.records.review import review
from nsrecover.serving.server.app import application
from nsrecover.serving.server.connections import Server, address_of, config_of
from nsrecover.serving.server.limits import ServerLimits
from nsrecover.serving.server.work.jobs import Systems

BOXES = "boxes"
"""Name of the system of boxes, which every server has."""


def run(
    listening: socket.socket,
    systems: Mapping[str, str | Path | None],
    tokens: tuple[str, ...],
    limits: ServerLimits,
    proxies: str,
    on_ready: Callable[[str], None],
) -> None:
    """Load the systems and answer requests until interrupted."""
    preload = "nsrecover.models.bundle" if systems else "nsrecover.models.geometric"
    app = application(tuple({**systems, BOXES: ""}), partial(loaded, systems), [preload], limits, tokens)
    for searcher in app.state.service.searchers:
        threading.Thread(target=searcher.start, daemon=True).start()
    for worker in app.state.service.workers:
        worker.start()
    config = config_of(app, limits, proxies)
    url = address_of(listening)
    server = Server(config, app.state.service.sessions.close_all, lambda: on_ready(url))
    asyncio.run(server.serve(sockets=[listening]))


def loaded(systems: Mapping[str, str | Path | None]) -> Systems:
    """Load systems, and use each once, so that the first client does not wait for what is loaded on first use.

    Raises:
        InvalidCheckpoint: a checkpoint is invalid.
        InvalidConfiguration: a factory cannot be loaded, or makes something else.
    """
    found = {name: system_at(place) for name, place in systems.items()}
    for system in found.values():
        if isinstance(system.model, BoxModel) and not isinstance(system.model.models, GeometricModels):
            review(system, example(), budget_s=0.1)
    return {**found, BOXES: found.get(BOXES) or geometric()}

"""`nsrecover serve`: sessions over HTTP, for programs in any language.

    from nsrecover.integrations.server import serve

    if __name__ == "__main__":  # it starts processes
        serve(port=8765)

docs/server.md describes the interface, docs/openapi.json is its schema. Needs the extra `server`:
`pip install 'nsrecover[server]'`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.server.limits import Limits
from nsrecover.util.extras import needs_extra
from nsrecover.util.processes import require_main_guard, require_picklable

if TYPE_CHECKING:
    from fastapi import FastAPI

    from nsrecover.system import System

__all__ = ["Limits", "create_app", "serve"]

TOKEN_LENGTH = 16
"""Smallest length of a token; shorter ones can be guessed."""


def create_app(systems: Mapping[str, System[Any]], limits: Limits | None = None, token: str | None = None) -> FastAPI:
    """Return the server as an ASGI application, for any ASGI server.

    Reports to sessions are worked on in `Limits.workers` processes, which begin with the first session; a script that
    runs it needs `if __name__ == "__main__":`, as every program that starts processes.

    Args:
        systems: name, as clients request it -> system, of boxes, images or facts; the first one is the default.
        limits: limits for clients.
        token: token that clients must send as `Authorization: Bearer`. Without one, only requests that address the
            server as localhost are answered; an application that other machines can reach must have one.

    Raises:
        InvalidConfiguration: the extra is not installed, there is no system, one cannot be pickled, or the token is
            too short.
    """
    need_extra()
    from nsrecover.integrations.server.app import application

    if not systems:
        raise InvalidConfiguration("expected at least one system, found none; give {'tabletop': nsrecover.load()}")
    check_token(token)
    load: Callable[[], dict[str, System[Any]]] = partial(dict, systems)
    require_picklable(load, "systems", "use module-level functions and classes for their parts")
    preload = sorted({type(system.watching).__module__ for system in systems.values()})
    return application(tuple(systems), load, preload, limits or Limits(), token)


def serve(
    host: str = "127.0.0.1",
    port: int = 8765,
    systems: Mapping[str, str | Path | None] | None = None,
    token: str | None = None,
    limits: Limits | None = None,
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until interrupted.

    Args:
        host: address to listen on; addresses other than loopback need a token.
        port: port; 0 for any free one.
        systems: name, as clients request it -> folder of a checkpoint (None: the shipped one) or `file.py:factory` of a
            system, the default one first. After them comes the system `boxes`, which needs boxes only; without others,
            no torch is needed.
        token: token that clients must send as `Authorization: Bearer`.
        limits: limits for clients.
        on_ready: called with the address once requests are answered.

    Raises:
        InvalidConfiguration: the extra is not installed, the token is missing or too short, the address is in use, or
            a script calls it while it is imported.
        InvalidCheckpoint: a checkpoint is invalid.
    """
    need_extra()
    check_token(token)
    require_main_guard("nsrecover.integrations.server.serve()")
    from nsrecover.integrations.server.guard import is_loopback

    if token is None and not is_loopback(host):
        raise InvalidConfiguration(
            f"expected a token for {host}, which other machines can reach, found none; put one into a file and give "
            "--token-file, or set NSRECOVER_TOKEN, or listen on 127.0.0.1"
        )
    from nsrecover.loading import check_place

    named = {"tabletop": None} if systems is None else systems
    for place in named.values():
        check_place(place)  # processes load them, and need long to begin
    with listen(host, port) as listening:
        from nsrecover.integrations.server.running import run

        run(listening, named, token, limits or Limits(), on_ready)


def need_extra() -> None:
    """Refuse to go on without the extra `server`.

    Raises:
        InvalidConfiguration: it is not installed.
    """
    for package in ("fastapi", "uvicorn", "python_multipart", "sse_starlette", "jinja2"):
        with needs_extra("server", package):
            if find_spec(package) is None:
                raise ImportError(package)


def check_token(token: str | None) -> None:
    """Refuse a token that can be guessed, or cannot be sent.

    Raises:
        InvalidConfiguration: it is too short, or has other characters.
    """
    if token is not None and (len(token) < TOKEN_LENGTH or not token.isascii() or not token.isprintable()):
        raise InvalidConfiguration(
            f"expected a token of at least {TOKEN_LENGTH} printable ASCII characters, found one of {len(token)}; make "
            "one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that an address in use is reported before the checkpoints are loaded.

    Raises:
        InvalidConfiguration: the address is in use or does not exist.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        raise InvalidConfiguration(
            f"expected to be able to listen on {host} port {port}, found: {error}; choose another address, or --port 0 "
            "for any free port"
        ) from None
    return listening

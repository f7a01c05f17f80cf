"""`nsrecover serve`: monitor, recovery and explanation over HTTP, for planners and robots that do not speak Python.

    from nsrecover.integrations.server import serve

    serve(port=8765)

docs/server.md has the interface in words, docs/openapi.json as a schema. Needs FastAPI and uvicorn:
`pip install 'nsrecover[server]'`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nsrecover.core.extras import needs_extra
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.server.limits import Limits

if TYPE_CHECKING:
    from fastapi import FastAPI

    from nsrecover.system import System

__all__ = ["Limits", "create_app", "serve"]

TOKEN_LENGTH = 16
"""Shorter tokens can be guessed."""


def create_app(systems: Mapping[str, System], limits: Limits | None = None, token: str | None = None) -> FastAPI:
    """The server as an ASGI application, for any ASGI server.

    Args:
        systems: what to watch with, by the names that clients may ask for; the first one is the default.
        limits: what clients may use up.
        token: what a client has to send as `Authorization: Bearer`. Without one, only requests that address the server
            as localhost are answered; an application that others can reach must have one.

    Raises:
        InvalidConfiguration: FastAPI is not installed, there is no system, or the token is too short.
    """
    _need_extra()
    from nsrecover.integrations.server import app
    from nsrecover.integrations.server.watch import Systems
    from nsrecover.system import geometric

    if not systems:
        raise InvalidConfiguration("expected at least one system, found none; give {'tabletop': nsrecover.load()}")
    _check_token(token)
    return app.create_app(Systems(dict(systems), geometric()), limits, token)


def serve(
    host: str = "127.0.0.1",
    port: int = 8765,
    checkpoints: Mapping[str, Path | None] | None = None,
    token: str | None = None,
    limits: Limits | None = None,
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until interrupted.

    Args:
        host: address to listen on; whatever is not loopback needs a token.
        port: 0 for any free one.
        checkpoints: folders by the names that clients may ask for, the default one first; None is the shipped one.
        token: what a client has to send as `Authorization: Bearer`.
        limits: what clients may use up.
        on_ready: told the address once requests are answered.

    Raises:
        InvalidConfiguration: the extra is not installed, a token is needed and missing or too short, or the address
            cannot be listened on.
        InvalidCheckpoint: a checkpoint cannot be used.
    """
    _need_extra()
    _check_token(token)
    from nsrecover.integrations.server.guard import is_loopback

    if token is None and not is_loopback(host):
        raise InvalidConfiguration(
            f"expected a token for {host}, which other machines can reach, found none; put one into a file and give "
            "--token-file, or set NSRECOVER_TOKEN, or listen on 127.0.0.1"
        )
    listening = _listen(host, port)
    try:
        from nsrecover.integrations.server.running import run

        run(listening, checkpoints or {"tabletop": None}, token, limits or Limits(), on_ready)
    finally:
        listening.close()


def _need_extra() -> None:
    for package in ("fastapi", "uvicorn", "python_multipart", "sse_starlette", "jinja2"):
        with needs_extra("server", package):
            if find_spec(package) is None:
                raise ImportError(package)


def _check_token(token: str | None) -> None:
    if token is not None and (len(token) < TOKEN_LENGTH or not token.isascii() or not token.isprintable()):
        raise InvalidConfiguration(
            f"expected a token of at least {TOKEN_LENGTH} printable ASCII characters, found one of {len(token)}; make "
            "one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, so that an address in use is noticed before anything is loaded."""
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

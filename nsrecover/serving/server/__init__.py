"""`nsrecover serve`: sessions over HTTP, for programs in any language.

    from nsrecover.serving.server import serve

    if __name__ == "__main__":  # it starts processes
        serve(port=8765)

docs/server.md describes the interface, docs/openapi.json is its schema. Needs the extra `server`:
`pip install 'nsrecover[server]'`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.server.limits import ServerLimits
from nsrecover.util.extras import needs_extra
from nsrecover.util.processes import require_main_guard, require_picklable

if TYPE_CHECKING:
    from fastapi import FastAPI

    from nsrecover.system import AnySystem


__all__ = ["ServerLimits", "create_app", "serve"]

Token = str | Sequence[str] | None
"""None, one or several."""

TOKEN_LENGTH = 16
"""Smallest length of a token; shorter ones can be guessed."""


def create_app(systems: Mapping[str, AnySystem], limits: ServerLimits | None = None, token: Token = None) -> FastAPI:
    """Return the server as an ASGI application, for any ASGI server.

    Reports to sessions are worked on in `Limits.workers` processes, which begin with the first session; a script that
    runs it needs `if __name__ == "__main__":`, as every program that starts processes.

    Args:
        systems: name, as clients request it -> system, of boxes, images or facts; the first one is the default.
        limits: limits for clients.
        token: token that clients must send as `Authorization: Bearer`. Without one, only requests that address the
            server as localhost are answered; an application that other machines can reach must have one. Several: each
            is a client of its own, with its share of sessions and searches; else each address is one.

    Raises:
        InvalidConfiguration: the extra is not installed, there is no system, one cannot be pickled, or the token is
            too short.
    """
    need_extra()
    from nsrecover.serving.server.app import application

    if not systems:
        raise InvalidConfiguration("expected at least one system, found none; give {'tabletop': nsrecover.load()}")
    tokens = check_token(token)
    load: Callable[[], dict[str, AnySystem]] = partial(dict, systems)
    require_picklable(load, "systems", "use module-level functions and classes for their parts")
    preload = sorted({type(system.model).__module__ for system in systems.values()})
    return application(tuple(systems), load, preload, limits or ServerLimits(), tokens)


def serve(
    host: str = "127.0.0.1",
    port: int = 8765,
    systems: Mapping[str, str | Path | None] | None = None,
    token: Token = None,
    limits: ServerLimits | None = None,
    proxies: str = "",
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until interrupted.

    Args:
        host: address to listen on; addresses other than loopback need a token.
        port: port; 0 for any free one.
        systems: name, as clients request it -> folder of a checkpoint (None: the shipped one) or `file.py:factory` of a
            system, the default one first. After them comes the system `boxes`, which needs boxes only; without others,
            no torch is needed.
        token: token that clients must send as `Authorization: Bearer`; several, see `create_app`.
        limits: limits for clients.
        proxies: addresses of reverse proxies, with commas between them, whose `X-Forwarded-For` says who asks.
        on_ready: called with the address once requests are answered.

    Raises:
        InvalidConfiguration: the extra is not installed, the token is missing or too short, the address is in use, or
            a script calls it while it is imported.
        InvalidCheckpoint: a checkpoint is invalid.
    """
    need_extra()
    tokens = check_token(token)
    require_main_guard("nsrecover.serving.server.serve()")
    from nsrecover.serving.server.guard import is_loopback

    if not tokens and not is_loopback(host):
        raise InvalidConfiguration(
            f"expected a token for {host}, which other machines can reach, found none; put one into a file and give "
            "--token-file, or set NSRECOVER_TOKEN, or listen on 127.0.0.1"
        )
    from nsrecover.loading import check_place

    named = {"tabletop": None} if systems is None else systems
    for place in named.values():
        check_place(place)  # processes load them, and need long to begin
    with listen(host, port) as listening:
        from nsrecover.serving.server.running import run

        run(listening, named, tokens, limits or ServerLimits(), proxies, on_ready)


def need_extra() -> None:
    """Refuse to go on without the extra `server`.

    Raises:
        InvalidConfiguration: it is not installed.
    """
    for package in ("fastapi", "uvicorn", "python_multipart", "sse_starlette", "jinja2"):
        with needs_extra("server", package):
            if find_spec(package) is None:
                raise ImportError(package)


def check_token(token: Token) -> tuple[str, ...]:
    """Return the tokens; refuses those that can be guessed, or cannot be sent.

    Raises:
        InvalidConfiguration: one is too short, or has other characters.
    """
    tokens = () if token is None else (token,) if isinstance(token, str) else tuple(token)
    for each in tokens:
        if len(each) < TOKEN_LENGTH or not each.isascii() or not each.isprintable():
            raise InvalidConfiguration(
                f"expected a token of at least {TOKEN_LENGTH} printable ASCII characters, found one of {len(each)}; "
                "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )
    return tokens


def read_tokens(file: Path | None) -> Token:
    """The tokens of a file, one a line; without a file that of the environment, if there is one.

    Raises:
        InvalidConfiguration: the file cannot be read.
    """
    if file is None:
        return os.environ.get("NSRECOVER_TOKEN") or None
    try:
        return file.read_text(encoding="utf-8-sig").split() or ""
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfiguration(f"expected a file with a token, found {file}: {error}") from None


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

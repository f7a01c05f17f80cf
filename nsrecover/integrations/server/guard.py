"""What is checked before a request is looked into: who asks, from where, how much and how long."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.problems import Refused, answer, shown

OPEN = frozenset({"/v1/health", "/docs", "/openapi.json"})
"""Paths that say nothing but what the program itself says; they need no token."""


def is_loopback(host: str) -> bool:
    """Whether only programs on the same machine can reach an address. Names other than localhost count as no."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


class Guard:
    """Refuses, in this order: strangers, bodies that are too large, requests that take too long to arrive.

    Without a token only programs of this machine may ask; so that no web page in a browser of this machine can, the
    request has to name the server by a loopback address, and must not come from a page of another origin.

    Args:
        app: what is guarded.
        limits: how much and how long.
        token: what a client has to know; None on loopback only.
    """

    def __init__(self, app: ASGIApp, limits: Limits, token: str | None) -> None:
        self._app, self._limits, self._token = app, limits, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._check_caller(scope["path"], headers)
            self._check_length(headers)
            await self._app(scope, self._limited(receive), sent)
        except Refused as refused:
            if started:
                raise
            # what is left of the body is not read
            response = answer(refused.problem, refused.status_code, {**(refused.headers or {}), "Connection": "close"})
            await response(scope, receive, send)

    def _check_caller(self, path: str, headers: Mapping[str, str]) -> None:
        if self._token is not None:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            known = hmac.compare_digest(given.strip().encode(), self._token.encode()) and scheme.lower() == "bearer"
            if not known and path not in OPEN:
                raise Refused(
                    401, "unauthorized", "expected the header `Authorization: Bearer TOKEN` with the token that the "
                    "server was started with, found " + ("another one" if given else "none"),
                    {"WWW-Authenticate": "Bearer"},
                )  # fmt: skip
            return
        host = urlsplit(f"//{headers.get('host', '')}")
        origin = headers.get("origin")
        if not is_loopback(_hostname(host.netloc)):
            raise Refused(
                403, "foreign_host", f"expected the server to be addressed as localhost, found {shown(host.netloc)}; "
                "to be reached from elsewhere, start it with a token",
            )  # fmt: skip
        if origin is not None and urlsplit(origin).netloc != host.netloc:
            raise Refused(
                403, "foreign_origin", f"expected no request from a page of another site, found {shown(origin)}; start "
                "the server with a token and send that",
            )  # fmt: skip

    def _check_length(self, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and len(length) < 20 and int(length) > self._limits.body_bytes:
            raise self._too_large(f"{length} bytes")

    def _limited(self, receive: Receive) -> Receive:
        """Counts what arrives, and waits for it so long and no longer."""
        loop = asyncio.get_running_loop()
        until, left, whole = loop.time() + self._limits.receive_s, self._limits.body_bytes, False

        async def limited() -> Message:
            nonlocal left, whole
            if whole:  # what follows is the client going away, for which there is no hurry
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(until - loop.time(), 0))
            except TimeoutError:
                raise Refused(
                    408,
                    "too_slow",
                    f"expected the whole request within {self._limits.receive_s:g} s, found a part of it",
                ) from None
            left -= len(message.get("body", b""))
            whole = not message.get("more_body", False)
            if left < 0:
                raise self._too_large("more")
            return message

        return limited

    def _too_large(self, found: str) -> Refused:
        return Refused(
            413,
            "too_large",
            f"expected a body of at most {self._limits.body_bytes} bytes, found {found}; send smaller images, or start "
            "the server with a higher limit",
        )


def _hostname(netloc: str) -> str:
    """Without the port."""
    return netloc.partition("]")[0].lstrip("[") if netloc.startswith("[") else netloc.partition(":")[0]

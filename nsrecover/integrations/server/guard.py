"""Checks before a request is processed: the caller, the size of the body and the time it takes to arrive."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
from collections.abc import Mapping

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.problems import Refused, answer, shown

OPEN = frozenset({"/v1/health", "/docs", "/openapi.json"})
"""Paths that need no token; without one they reveal nothing beyond the published program."""

KNOWN = "nsrecover.known"
"""Key of a request's scope: whether the caller has shown the token, or needs none."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^][:@/\\\s]+)(?::\d+)?")
"""Value of a `Host` header: a name or an address, with or without a port."""


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only; of host names, only localhost counts."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


JSON_MARKS = (b",", b"[", b"{")
"""Each value of a JSON body needs one of these; parsing takes time for each."""


ADDRESSES = 10_000
"""Number of addresses whose requests are counted; of more, those that asked least recently are forgotten."""


def matches(given: str, token: str) -> bool:
    """Return whether a token is the right one, in a time that does not depend on it."""
    return hmac.compare_digest(given.encode(), token.encode())


class Rates:
    """Counts the requests of each address: a bucket that refills with time (token bucket).

    Args:
        per_s: lasting rate.
    """

    def __init__(self, per_s: float) -> None:
        self._per_s = per_s
        self._left: dict[str, tuple[float, float]] = {}

    def allow(self, address: str, now: float) -> bool:
        """Count a request at a time in seconds; return whether it is within the rate."""
        left, before = self._left.pop(address, (2 * self._per_s, now))
        left = min(2 * self._per_s, left + (now - before) * self._per_s)
        allowed = left >= 1
        self._left[address] = (left - allowed, now)
        if len(self._left) > ADDRESSES:
            del self._left[next(iter(self._left))]
        return allowed


def _without_body(send: Send) -> Send:
    """Return a sender that leaves out the body: an answer ends with its headers, and so does a stream."""
    ended = False

    async def sent(message: Message) -> None:
        nonlocal ended
        if message["type"] != "http.response.body":
            await send(message)
        elif not ended:
            ended = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return sent


class Guard:
    """Middleware that refuses unauthorised callers, and requests that are too many, too large or too slow.

    Without a token, only programs on this machine may send requests. To keep out web pages in a browser on this
    machine, the request must address the server by a loopback address, and must not come from another origin.

    Args:
        app: the application to protect.
        limits: maximum body size, arrival time and rate.
        token: the token that clients must send; None allows loopback only.
        cookie: name of the cookie in which browsers may send the token; their pages must be of this server.
        open_paths: paths that need no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        token: str | None,
        cookie: str = "",
        open_paths: frozenset[str] = OPEN,
    ) -> None:
        self._app, self._limits, self._token, self._cookie, self._open = app, limits, token, cookie, open_paths
        self._rates = Rates(limits.requests_per_s)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # answered as GET, without the body
            scope, send = {**scope, "method": "GET"}, _without_body(send)
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            self._check_rate(scope)
            known = self._check_caller(scope["path"], headers)
            scope = {**scope, KNOWN: known}
            self._check_length(headers)
            await self._app(scope, self._limited(receive, headers), sent)
        except Refused as refused:
            if started:
                raise
            # The rest of the body is not read.
            response = answer(refused.problem, refused.status_code, {**(refused.headers or {}), "Connection": "close"})
            await response(scope, receive, send)

    def _check_rate(self, scope: Scope) -> None:
        address = str((scope.get("client") or ("",))[0])
        if not self._rates.allow(address, asyncio.get_running_loop().time()):
            raise Refused(
                429, "too_many_requests", f"expected at most {self._limits.requests_per_s:g} requests a second of one "
                "address, found more; send fewer, or start the server with a higher limit", {"Retry-After": "1"},
            )  # fmt: skip

    def _check_caller(self, path: str, headers: Mapping[str, str]) -> bool:
        """Return whether the caller may know what the server does; others reach the open paths only."""
        host = headers.get("host", "")
        if self._token is not None:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            known = matches(given.strip(), self._token) and scheme.lower() == "bearer"
            if not known and self._cookie:
                sent = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
                known = matches(sent, self._token)
                self._check_origin(host, headers)
            if not known and path not in self._open:
                other = ", or a browser that has opened the address with the token" if self._cookie else ""
                raise Refused(
                    401, "unauthorized", "expected the header `Authorization: Bearer TOKEN` with the token that the "
                    f"server was started with{other}, found " + ("another one" if given else "none"),
                    {"WWW-Authenticate": "Bearer"},
                )  # fmt: skip
            return known
        # Not Starlette's TrustedHostMiddleware: that one takes a list of names instead of all loopback addresses, and
        # refuses with status 400 and plain text instead of a problem.
        named = _HOST.fullmatch(host)
        if named is None or not is_loopback(named[1]):
            raise Refused(
                403, "foreign_host", f"expected the server to be addressed as localhost, found {shown(host)}; "
                "to be reached from elsewhere, start it with a token",
            )  # fmt: skip
        self._check_origin(host, headers)
        return True

    def _check_origin(self, host: str, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Refused(
                403, "foreign_origin", f"expected no request from a page of another site, found {shown(origin)}; start "
                "the server with a token and send that",
            )  # fmt: skip

    def _check_length(self, headers: Mapping[str, str]) -> None:
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdigit() and len(length) < 20 and int(length) > self._limits.body_bytes:
            raise self._too_large(f"{length} bytes")

    def _limited(self, receive: Receive, headers: Mapping[str, str]) -> Receive:
        """Return a receiver that enforces the limits on body size, values in a JSON body and arrival time."""
        loop = asyncio.get_running_loop()
        until, left, whole = loop.time() + self._limits.receive_s, self._limits.body_bytes, False
        marks, values = JSON_MARKS if "json" in headers.get("content-type", "json") else (), self._limits.body_values

        async def limited() -> Message:
            nonlocal left, values, whole
            if whole:  # Only the disconnect message can follow; it has no deadline.
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), max(until - loop.time(), 0))
            except TimeoutError:
                raise Refused(
                    408,
                    "too_slow",
                    f"expected the whole request within {self._limits.receive_s:g} s, found a part of it",
                ) from None
            body = message.get("body", b"")
            left -= len(body)
            values -= sum(map(body.count, marks))
            whole = not message.get("more_body", False)
            if left < 0:
                raise self._too_large("more")
            if values < 0:
                raise Refused(
                    413, "too_many_values", f"expected a JSON body of at most {self._limits.body_values} values, found "
                    "more; send images as PNG",
                )  # fmt: skip
            return message

        return limited

    def _too_large(self, found: str) -> Refused:
        return Refused(
            413,
            "too_large",
            f"expected a body of at most {self._limits.body_bytes} bytes, found {found}; send smaller images, or start "
            "the server with a higher limit",
        )

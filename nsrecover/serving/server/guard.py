"""Checks before a request is processed: the caller, the size of the body and the time it takes to arrive."""

import asyncio
import hmac
import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Mapping

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nsrecover.serving.server.limits import ServerLimits
from nsrecover.serving.server.problems import RefusedRequest, answer, shown

OPEN = frozenset({"/v1/health", "/docs", "/openapi.json"})
"""Paths that need no token; without one they reveal nothing beyond the published program."""

KNOWN, CLIENT = "nsrecover.known", "nsrecover.client"
"""Keys of a request's scope: whether the caller has shown a token, or needs none; and who it is."""

ONCE = ("host", "origin", "authorization", "content-length", "transfer-encoding", "content-type")
"""Headers that may be given once: of several, programs in between may take another one than the server."""

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


def network_of(scope: Scope) -> str:
    """The address of a caller; of IPv6, the network of 64 bits, in which one machine has as many as it wants."""
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host


def _check_headers(scope: Scope) -> None:
    """Refuse requests that a program in between may understand in another way."""
    names = Counter(key.decode("latin-1").lower() for key, _ in scope["headers"])
    twice = [each for each in ONCE if names[each] > 1]
    if "content-length" in names and "transfer-encoding" in names:
        twice = ["content-length with transfer-encoding"]
    if twice:
        raise RefusedRequest(
            400, "ambiguous_headers", f"expected each of {', '.join(ONCE)} once, and one that says where the body "
            f"ends, found several: {twice[0]}",
        )  # fmt: skip


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
        tokens: tokens of which clients must send one; without any, loopback only is allowed. If there are several, each
            is a client of its own, wherever its requests come from.
        cookie: name of the cookie in which browsers may send the token; their pages must be of this server.
        open_paths: paths that need no token.
        answered: called with the status of every answer.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ServerLimits,
        tokens: tuple[str, ...],
        cookie: str = "",
        open_paths: frozenset[str] = OPEN,
        answered: Callable[[int], None] = lambda status: None,
    ) -> None:
        self._app, self._limits, self._tokens, self._cookie, self._open = app, limits, tokens, cookie, open_paths
        self._rates, self._answered = Rates(limits.requests_per_s), answered

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
            if message["type"] == "http.response.start":
                self._answered(message["status"])
            await send(message)

        try:
            self._check_rate(scope)
            _check_headers(scope)
            token = self._token_of(headers)
            self._check_caller(scope["path"], headers, token)
            self._check_length(headers)
            client = network_of(scope) if len(self._tokens) < 2 else token
            known = token is not None
            scope.setdefault("state", {})[KNOWN] = known  # where the connection looks for it
            await self._app({**scope, KNOWN: known, CLIENT: client}, self._limited(receive, headers), sent)
        except RefusedRequest as refused:
            if started:
                raise
            # The rest of the body is not read.
            response = answer(refused.problem, refused.status_code, {**(refused.headers or {}), "Connection": "close"})
            await response(scope, receive, sent)

    def _check_rate(self, scope: Scope) -> None:
        if not self._rates.allow(network_of(scope), asyncio.get_running_loop().time()):
            raise RefusedRequest(
                429, "too_many_requests", f"expected at most {self._limits.requests_per_s:g} requests a second of one "
                "address, found more; send fewer, or start the server with a higher limit", {"Retry-After": "1"},
            )  # fmt: skip

    def _token_of(self, headers: Mapping[str, str]) -> str | None:
        """The token that the caller has shown; empty if none is needed, None if a wrong one or none was sent."""
        if not self._tokens:
            return ""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            if not self._cookie:
                return None
            given = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
            self._check_origin(headers.get("host", ""), headers)
        return next((each for each in self._tokens if matches(given.strip(), each)), None)

    def _check_caller(self, path: str, headers: Mapping[str, str], token: str | None) -> None:
        host = headers.get("host", "")
        if self._tokens:
            if token is None and path not in self._open:
                other = ", or a browser that has opened the address with the token" if self._cookie else ""
                found = "another one" if headers.get("authorization") else "none"
                raise RefusedRequest(
                    401, "unauthorized", "expected the header `Authorization: Bearer TOKEN` with the token that the "
                    f"server was started with{other}, found {found}",
                    {"WWW-Authenticate": "Bearer"},
                )  # fmt: skip
            return
        # Not Starlette's TrustedHostMiddleware: that one takes a list of names instead of all loopback addresses, and
        # refuses with status 400 and plain text instead of a problem.
        named = _HOST.fullmatch(host)
        if named is None or not is_loopback(named[1]):
            raise RefusedRequest(
                403, "foreign_host", f"expected the server to be addressed as localhost, found {shown(host)}; "
                "to be reached from elsewhere, start it with a token",
            )  # fmt: skip
        self._check_origin(host, headers)

    def _check_origin(self, host: str, headers: Mapping[str, str]) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise RefusedRequest(
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
                raise RefusedRequest(
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
                raise RefusedRequest(
                    413, "too_many_values", f"expected a JSON body of at most {self._limits.body_values} values, found "
                    "more; send images as PNG",
                )  # fmt: skip
            return message

        return limited

    def _too_large(self, found: str) -> RefusedRequest:
        return RefusedRequest(
            413,
            "too_large",
            f"expected a body of at most {self._limits.body_bytes} bytes, found {found}; send smaller images, or start "
            "the server with a higher limit",
        )

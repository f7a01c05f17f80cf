"""Deadlines and caps of connections before a caller is known, for uvicorn."""

import asyncio
import resource
import socket
from collections.abc import Callable

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from nsrecover.serving.server.guard import KNOWN, network_of
from nsrecover.serving.server.limits import ServerLimits

UNKNOWN, UNKNOWN_OF_ADDRESS = 256, 64
"""Most connections whose caller is not known, in all and of one address; of more, the oldest is closed."""

KNOWN_AT_ONCE, OF_ADDRESS = 512, 256
"""Most connections of known callers, further requests are answered with 503; and most connections of one address."""

GRACE_S = 3
"""Time for finishing answers at shutdown, seconds."""


def config_of(app: ASGIApp, limits: ServerLimits, proxies: str = "") -> uvicorn.Config:
    """The settings of uvicorn.

    Args:
        app: the application, with the guard around it.
        limits: of which `receive_s` is the time for the headers of a request, and for the token.
        proxies: addresses of reverse proxies whose `X-Forwarded-For` is believed, with commas between them.
    """
    descriptors = raised_descriptors()
    unknown = min(UNKNOWN, descriptors // 4)
    protocol = type("Limited", (Connection,), {"receive_s": limits.receive_s, "unknown": unknown})
    return uvicorn.Config(
        app, http=protocol, ws="none", log_level="warning", server_header=False, timeout_graceful_shutdown=GRACE_S,
        limit_concurrency=min(KNOWN_AT_ONCE, descriptors // 2) + unknown, proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or [],
    )  # fmt: skip


def raised_descriptors() -> int:
    """Let this process have as many descriptors as it may, and return their number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(hard, 1 << 16) if hard != resource.RLIM_INFINITY else 1 << 16
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(soft, most)


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


class Connection(H11Protocol):
    """A connection that is closed if it does not show in time who asks, or if there are too many like it."""

    receive_s = 30.0
    unknown = UNKNOWN
    _known = False
    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Make room for it, and give it a time."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self.address, self.made_s = network_of({"client": self.client}), self.loop.time()
        self._make_room()
        self.loop.call_later(self.receive_s, self._give_up)

    def handle_events(self) -> None:
        """Give the headers of every request a time."""
        super().handle_events()
        begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if begun and self._head is None:
            self._head = self.loop.call_later(self.receive_s, self.transport.abort)
        elif not begun and self._head is not None:
            self._head.cancel()
            self._head = None

    def on_response_complete(self) -> None:
        """Remember who has asked: the next request begins with a scope of its own."""
        _ = self.known
        super().on_response_complete()

    @property
    def known(self) -> bool:
        """Whether one of its requests was of a known caller."""
        state: dict[str, object] = (self.scope or {}).get("state", {})
        self._known = self._known or bool(state.get(KNOWN))
        return self._known

    def _give_up(self) -> None:
        if not self.known:
            self.transport.abort()

    def _make_room(self) -> None:
        alive = [each for each in self.connections if isinstance(each, Connection) and not each.transport.is_closing()]
        if sum(each.address == self.address for each in alive) > OF_ADDRESS:
            self.transport.abort()
            return
        unknown = sorted((each for each in alive if not each.known), key=lambda each: each.made_s)
        same = [each for each in unknown if each.address == self.address]
        for each in same[:-UNKNOWN_OF_ADDRESS] or unknown[: -self.unknown]:
            each.transport.abort()

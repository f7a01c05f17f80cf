"""Hostile clients: nonsense, floods, half requests and lost connections, from addresses of their own."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from eval.checks.fleet.robots import own_address

FLOOD = 300
"""Requests of one flood, as fast as they go."""

BODIES = (
    b"", b"{", b"null", b"[" * 30_000, b'{"plan": ["top(a, b)"], "plan": []}', b'{"plan": NaN}', b"\xff\xfe\x00",
    b'{"plan": ["\\ud800(a)"]}', b'{"plan": [' + b"1," * 5000 + b"1]}", json.dumps({"plan": ["x" * 100_000]}).encode(),
    b'{"plan": ["' + b"(" * 500 + b'"]}', b'{"objects": [{"name": "a", "box": [1e308, 0, 0, 1, 1, 1]}]}',
)  # fmt: skip
"""Bodies that no path takes."""


class Hostile:
    """Attacks in turn until it is told to stop.

    Args:
        url: of the server.
        number: from 0; the address is its own, 127.1.x.y, because rates are limited by address.

    Attributes:
        statuses: number of answers by status; 0 for connections that the server closed.
    """

    def __init__(self, url: str, number: int) -> None:
        parts = urlsplit(url)
        self._place = (parts.hostname or "", parts.port or 80)
        self._source = own_address(1, number)
        self._rng = random.Random(number)
        self._open: list[socket.socket] = []
        self.statuses = Counter[int]()

    def run(self, until: float) -> None:
        """Attack until a time of `time.perf_counter`."""
        attacks: tuple[Callable[[], None], ...] = (
            self._nonsense, self._flood, self._half_a_request, self._leave, self._foreign, self._large, self._no_http,
        )  # fmt: skip
        while time.perf_counter() < until:
            self._rng.choice(attacks)()
            time.sleep(self._rng.uniform(0.0, 0.5))
        for each in self._open:
            each.close()

    @property
    def server_errors(self) -> int:
        """Number of answers with status 500 and above."""
        return sum(count for status, count in self.statuses.items() if status >= 500)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(*self._place, timeout=60, source_address=self._source)
        try:
            yield connection
        except (OSError, http.client.HTTPException):
            self.statuses[0] += 1
        finally:
            connection.close()

    def _ask(
        self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes = b"", **headers: str
    ) -> None:
        connection.request(method, path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        response.read()
        self.statuses[response.status] += 1

    def _nonsense(self) -> None:
        path = self._rng.choice(
            ("/v1/sessions", "/v1/sessions/x/scenes", "/v1/sessions/%00/observations", "/../../etc")
        )
        with self._connected() as connection:
            self._ask(connection, self._rng.choice(("POST", "PUT", "GET", "TRACE")), path, self._rng.choice(BODIES))

    def _flood(self) -> None:
        with self._connected() as connection:
            for _ in range(FLOOD):
                self._ask(connection, "GET", "/v1/causes")

    def _half_a_request(self) -> None:
        """Holds the connection open; at most ten of them."""
        with contextlib.suppress(OSError):
            half = socket.create_connection(self._place, timeout=10, source_address=self._source)
            half.sendall(b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{")
            self._open.append(half)
        if len(self._open) > 10:
            self._open.pop(0).close()

    def _leave(self) -> None:
        """Sends a request and does not wait for the answer."""
        with contextlib.suppress(OSError), socket.create_connection(self._place, 10, self._source) as gone:
            gone.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def _foreign(self) -> None:
        with self._connected() as connection:
            self._ask(connection, "GET", "/v1/causes", Host="evil.example")
            self._ask(connection, "POST", "/v1/sessions", b"{}", Origin="http://evil.example")

    def _large(self) -> None:
        with self._connected() as connection:
            self._ask(connection, "POST", "/v1/sessions", b" " * 17_000_000)

    def _no_http(self) -> None:
        with contextlib.suppress(OSError), socket.create_connection(self._place, 10, self._source) as noise:
            noise.sendall(self._rng.randbytes(500))

"""A real HTTP server that behaves, or misbehaves, like an OpenAI-compatible endpoint."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], str]


class Handler(BaseHTTPRequestHandler):
    """Answers with `server.answer`, or does what `server.behaviour` says."""

    server: Fake
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        body = json.dumps({"object": "list", "data": [{"id": "fake", "object": "model"}]}).encode()
        self._head(200, "application/json", len(body))
        self.wfile.write(body)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        with suppress(BrokenPipeError, ConnectionResetError):
            self.server.behaviour(self, request)
        self.close_connection = True

    def _head(self, status: int, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        else:
            self.send_header("Connection", "close")
        self.end_headers()

    def plain(self, status: int, body: bytes, kind: str = "application/json") -> None:
        """Send a whole body."""
        self._head(status, kind, len(body))
        self.wfile.write(body)

    def stream(self, text: str) -> None:
        """Send an event stream in small pieces, with the usage at the end."""
        self._head(200, "text/event-stream")
        for start in range(0, len(text), 40):
            self.event({"choices": [{"index": 0, "delta": {"content": text[start : start + 40]}}]})
        self.event({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, document: dict[str, Any]) -> None:
        """Send one event."""
        self.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")
        self.wfile.flush()

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the test."""
        self.server.over.wait(seconds)

    def drop(self) -> None:
        """Reset the connection."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


Behaviour = Callable[[Handler, dict[str, Any]], None]


class Fake(ThreadingHTTPServer):
    """The server."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviour = behaviour
        self.requests: list[dict[str, Any]] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def served(behaviour: Behaviour) -> Iterator[Fake]:
    """Run a server."""
    server = Fake(behaviour)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


def answering(answer: Answer | str) -> Behaviour:
    """Return a behaviour that streams an answer."""
    return lambda handler, request: handler.stream(answer if isinstance(answer, str) else answer(request))


def hang(handler: Handler, request: dict[str, Any]) -> None:
    handler.pause(60)


def drop(handler: Handler, request: dict[str, Any]) -> None:
    handler.drop()


def drop_in_the_middle(handler: Handler, request: dict[str, Any]) -> None:
    handler._head(200, "text/event-stream")
    handler.event({"choices": [{"index": 0, "delta": {"content": "The red cube "}}]})
    handler.drop()


def status(code: int) -> Behaviour:
    return lambda handler, request: handler.plain(code, b'{"error": {"message": "no"}}')


def garbage_stream(handler: Handler, request: dict[str, Any]) -> None:
    handler.plain(200, b"data: {not json\n\ndata: [1, 2]\n\n", "text/event-stream")


def html(handler: Handler, request: dict[str, Any]) -> None:
    handler.plain(200, b"<html><body>Welcome to the hotel's wireless network</body></html>", "text/html")


def empty(handler: Handler, request: dict[str, Any]) -> None:
    handler.plain(200, b"", "text/event-stream")


def ten_megabytes(handler: Handler, request: dict[str, Any]) -> None:
    handler.plain(200, b"x" * 10_000_000)


def endless_line(handler: Handler, request: dict[str, Any]) -> None:
    handler._head(200, "text/event-stream")
    handler.wfile.write(b"data: ")
    while not handler.server.over.is_set():
        handler.wfile.write(b"x" * 1_000_000)


def gzip_bomb(handler: Handler, request: dict[str, Any]) -> None:
    """A gigabyte of spaces, in a megabyte."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(gzip.compress(bytes(100_000_000)) * 10)


def redirect(place: str) -> Behaviour:
    def redirects(handler: Handler, request: dict[str, Any]) -> None:
        handler.send_response(307)
        handler.send_header("Location", place)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return redirects


def drip(handler: Handler, request: dict[str, Any]) -> None:
    """Send one byte at a time for ever, so that no single read times out."""
    handler._head(200, "text/event-stream")
    until = time.monotonic() + 60
    while time.monotonic() < until and not handler.server.over.is_set():
        handler.wfile.write(b":")
        handler.wfile.flush()
        handler.pause(0.05)


def drip_headers(handler: Handler, request: dict[str, Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    until = time.monotonic() + 60
    while time.monotonic() < until and not handler.server.over.is_set():
        handler.wfile.write(b"a")
        handler.wfile.flush()
        handler.pause(0.05)


def reported_error(handler: Handler, request: dict[str, Any]) -> None:
    handler._head(200, "text/event-stream")
    handler.event({"error": {"message": "out of memory", "code": 500}})


MISBEHAVIOURS: dict[str, tuple[Behaviour, str]] = {
    "hangs": (hang, "within"),
    "drops the connection": (drop, "connection"),
    "drops it in the middle": (drop_in_the_middle, "gave no answer"),
    "returns 500": (status(500), "HTTP status 500"),
    "returns a garbled stream": (garbage_stream, "not what"),
    "returns a page": (html, "not what"),
    "returns nothing": (empty, "empty"),
    "returns 10 MB": (ten_megabytes, "longer than"),
    "sends an endless line": (endless_line, "longer than"),
    "sends what unpacks to a gigabyte": (gzip_bomb, "compressed"),
    "redirects": (redirect("http://127.0.0.1:9/v1/chat/completions"), "another address"),
    "drips": (drip, "within"),
    "drips headers": (drip_headers, "within"),
    "reports an error": (reported_error, "reports an error"),
}
"""Misbehaviour -> what it does, and the words that the note has to contain."""

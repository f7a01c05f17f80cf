"""The server of a live page, in a process of its own, so that its connections take nothing from the robot's program."""

import contextlib
import logging
import math
import os
import secrets
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection

from nsrecover.errors import InvalidConfiguration, NsrecoverError
from nsrecover.serving.live.app import BEAT_S, ENTRANCE
from nsrecover.serving.live.board import CLICKED, Command
from nsrecover.serving.live.page_process import Asked, Beat, Begin, PageAnswer, Show
from nsrecover.serving.server import check_token, listen
from nsrecover.serving.server.connections import GRACE_S, address_of

BEGIN_S, SEND_S = 120.0, 10.0
"""Time for the process to begin, and to take what is sent, seconds."""
EXPIRES_S = 3.0
"""Age of a command from which on it is not carried out, seconds."""
ALWAYS = frozenset({"pause", "stop", "undo"})
"""Commands that are carried out at any age."""
AT_ONCE = 8
"""Commands of viewers that are carried out at the same time; others wait."""


class PageServer:
    """The page as the robot's program sees it.

    Args:
        pipe: to the process of the page.
        url: address with the token, which viewers open once.

    Attributes:
        url: see there.
        command: carries out commands of viewers.
        report: makes the report of the run so far.
        ended: whether the page is no longer served on purpose.
    """

    def __init__(self, pipe: Connection, url: str) -> None:
        self._pipe, self._sending, self.ended = pipe, threading.Lock(), False
        self.url = url
        self.command: Command = lambda name, fields: ""
        self.report: Callable[[], str] = lambda: ""
        threading.Thread(target=self._listen, name="commands of the live page", daemon=True).start()
        threading.Thread(target=self._beat, name="heartbeat of the live page", daemon=True).start()

    def show(self, panels: Mapping[str, str], at: float) -> None:
        """Change panels; see `Board.show`. From any thread; without effect if the page has ended."""
        self._send(Show(dict(panels), at))

    def _send(self, message: object) -> None:
        try:
            with self._sending:
                self._pipe.send(message)
        except OSError:
            if not (self.ended or self._pipe.closed):
                logging.getLogger("nsrecover.serving.live").warning(
                    "the process of the page has ended or hangs; it is given up"
                )
                self._pipe.close()

    def _beat(self) -> None:
        """Say again and again that this program runs."""
        while not (self.ended or self._pipe.closed):
            self._send(Beat())
            time.sleep(BEAT_S)

    def _listen(self) -> None:
        """Carry out what viewers want until the process of the page ends."""
        with contextlib.suppress(EOFError, OSError), ThreadPoolExecutor(AT_ONCE) as threads:
            while True:
                threads.submit(self._answer, self._pipe.recv())

    def _carry_out(self, name: str, fields: dict[str, str]) -> str:
        """Carry out a command, unless it is old: what its viewer saw may not be so any more."""
        age_s = time.time() - _seconds(fields.pop(CLICKED, ""))
        if age_s > EXPIRES_S and name not in ALWAYS:
            raise InvalidConfiguration(
                f"expected a command of the last {EXPIRES_S:g} s, found one of {age_s:.0f} s ago: not done, the "
                "connection hung; look at the page and click again"
            )
        return self.command(name, fields)

    def _answer(self, asked: Asked) -> None:
        try:
            text = self._carry_out(asked.name, dict(asked.fields or {})) if asked.name else self.report()
            self._send(PageAnswer(asked.number, text))
        except NsrecoverError as problem:
            self._send(PageAnswer(asked.number, str(problem), refused=True))
        except Exception:  # of a part of the page: viewers are told, and the robot goes on
            logging.getLogger("nsrecover.serving.live").exception("a request of the page failed")
            self._send(PageAnswer(asked.number, "the program failed", failed=True))


@contextmanager
def served(title: str, host: str, port: int, token: str | None) -> Iterator[PageServer]:
    """Serve a page until the end of the `with` block.

    Args:
        title: of the page.
        host: address to listen on.
        port: port; 0 for any free one.
        token: what viewers need; a fresh one if None.

    Raises:
        InvalidConfiguration: the token is too short, or the address is in use.
    """
    check_token(token)
    secret = token or secrets.token_urlsafe(24)
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(SEND_S), 0))
    pipe = Connection(ours.detach())
    with listen(host, port) as listening, theirs:
        url = address_of(listening)
        descriptors = theirs.fileno(), listening.fileno()
        program = "import sys; from nsrecover.serving.live.page_process import main; main(*map(int, sys.argv[1:]))"
        process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, descriptors)], pass_fds=descriptors, stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
    try:
        pipe.send(Begin(title, secret, f"nsrecover-{url.rpartition(':')[2]}"))
        if not _begins(pipe):
            raise InvalidConfiguration("expected the server of the live page to start, found it stopped")
        server = PageServer(pipe, f"{url}{ENTRANCE}?token={secret}")
        yield server
        server.ended = True
    finally:
        _hang_up(pipe)
        try:
            process.wait(timeout=GRACE_S + BEGIN_S / 3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _seconds(text: str) -> float:
    """A time of a viewer.

    Raises:
        InvalidConfiguration: it is none.
    """
    with contextlib.suppress(ValueError):
        if math.isfinite(seconds := float(text)):
            return seconds
    raise InvalidConfiguration(f"expected the time of the command, found {text[:20]!r}; load the page again")


def _begins(pipe: Connection) -> bool:
    """Whether the process of the page says that it answers."""
    try:
        return pipe.poll(BEGIN_S) and pipe.recv() is None
    except EOFError:
        return False


def _hang_up(pipe: Connection) -> None:
    """Close the pipe, for the thread that reads from it, too."""
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as ours:
        ours.shutdown(socket.SHUT_RDWR)

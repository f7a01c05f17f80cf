"""The process of a live page: answers viewers, shows what the robot's program sends, and passes on what viewers want.

`nsrecover.serving.live.serving` starts it. It ends when that program closes the pipe.
"""

import asyncio
import contextlib
import itertools
import signal
import socket
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing.connection import Connection

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live.app import LIMITS, application
from nsrecover.serving.live.board import Board, LiveServer
from nsrecover.serving.server.connections import Server, config_of


@dataclass(frozen=True)
class Begin:
    """The first message to the process.

    Attributes:
        title: of the page.
        token: what viewers need.
        cookie: name of the cookie that holds it.
    """

    title: str
    token: str
    cookie: str


@dataclass(frozen=True)
class Show:
    """Panels to be shown; see `Board.show`."""

    panels: dict[str, str]
    at: float


@dataclass(frozen=True)
class Beat:
    """The program runs."""


@dataclass(frozen=True)
class Asked:
    """What a viewer wants: a command, or the report if it has no name."""

    number: int
    name: str = ""
    fields: Mapping[str, str] | None = None


@dataclass(frozen=True)
class PageAnswer:
    """What the program answers, or why it refuses."""

    number: int
    text: str
    refused: bool = False
    failed: bool = False


class Program:
    """The robot's program, as its page sees it.

    Args:
        pipe: to the program.
        board: shows what it sends.
    """

    def __init__(self, pipe: Connection, board: Board) -> None:
        self._pipe, self._board = pipe, board
        self._numbers, self._sending = itertools.count(), threading.Lock()
        self._asked: dict[int, Future[PageAnswer]] = {}

    def command(self, name: str, fields: Mapping[str, str]) -> str:
        """Carry out a command of a viewer.

        Raises:
            InvalidConfiguration: the program refuses it.
        """
        return self._ask(name, fields)

    def report(self) -> str:
        """The report of the run so far.

        Raises:
            InvalidConfiguration: the program refuses it.
        """
        return self._ask("", {})

    def send(self, message: object) -> None:
        """Send something to the program; from any thread."""
        with self._sending:
            self._pipe.send(message)

    def listen(self) -> None:
        """Take what the program sends until it ends."""
        with contextlib.suppress(EOFError, OSError, RuntimeError):
            while True:
                message = self._pipe.recv()
                self._board.beat = time.time()
                match message:
                    case Show(panels, at):
                        self._board.show(panels, at)
                    case PageAnswer() as answer:
                        self._asked.pop(answer.number).set_result(answer)

    def _ask(self, name: str, fields: Mapping[str, str]) -> str:
        number, waiting = next(self._numbers), Future[PageAnswer]()
        self._asked[number] = waiting
        self.send(Asked(number, name, fields))
        answer = waiting.result()
        if answer.refused:
            raise InvalidConfiguration(answer.text)
        if answer.failed:
            raise RuntimeError(answer.text)
        return answer.text


def main(pipe_number: int, listening_number: int) -> None:
    """Serve the page until the program closes the pipe.

    Args:
        pipe_number: descriptor of the pipe.
        listening_number: descriptor of the socket that listens.
    """
    pipe, listening = Connection(pipe_number), socket.socket(fileno=listening_number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program
    begin = pipe.recv()
    loop = asyncio.new_event_loop()
    board = Board(loop)
    program = Program(pipe, board)
    page = LiveServer(begin.title, board, program.command, program.report)
    server = Server(
        config_of(application(page, begin.token, begin.cookie), LIMITS), board.close, lambda: program.send(None)
    )
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]

    def follow() -> None:
        program.listen()
        server.should_exit = True

    threading.Thread(target=follow, daemon=True).start()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(server.serve(sockets=[listening]))

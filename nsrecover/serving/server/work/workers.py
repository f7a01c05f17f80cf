"""Processes in which reports to sessions are worked on: they use all cores, and one that crashes loses no session."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.server.problems import RefusedRequest
from nsrecover.serving.server.work.jobs import Job, JobOutcome, Load, work
from nsrecover.util.json_data import Json
from nsrecover.util.processes import clean_context

Tell = Callable[[str, Json], None]
"""Takes kind and data of an event."""


@dataclass(frozen=True)
class _Waiting:
    """Who waits for a job."""

    outcome: asyncio.Future[JobOutcome]
    tell: Tell

    def take(self, item: object) -> None:
        """Take what the process has sent; in the event loop."""
        if isinstance(item, tuple):
            self.tell(*item)
        elif not self.outcome.done():
            if isinstance(item, JobOutcome):
                self.outcome.set_result(item)
            elif isinstance(item, Exception):
                self.outcome.set_exception(item)


class Worker:
    """One process; it is started when it is first needed, and again after it has ended.

    Args:
        load: loads the systems in the process; can be pickled.
        preload: modules that all processes import once.
        longest_s: a process that needs longer for one job is taken to hang, and ends; None for searches.
    """

    def __init__(self, load: Load, preload: Sequence[str], longest_s: float | None) -> None:
        self._load, self._preload, self._longest_s = load, list(preload), longest_s
        self._changing, self._sending = threading.Lock(), threading.Lock()
        self._pipe: Connection | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._numbers = itertools.count()
        self.process: BaseProcess | None = None

    @property
    def busy(self) -> int:
        """Number of jobs that are not done."""
        return len(self._waiting)

    def start(self) -> None:
        """Start the process if it does not run.

        Raises:
            NsrecoverError: the systems cannot be loaded.
        """
        with self._changing:
            if self._pipe is not None:
                return
            context = clean_context(self._preload)
            pipe, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs, self._load, self._longest_s), daemon=True)
            process.start()
            theirs.close()
            try:
                problem = pipe.recv()
            except EOFError:
                raise InvalidConfiguration(
                    "expected to start a worker process, found that it ended at once; its output says why"
                ) from None
            if problem is not None:
                raise problem
            self._pipe, self.process = pipe, process
            threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    async def run(self, job: Job, tell: Tell, stop: asyncio.Event) -> JobOutcome:
        """Do a job.

        Args:
            job: what to do.
            tell: called with every event.
            stop: when it is set, a search ends with the best way so far.

        Raises:
            Refused: the process has ended.
            NsrecoverError: what the job raises.
        """
        number, waiting = next(self._numbers), _Waiting(asyncio.get_running_loop().create_future(), tell)
        self._waiting[number] = waiting
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.to_thread(self.start)
            await asyncio.to_thread(self._send, number, job)
            await asyncio.wait((waiting.outcome, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.outcome.done():
                await asyncio.to_thread(self._send, number, None)
            return await waiting.outcome
        finally:
            stopping.cancel()
            del self._waiting[number]

    def close(self) -> None:
        """End the process."""
        with self._changing:
            if self.process is not None:
                self.process.terminate()

    def _send(self, number: int, job: Job | None) -> None:
        try:
            with self._sending:
                pipe = self._pipe
                if pipe is None:
                    raise OSError
                pipe.send((number, job))
        except OSError:
            raise worker_lost() from None

    def _read(self, pipe: Connection) -> None:
        """Pass on what the process sends until it ends; what is not done then is refused."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, item = pipe.recv()
                self._pass(number, item)
        with self._changing:
            self._pipe = None
            pipe.close()
        for number in list(self._waiting):
            self._pass(number, worker_lost())

    def _pass(self, number: int, item: object) -> None:
        waiting = self._waiting.get(number)
        if waiting is not None:
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                waiting.outcome.get_loop().call_soon_threadsafe(waiting.take, item)


def worker_lost() -> RefusedRequest:
    """The refusal of a report whose process has ended."""
    return RefusedRequest(
        503, "worker_lost", "expected the process that works on this report to run, found that it has ended; nothing "
        "has changed: send the report again, or see the log of the server", {"Retry-After": "1"},
    )  # fmt: skip

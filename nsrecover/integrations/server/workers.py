"""Processes in which sessions are watched: they use all cores, and one that crashes ends only its own sessions."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from multiprocessing.managers import BaseManager
from typing import Any, TypeVar

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.server.problems import Refused
from nsrecover.integrations.server.watch import StepResult, Systems, Watch
from nsrecover.integrations.server.watches import Found, Seeing, Watches, WatchState
from nsrecover.planning.planner import Rejoin
from nsrecover.util.processes import clean_context, start_worker

Result = TypeVar("Result")

SEARCHES = 2
"""Number of searches of one process at the same time; further ones wait."""

STOPS_EVERY_S = 0.05
"""How often a search looks whether it is to stop."""

LONGEST_LOOK_S = 60.0
"""A process that needs longer for one observation hangs, and is killed: the others that it watches wait for it."""


class _Manager(BaseManager):
    """Has the `Watches` of one process, and calls their methods."""


_Manager.register("watches", Watches)


class Worker:
    """One process; it is started when it is first needed, and again after it has crashed.

    Args:
        load: loads the systems in the process; can be pickled.
        preload: modules that all processes import once.

    Attributes:
        lookers: threads that wait for judgements, one at a time.
        planners: threads that wait for searches, so that a long one delays no observation.
        sessions: names of the sessions that are watched there.
        crashes: number of times that the process has crashed.
        feature_sizes: length of the appearance features of each checkpoint.
    """

    def __init__(self, load: Callable[[], Systems], preload: Sequence[str]) -> None:
        self._load, self._preload = load, list(preload)
        self._changing = threading.Lock()
        self._manager: _Manager | None = None
        self._watches: Any = None
        self.lookers = ThreadPoolExecutor(1, "look")
        self.planners = ThreadPoolExecutor(SEARCHES, "plan")
        self.sessions = set[str]()
        self.crashes = 0
        self.feature_sizes: dict[str, int | None] = {}

    def start(self) -> None:
        """Start the process if it does not run.

        Raises:
            NsrecoverError: the systems cannot be loaded.
        """
        with self._changing:
            if self._manager is None:
                manager = _Manager(ctx=clean_context(self._preload))
                try:
                    manager.start(start_worker)
                except EOFError:
                    raise InvalidConfiguration(
                        "expected to start a worker process, found that it ended at once; its output says why"
                    ) from None
                try:
                    self._watches = manager.watches()  # type: ignore[attr-defined]
                    self.feature_sizes = self._watches.load(self._load)
                except BaseException:
                    manager.shutdown()
                    raise
                self._manager = manager

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of its `Watches`, and wait for the result.

        Raises:
            Refused: the process has crashed; its sessions are lost.
            Exception: what the method raises.
        """
        watches = self._watches
        try:
            return getattr(watches, method)(*arguments)
        except (EOFError, ConnectionError, FileNotFoundError) as error:
            self._lose(watches)
            raise session_lost() from error

    def kill(self) -> None:
        """End a process that hangs; the calls that wait for it are refused."""
        with self._changing:
            if self._manager is not None:
                logging.getLogger("nsrecover.server").error("a worker process hangs: it is killed")
                self._manager._process.kill()  # type: ignore[attr-defined]

    def forget(self, session: str) -> None:
        """End a session, without waiting for it."""
        self.sessions.discard(session)
        if self._manager is not None:
            self.lookers.submit(self.call, "close", session)

    def close(self) -> None:
        """End the process."""
        with self._changing:
            self._end()
        for pool in (self.lookers, self.planners):
            pool.shutdown(wait=False, cancel_futures=True)

    def _lose(self, watches: Any) -> None:
        """Forget a process that has crashed, and its sessions."""
        with self._changing:
            if watches is self._watches:
                self.crashes += 1
                self.sessions.clear()
                self._end()

    def _end(self) -> None:
        manager, self._manager, self._watches = self._manager, None, None
        if manager is not None:
            manager.shutdown()


class RemoteWatch:
    """The watch of one session, in a worker process.

    Args:
        worker: the process.
        session: name of the session.
        checkpoint: name of the system to use.
        plan: the plan.

    Attributes:
        state: where the session is on its plan.
    """

    def __init__(self, worker: Worker, session: str, checkpoint: str, plan: Plan) -> None:
        self._worker, self._session, self.checkpoint = worker, session, checkpoint
        self.state = WatchState(plan)
        self._crashes = worker.crashes
        worker.sessions.add(session)

    @property
    def lost(self) -> bool:
        """Whether its process has crashed since."""
        return self._worker.crashes > self._crashes

    @property
    def feature_size(self) -> int | None:
        """Required length of appearance features."""
        return self._worker.feature_sizes[self.checkpoint]

    async def open(self, rejoin: Rejoin, check_sensors: bool) -> None:
        """Begin; starts the process if need be."""

        def opened() -> None:
            self._worker.start()
            self._call("open", self.checkpoint, self.state.plan, rejoin, check_sensors)

        await _in(self._worker.lookers, opened)

    def close(self) -> None:
        """Forget the session there, without waiting for it."""
        self._worker.forget(self._session)

    async def look(
        self, seeing: Seeing, phase: Phase | None, search_follows: bool
    ) -> tuple[StepResult, Explanation | None]:
        """Judge an observation as `Watch.look` does; explain what is not as expected if no search will."""

        def looked() -> tuple[StepResult, Explanation | None, WatchState]:
            limit = threading.Timer(LONGEST_LOOK_S, self._worker.kill)
            limit.start()
            try:
                found: tuple[StepResult, Explanation | None, WatchState] = self._call(
                    "look", seeing, phase, search_follows
                )
                return found
            finally:
                limit.cancel()

        result, words, self.state = await _in(self._worker.lookers, looked)
        return result, words

    async def change(self, work: Callable[[Watch], None]) -> None:
        """Change the plan by a method of its watch; predicting the trace takes time."""
        self.state = await _in(self._worker.planners, partial(self._call, "change", work))

    async def recover(
        self, budget_s: float, cancelled: Callable[[], bool], on_improvement: Callable[[Recovery], None]
    ) -> tuple[Recovery, Explanation]:
        """Search for a recovery as `Watch.recover` does; the callbacks are called in another thread."""

        def searched() -> tuple[Recovery, Explanation]:
            self._call("search", budget_s)
            while True:
                if cancelled():
                    self._call("stop")
                item, self.state = self._call("found", STOPS_EVERY_S)
                if isinstance(item, Recovery):
                    on_improvement(item)
                elif isinstance(item, Found):
                    return item.result()

        return await _in(self._worker.planners, searched)

    def _call(self, method: str, *arguments: Any) -> Any:
        if self.lost:  # since this call was queued
            raise session_lost()
        return self._worker.call(method, self._session, *arguments)


def session_lost() -> Refused:
    """The refusal of a request whose process has ended."""
    return Refused(
        503, "session_lost", "expected the process of the session to run, found that it has ended; the log of the "
        "server may say why: open a new session", {"Retry-After": "1"},
    )  # fmt: skip


async def _in(pool: Executor, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(pool, work)

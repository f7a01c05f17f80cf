"""Time that passes only while every thread waits, so that hours of many agents take seconds and are repeatable."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from nsrecover.serving.live.desk import Clock


@dataclass
class _Process:
    """A thread, and until when or for what it waits."""

    gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    until: float = 0.0
    ready: Callable[[], bool] = lambda: False
    over: bool = False


class SimulatedTime(Clock):
    """Lets one thread run at a time: the first whose condition holds, else the one that wakes up first.

    Attributes:
        time_s: seconds since the beginning.
    """

    def __init__(self) -> None:
        self.time_s = 0.0
        self._processes: list[_Process] = []
        self._back = threading.Semaphore(0)
        self._local = threading.local()
        self._errors: list[BaseException] = []

    def start(self, work: Callable[[], None]) -> None:
        """Add a thread, which begins once `run` is called."""
        process = _Process()
        self._processes.append(process)

        def guarded() -> None:
            self._local.process = process
            process.gate.acquire()
            try:
                work()
            except BaseException as error:
                self._errors.append(error)
            process.over = True
            self._back.release()

        threading.Thread(target=guarded, daemon=True).start()

    def run(self) -> None:
        """Return once every thread has ended.

        Raises:
            RuntimeError: every thread waits for another one.
            BaseException: what a thread has raised.
        """
        while waiting := [each for each in self._processes if not each.over]:
            following = next((each for each in waiting if each.ready()), None)
            if following is None:
                following = min(waiting, key=lambda each: each.until)
                if following.until == math.inf:
                    raise RuntimeError("every thread waits for another one")
                self.time_s = max(self.time_s, following.until)
            following.gate.release()
            self._back.acquire()
            if self._errors:
                raise self._errors[0]

    def sleep(self, seconds: float) -> None:
        """Wait; called in a thread that `start` has begun."""
        self.wait_for(lambda: False, seconds)

    def wait_for(self, done: Callable[[], bool], limit_s: float | None) -> None:
        """Return once a condition holds, or after a limit; called in a thread that `start` has begun."""
        process: _Process = self._local.process
        process.until, process.ready = math.inf if limit_s is None else self.time_s + limit_s, done
        self._back.release()
        process.gate.acquire()

    def now(self) -> float:
        """Seconds since the beginning."""
        return self.time_s

    def wait(self, changed: threading.Condition, done: Callable[[], bool], limit_s: float | None) -> None:
        """See `Clock.wait`."""
        if not done():
            changed.release()
            self.wait_for(done, limit_s)
            changed.acquire()

"""Limit of time for code that may never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Overdue(BaseException):
    """Work did not end in time. No `Exception`, so that code that catches all errors does not catch it."""


@contextmanager
def within(seconds: float, processor: bool = False) -> Iterator[None]:
    """Raise `Overdue` in the main thread if what is done inside takes longer; only there can it be used.

    Args:
        seconds: the limit.
        processor: whether processor time counts, which does not depend on what else the machine does.
    """
    timer, number = (signal.ITIMER_PROF, signal.SIGPROF) if processor else (signal.ITIMER_REAL, signal.SIGALRM)

    def late(number: int, frame: object) -> None:
        raise Overdue(f"expected an end within {seconds:g} s, found none")

    before = signal.signal(number, late)
    outer = signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0.0)
        signal.signal(number, before)
        signal.setitimer(timer, *outer)  # of the caller, such as a test with a time limit

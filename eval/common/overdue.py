"""Limit of time for code that may never end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Overdue(BaseException):
    """Work did not end in time. No `Exception`, so that code that catches all errors does not catch it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `Overdue` in the main thread if what is done inside takes longer; only there can it be used."""

    def late(number: int, frame: object) -> None:
        raise Overdue(f"expected an end within {seconds:g} s, found none")

    before = signal.signal(signal.SIGALRM, late)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)  # of the caller, such as a test with a time limit

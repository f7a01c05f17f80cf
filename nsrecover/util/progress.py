"""Progress of long work on stderr, with the rate and the time left."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Item = TypeVar("Item")

FIRST_S, EVERY_S = 2.0, 10.0
"""Time until the first line, and between two lines, where no terminal shows a bar, seconds."""
QUIET = "NSRECOVER_QUIET"
"""Environment variable: if it is set, no progress is shown; `nsrecover --quiet` sets it."""


def is_quiet() -> bool:
    """Whether no progress is to be shown."""
    return bool(os.environ.get(QUIET))


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Go through items; a terminal shows a bar with the time left, other outputs a line after 2 s and every 10 s.

    Args:
        items: what to go through.
        what: the work on them, such as `reading`.
        total: their number; by default their length, if they have one.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if is_quiet():
        yield from items
        return
    if sys.stderr.isatty():
        yield from track(items, what, total, console=Console(stderr=True), transient=True)
        return
    lines = ProgressLines(what, total)
    for done, item in enumerate(items):
        lines.show(done)
        yield item


class ProgressLines:
    """Lines such as `encoder: 2 of 4, 3.1 a second, 35 s left` on stderr: after 2 s, then at most one every 10 s.

    Args:
        what: the work.
        total: number of its parts, if it is known.
        clock: returns the time in seconds.
    """

    def __init__(self, what: str, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._next_s = clock() + FIRST_S
        self._first: tuple[float, int] | None = None

    def show(self, done: int) -> None:
        """Print a line, if it is time; the first call sets where the work begins, or goes on."""
        now = self._clock()
        if self._first is None:
            self._first = now, done
        if now < self._next_s or is_quiet():
            return
        self._next_s = now + EVERY_S
        print(f"{self._what}: {done}{self._left(now, done)}", file=sys.stderr, flush=True)

    def _left(self, now: float, done: int) -> str:
        if self._first is None:
            return ""
        began, before = self._first
        of = "" if self._total is None else f" of {self._total}"
        if done <= before:
            return of
        rate = (done - before) / max(now - began, 1e-9)
        left = "" if self._total is None else f", {left_text((self._total - done) / rate)}"
        return f"{of}, {rate_text(rate)}{left}"


def rate_text(a_second: float) -> str:
    """`3.1 a second`, `12 a minute`."""
    return f"{a_second:.2g} a second" if a_second >= 1 else f"{60 * a_second:.2g} a minute"


def left_text(seconds: float) -> str:
    """`35 s left`, `4 min left`."""
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"

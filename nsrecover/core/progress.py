"""Progress of long work on stderr, with the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")

EVERY_S = 10.0
"""Time between two lines where no terminal shows a bar, seconds."""


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Go through items; a terminal shows a bar with the time left, other outputs a line every ten seconds.

    Args:
        items: what to go through.
        what: the work on them, such as `reading`.
        total: their number; by default their length, if they have one.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if sys.stderr.isatty():
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            yield from bar.track(items, total=total, description=what)
        return
    lines = ProgressLines(what, total)
    for done, item in enumerate(items):
        lines.show(done)
        yield item


class ProgressLines:
    """Lines such as `encoder: 2 of 4, 35 s left` on stderr, at most one every ten seconds.

    Args:
        what: the work.
        total: number of its parts, if it is known.
        clock: returns the time in seconds.
    """

    def __init__(self, what: str, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._shown_s = clock()
        self._first: tuple[float, int] | None = None

    def show(self, done: int) -> None:
        """Print a line, if it is time; the first call sets where the work begins, or goes on."""
        now = self._clock()
        if self._first is None:
            self._first = now, done
        if now - self._shown_s < EVERY_S:
            return
        self._shown_s = now
        print(f"{self._what}: {done}{self._left(now, done)}", file=sys.stderr, flush=True)

    def _left(self, now: float, done: int) -> str:
        if self._total is None or self._first is None:
            return ""
        began, before = self._first
        of = f" of {self._total}"
        return of if done <= before else f"{of}, {left_text((now - began) / (done - before) * (self._total - done))}"


def left_text(seconds: float) -> str:
    """`35 s left`, `4 min left`."""
    return f"{seconds:.0f} s left" if seconds < 120 else f"{seconds / 60:.0f} min left"

"""The panels of a live page, and what its server needs from the page."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass

from sse_starlette import ServerSentEvent

from nsrecover.serving.server.sessions import Events

PANEL = "panel"
"""Kind of the events."""
CLICKED = "clicked"
"""Field of a command: when the viewer gave it, seconds since the epoch by the clock of the page."""
FOREVER_S = 1e9
Command = Callable[[str, Mapping[str, str]], str]
"""Carries out a command of a viewer with its fields, and returns what to answer."""


class Board(Events):
    """The panels of a page, each as it was changed last; who connects late gets these.

    Args:
        loop: the event loop of the server.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.beat = time.time()
        """When the robot's program has sent something last, seconds since the epoch."""
        self.panels: dict[str, str] = {}
        """Panel -> HTML. To be read in the event loop only."""
        self._latest: dict[str, tuple[int, str, str]] = {}

    @property
    def number(self) -> int:
        """Number of the last change. In the event loop only."""
        return self._number

    def show(self, panels: Mapping[str, str], at: float) -> None:
        """Change panels. From any thread.

        Args:
            panels: panel -> content.
            at: time of what they show, seconds since the epoch.
        """
        changes = [(name, html, json.dumps({"panel": name, "html": html, "at": at})) for name, html in panels.items()]
        self._loop.call_soon_threadsafe(self._change, changes)

    def follow(self, after: int, seconds: float = FOREVER_S) -> AsyncGenerator[ServerSentEvent]:
        """Yield the changes after one that a viewer has; all panels if it has one of another run of the server."""
        return super().follow(after if after <= self._number else 0, seconds)

    def _change(self, changes: Sequence[tuple[str, str, str]]) -> None:
        for name, html, data in changes:
            if name in self._latest:
                self._kept.remove(self._latest[name])
            self._add(PANEL, data)
            self.panels[name], self._latest[name] = html, self._kept[-1]


@dataclass
class LiveServer:
    """What the web application shows, and to whom it passes on what viewers want.

    Attributes:
        title: of the page.
        board: the panels.
        command: carries out commands of viewers.
        report: makes the report of the run so far.
    """

    title: str
    board: Board
    command: Command
    report: Callable[[], str]

"""The watches of one worker process, by the names of their sessions; what comes and goes can be pickled."""

from __future__ import annotations

import gc
import os
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import parent_process
from multiprocessing.connection import wait
from queue import Empty, SimpleQueue
from typing import TypeVar

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Phase, Verdict
from nsrecover.core.explanation import Explanation
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import NsrecoverError
from nsrecover.integrations.server.watch import OutOfTurn, StepResult, Systems, Watch
from nsrecover.planning.planner import Rejoin

Result = TypeVar("Result")
Seeing = Callable[[], Observation | SceneGraph]
"""Decodes what was sent; called in the worker process because it takes time."""


@dataclass(frozen=True)
class WatchState:
    """Where a session is on its plan.

    Attributes:
        plan: the current plan.
        done: number of its actions that are done.
        started: whether there was a first observation.
        verdict: of the last observation; None if it was not compared.
        can_follow: whether there is a recovery that can be followed now.
    """

    plan: Plan
    done: int = 0
    started: bool = False
    verdict: Verdict | None = None
    can_follow: bool = False


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Attributes:
        recovery: what was found, and its explanation; None if an error ended the search.
        error: that error.
    """

    recovery: tuple[Recovery, Explanation] | None = None
    error: Exception | None = None

    def result(self) -> tuple[Recovery, Explanation]:
        """The recovery and its explanation; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        assert self.recovery is not None
        return self.recovery


@dataclass
class _Kept:
    """A watch, and what its search has found."""

    watch: Watch
    stop: threading.Event = field(default_factory=threading.Event)
    searching: bool = False
    closed: bool = False
    found: SimpleQueue[Recovery | Found] = field(default_factory=SimpleQueue)


class Watches:
    """The watches of one process. Calls for one session come one after another, but for `stop`."""

    def __init__(self) -> None:
        self._systems: Systems | None = None
        self._kept: dict[str, _Kept] = {}
        threading.Thread(target=_end_with_parent, daemon=True).start()

    def load(self, load: Callable[[], Systems]) -> dict[str, int | None]:
        """Load the systems.

        Returns:
            Length of the appearance features of each checkpoint, by its name; None: it has none.

        Raises:
            NsrecoverError: a checkpoint is invalid.
        """
        self._systems = load()
        gc.freeze()  # else each full collection looks at all of it, for a third of a second
        return {name: system.models.feature_size for name, system in self._systems.learned.items()}

    def open(self, session: str, checkpoint: str, plan: Plan, rejoin: Rejoin, check_sensors: bool) -> None:
        """Watch a plan."""
        assert self._systems is not None
        self._kept[session] = _Kept(Watch(self._systems, checkpoint, plan, rejoin, check_sensors))

    def close(self, session: str) -> None:
        """Forget a session, after its search, which ends."""
        kept = self._kept.get(session)
        if kept is not None:
            kept.closed = True
            kept.stop.set()
            if not kept.searching:
                del self._kept[session]

    def look(
        self, session: str, seeing: Seeing, phase: Phase | None, search_follows: bool
    ) -> tuple[StepResult, Explanation | None, WatchState]:
        """Judge an observation as `Watch.look` does; explain what is not as expected if no search will."""

        def looked(watch: Watch) -> tuple[StepResult, Explanation | None]:
            result = watch.look(seeing(), phase)
            found = result.discrepancy
            if found is None or found.as_expected or (found.deviates and search_follows):
                return result, None
            return result, watch.explain(found)

        kept = self._of(session)
        return *_traced(looked, kept.watch), _state_of(kept.watch)

    def change(self, session: str, work: Callable[[Watch], None]) -> WatchState:
        """Change a plan by a method of its watch."""
        kept = self._of(session)
        _traced(work, kept.watch)
        return _state_of(kept.watch)

    def search(self, session: str, budget_s: float) -> None:
        """Begin a search as `Watch.recover` does; `found` says what comes of it."""
        kept = self._of(session)
        kept.searching = True
        kept.stop.clear()
        found = kept.found = SimpleQueue[Recovery | Found]()

        def searched() -> None:
            try:
                recover = partial(
                    Watch.recover, budget_s=budget_s, cancelled=kept.stop.is_set, on_improvement=found.put
                )
                found.put(Found(_traced(recover, kept.watch)))
            except Exception as error:  # raised where the search is waited for
                found.put(Found(error=error))

        threading.Thread(target=searched, daemon=True).start()

    def found(self, session: str, wait_s: float) -> tuple[Recovery | Found | None, WatchState]:
        """What the search has found next: a better recovery, its end, or None if there is nothing in that time."""
        kept = self._of(session)
        try:
            item = kept.found.get(timeout=wait_s)
        except Empty:
            item = None
        if isinstance(item, Found):
            kept.searching = False
            if kept.closed:
                del self._kept[session]
        return item, _state_of(kept.watch)

    def stop(self, session: str) -> None:
        """End the search; its result is the best recovery so far."""
        if session in self._kept:
            self._kept[session].stop.set()

    def _of(self, session: str) -> _Kept:
        try:
            return self._kept[session]
        except KeyError:
            raise OutOfTurn("expected an open session, found one that was closed meanwhile; open a new one") from None


def _state_of(watch: Watch) -> WatchState:
    return WatchState(watch.plan, watch.done, watch.started, watch.verdict, watch.recovery is not None)


def _traced(work: Callable[[Watch], Result], watch: Watch) -> Result:
    """Do some work; errors that are not of a user keep their traceback where they are raised again."""
    try:
        return work(watch)
    except NsrecoverError:
        raise
    except Exception as error:
        error.add_note(traceback.format_exc())
        raise


def _end_with_parent() -> None:
    """End this process when its parent has ended, however that was."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

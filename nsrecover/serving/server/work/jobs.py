"""What a worker process does: reports to sessions, which come and go as bytes, so that any process can take any report.

A session is stored without the parts of its system, which every process has. What cannot be undone happens in no
process: if one ends, its sessions are as they were before the report.
"""

import faulthandler
import gc
import io
import math
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from multiprocessing.connection import Connection
from operator import methodcaller
from typing import Any

import numpy as np

from nsrecover.core import Discrepancy, Recovery, StepRecord
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import NsrecoverError
from nsrecover.serving.server.answers import compared_event, improvement_event, session_answer, turn_event
from nsrecover.serving.server.limits import VIEWS
from nsrecover.session import AnySession, Session
from nsrecover.system import AnySystem
from nsrecover.util.json_data import Json
from nsrecover.util.processes import start_worker

Systems = Mapping[str, AnySystem]
"""The systems that all sessions share: name, as clients request it -> system, the default one first."""
Load = Callable[[], Systems]
"""Loads them in a worker process; can be pickled."""
Work = Callable[[Any], AnySession | None]
"""Makes a report to the session, or makes another session, which takes its place; can be pickled."""
Tell = Callable[[str, Json], None]
"""Kind and data of an event."""

LATE = 0.1
"""Share of its budget that a search may have waited before that counts as a part of it."""

NICENESS = 19
"""Searches take the processor time that judging leaves."""

DEPTH = 4
"""Parts of parts of a system that are not stored with a session, down to this depth."""


@dataclass(frozen=True)
class Job:
    """A report to a session; can be pickled.

    Attributes:
        work: what to do with the session.
        state: the session, or the session and its concluded turns if only a search is left; None: `work` opens one,
            given the systems.
        waited_s: how long it has waited for its turn, seconds; that is a part of the budget of its search.
        told: number of its events that were told already, before a search was needed.
        answer: answers, given the session and the turns that were concluded.
    """

    work: Work
    state: bytes | None = None
    waited_s: float = 0.0
    told: int = 0
    answer: Callable[[AnySession, list[StepRecord[object]]], Json] = field(default=session_answer)


class SearchNeeded(Exception):
    """A job needs a search; its value is the job for a process for searches."""


@dataclass(frozen=True)
class JobOutcome:
    """What came of a job: the session afterwards, and the answer."""

    state: bytes
    answer: Json


def stored(session: object, systems: Systems) -> bytes:
    """A session, perhaps with concluded turns, as bytes without the parts of its system."""
    places: dict[int, tuple[str, ...]] = {}

    def walk(part: object, place: tuple[str, ...]) -> None:
        if id(part) in places or isinstance(part, type) or not hasattr(part, "__dict__"):
            return
        places[id(part)] = place
        for name, inner in list(vars(part).items()) if len(place) < DEPTH else ():
            walk(inner, (*place, name))

    for name, system in systems.items():
        walk(system, (name,))

    class Pickler(pickle.Pickler):
        def persistent_id(self, part: object) -> tuple[str, ...] | None:
            return places.get(id(part))

        def reducer_override(self, part: object) -> tuple[type[object], tuple[object, ...]]:
            view = _as_view(part)
            return NotImplemented if view is None else view

    for part in session if isinstance(session, tuple) else (session,):
        if isinstance(part, Session):
            part.same_program = True
    file = io.BytesIO()
    Pickler(file, pickle.HIGHEST_PROTOCOL).dump(session)
    return file.getvalue()


def _as_view(part: object) -> tuple[type[object], tuple[object, ...]] | None:
    """How to make an array again that is most of another one, such as one view of several; None for anything else."""
    base = part.base if type(part) is np.ndarray else None
    if type(part) is not np.ndarray or type(base) is not np.ndarray or part.dtype.hasobject:
        return None
    if not (part.flags.c_contiguous and base.flags.c_contiguous and 0 < base.nbytes <= VIEWS * part.nbytes):
        return None
    return np.ndarray, (part.shape, part.dtype, base, part.ctypes.data - base.ctypes.data)


def restored(state: bytes, systems: Systems) -> object:
    """What was `stored`, with the parts of its system."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, place: tuple[str, ...]) -> object:
            return reduce(getattr, place[1:], systems[place[0]])

    found: object = Unpickler(io.BytesIO(state)).load()
    return found


def observed(see: Callable[[], object], session: AnySession, time_s: float | None = None) -> None:
    """Report an observation, which is decoded in the worker process, because that takes time."""
    session.observed(see(), time_s)


def unchanged(session: AnySession) -> None:
    """Report nothing."""


class Jobs:
    """The jobs of one process, each in a thread.

    Args:
        systems: the systems.
        send: sends the number of a job with an event (kind and data), an outcome or an error; from any thread.
        longest_s: a process that needs longer for one job hangs, and ends; None for searches, of which a process does
            several at the same time.
    """

    def __init__(self, systems: Systems, send: Callable[[int, object], None], longest_s: float | None) -> None:
        self._systems, self._send, self._longest_s = systems, send, longest_s
        self._judging = threading.Lock()
        self._cancelled: dict[int, threading.Event] = {}

    def take(self, number: int, job: Job | None) -> None:
        """Begin a job; None: end the search of one that was begun, with the best way so far."""
        if job is not None:
            self._cancelled[number] = threading.Event()
            threading.Thread(target=self._run, args=(number, job), daemon=True).start()
        elif number in self._cancelled:
            self._cancelled[number].set()

    def _run(self, number: int, job: Job) -> None:
        outcome: JobOutcome | Exception
        try:
            with nullcontext() if self._longest_s is None else self._judges(self._longest_s):
                outcome = self._done(number, job)
        except (NsrecoverError, SearchNeeded) as error:
            outcome = error
        except Exception:  # of any kind: it is raised where the job is waited for
            outcome = RuntimeError(traceback.format_exc())
        del self._cancelled[number]
        self._send(number, outcome)

    def _done(self, number: int, job: Job) -> JobOutcome:
        turns = list[StepRecord[object]]()
        session = self._systems if job.state is None else restored(job.state, self._systems)
        if isinstance(session, tuple):
            session, turns = session
        if isinstance(session, Session):
            tell: Tell = lambda kind, data: self._send(number, (kind, data))  # noqa: E731
            searching = self._longest_s is None
            session.listener = _JobListener(session, tell, turns, searching, job, self._cancelled[number].is_set)
        try:
            session = job.work(session) or session
        except SearchNeeded as needed:
            if isinstance(job.work, partial) and job.work.func is observed:  # the observation need not be judged again
                left = stored((session, turns), self._systems)
                told = 1  # the comparison
                raise SearchNeeded(replace(job, work=methodcaller("resumed"), state=left, told=told)) from None
            raise SearchNeeded(replace(job, told=needed.args[0])) from None
        assert isinstance(session, Session)
        return JobOutcome(stored(session, self._systems), job.answer(session, turns))

    @contextmanager
    def _judges(self, longest_s: float) -> Iterator[None]:
        with self._judging:
            faulthandler.dump_traceback_later(longest_s, exit=True)
            try:
                yield
            finally:
                faulthandler.cancel_dump_traceback_later()


@dataclass
class _JobListener(Listener):
    """Tells of what happens in a session, and collects its turns."""

    session: AnySession
    tell: Tell
    turns: list[StepRecord[object]]
    searching: bool
    job: Job
    cancelled: Callable[[], bool]
    told: int = 0
    until: float = math.inf

    def compares(self, discrepancy: Discrepancy[object]) -> None:
        """Tell."""
        self._tell("compared", compared_event(discrepancy))

    def searches(self) -> None:
        """End the search in time, or leave it to a process for searches.

        Raises:
            SearchNeeded: this process is for what takes little time; its value is the number of events so far.
        """
        if not self.searching:
            raise SearchNeeded(self.told)
        budget_s = self.session.settings.budget_s
        if budget_s is not None and self.job.waited_s > LATE * budget_s:
            self.until = time.monotonic() + budget_s - self.job.waited_s

    def improves(self, recovery: Recovery[object]) -> None:
        """Tell."""
        self._tell("improvement", improvement_event(recovery, self.session))

    def turned(self, record: StepRecord[object]) -> None:
        """Tell, and collect the turn."""
        self._tell("turn", turn_event(record, self.session))
        self.turns.append(record)

    reconsiders = turned

    def cancels(self) -> bool:
        """Whether the search was ended, or its time is over."""
        return self.cancelled() or time.monotonic() > self.until

    def _tell(self, kind: str, data: Json) -> None:
        self.told += 1
        if self.told > self.job.told:
            self.tell(kind, data)


def work(pipe: Connection, load: Load, longest_s: float | None) -> None:
    """Carry out jobs until the server has ended; the body of a worker process.

    Args:
        pipe: first sends None, or the error if the systems cannot be loaded; then takes pairs of a number and a job, or
            None to end its search, and sends what `Jobs` does.
        load: loads the systems.
        longest_s: as for `Jobs`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    start_worker()
    if longest_s is None:
        os.nice(NICENESS)
    sending = threading.Lock()

    def send(number: int, item: object) -> None:
        try:
            with sending:
                pipe.send((number, item))
        except OSError:
            os._exit(0)  # the server has ended

    try:
        systems = load()
    except NsrecoverError as error:
        pipe.send(error)
        return
    pipe.send(None)
    gc.freeze()  # else each full collection looks at all of it, for a third of a second
    jobs = Jobs(systems, send, longest_s)
    while True:
        try:
            number, job = pipe.recv()
        except (EOFError, OSError):
            os._exit(0)
        jobs.take(number, job)

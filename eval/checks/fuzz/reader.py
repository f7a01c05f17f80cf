"""Reads inputs in a process of its own, whose time and memory are measured; one that hangs is killed."""

from __future__ import annotations

import multiprocessing
import os
import resource
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

import psutil

from eval.checks.fuzz.findings import REFUSED, TAKEN, Outcome, place_of
from eval.checks.fuzz.targets import Target, check_error
from eval.common.overdue import Overdue, within
from nsrecover.errors import NsrecoverError

LONGEST_S = 5.0
"""Processor time for one input; one that takes longer is a finding."""
HANGS_S = 60.0
"""Time after which a process that does not answer is killed, however busy the machine is."""
MOST_MB = 300.0
"""Memory for one input; one that takes more is a finding."""
SPACE = 4_000_000_000
"""Address space for one input, bytes: what unpacks without end must not take the machine's memory."""


class Reader:
    """Reads inputs of one target, one after another, in a process that is replaced when it hangs or crashes.

    Args:
        target: what reads them.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._start()

    def read(self, data: bytes) -> Outcome:
        """Read an input; a failure counts if it happens twice, because modules are loaded at the first time."""
        found = self._once(data)
        return self._once(data) if found.failed else found

    def _once(self, data: bytes) -> Outcome:
        began = time.monotonic()
        self._pipe.send_bytes(data)
        try:
            if self._pipe.poll(HANGS_S):
                found: Outcome = self._pipe.recv()
                return found
            what = "hangs"
        except EOFError:
            what = "crashes"
        self.close()
        self._start()
        return Outcome(what, "the process did not answer", time.monotonic() - began)

    def _start(self) -> None:
        # forked, so that it has all modules, and targets of tests
        processes = multiprocessing.get_context("fork")
        self._pipe, theirs = processes.Pipe()
        self._process = processes.Process(target=_serve, args=(self._target, theirs), daemon=False)
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        for each in (*_children(self._process.pid), self._process):
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self._process.join()
        self._pipe.close()


def _children(number: int | None) -> list[psutil.Process]:
    try:
        return list[psutil.Process](psutil.Process(number).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _serve(target: Target, pipe: Connection) -> None:
    """The other process: answers each input with its outcome, until nobody asks any more."""
    used = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with suppress(EOFError):
        while True:
            pipe.send(outcome_of(target, pipe.recv_bytes()))


def outcome_of(target: Target, data: bytes) -> Outcome:
    """Read one input in this process; every outcome but success and one clear error of ours is a failure."""
    processes = [psutil.Process(), *_children(os.getpid())]
    for each in processes:
        with suppress(OSError):
            Path(f"/proc/{each.pid}/clear_refs").write_text("5")  # the peak counts from now on
    before, began = _peak_mb(processes), time.process_time()
    what, said = TAKEN, ""
    try:
        with within(LONGEST_S, processor=True):
            target.read(data)
    except NsrecoverError as problem:
        what, said = REFUSED, str(problem)
        try:
            check_error(problem)
        except AssertionError as unclear:
            what, said = f"unclear {place_of(problem)}", str(unclear)
    except (Exception, Overdue) as problem:
        what, said = place_of(problem), f"{type(problem).__name__}: {str(problem)[:500]}"
    seconds, mb = time.process_time() - began, _peak_mb(processes) - before
    if what in (TAKEN, REFUSED) and (seconds > LONGEST_S or mb > MOST_MB):
        what, said = f"too much, {what}", f"{seconds:.1f} s, {mb:.0f} MB; {said}"
    return Outcome(what, said, seconds, mb)


def _peak_mb(processes: list[psutil.Process]) -> float:
    """Largest resident memory of processes since it was reset; 0 where Linux' files are missing."""
    peaks = 0.0
    for each in processes:
        with suppress(OSError):
            status = dict(line.split(":", 1) for line in Path(f"/proc/{each.pid}/status").read_text().splitlines())
            peaks += int(status["VmHWM"].split()[0]) / 1e3
    return peaks

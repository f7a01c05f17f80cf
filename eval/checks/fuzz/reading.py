"""Reads inputs in a process of its own, and sorts what failed by where it failed."""

from __future__ import annotations

import ctypes
import hashlib
import multiprocessing
import os
import resource
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import torch

from eval.checks.fuzz.targets import Target, check_error
from eval.common.overdue import Overdue, within
from nsrecover.errors import NsrecoverError
from nsrecover.util.atomic_write import atomic_write_bytes

CORPUS = Path(__file__).parent / "corpus"
"""Inputs that ever failed or are made to break a reader, in a folder for each target; the tests read all of them."""
TAKEN, REFUSED = "taken", "refused"
LONGEST_S, MOST_MB = 5.0, 300.0
"""Processor time and memory for one input."""
HANGS_S = 60.0
"""Time after which a process that does not answer is killed, however busy the machine is."""
SPACE = 4_000_000_000
"""Address space for one input, bytes: what unpacks without end must not take the machine's memory."""


@dataclass(frozen=True)
class Outcome:
    """What came of one input: taken, refused, or the place of a failure; what was said, and seconds."""

    what: str
    said: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is a finding; a status of an answer is none."""
        return self.what not in (TAKEN, REFUSED) and not self.what.isdigit()


@dataclass
class Findings:
    """What came out of the inputs of one target.

    Attributes:
        outcomes: number of inputs by outcome: taken, refused, failed; or by status of the server's answer.
        failures: place -> description and the smallest input that failed there.
        slowest_s: longest processor time for an input.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    slowest_s: float = 0.0

    def take(self, outcome: Outcome, data: bytes) -> None:
        """Count an input and its outcome."""
        self.slowest_s = max(self.slowest_s, outcome.seconds)
        self.outcomes["failed" if outcome.failed else outcome.what] += 1
        if outcome.failed and len(data) < len(self.failures.get(outcome.what, ("", data + b"."))[1]):
            self.failures[outcome.what] = outcome.said, data

    def keep(self, target: str, corpus: Path = CORPUS) -> list[str]:
        """Write the inputs that failed into the corpus; returns their names there."""
        names = [f"{target}/{hashlib.sha256(data).hexdigest()[:12]}" for _, data in self.failures.values()]
        for name, (_, data) in zip(names, self.failures.values(), strict=True):
            (corpus / target).mkdir(parents=True, exist_ok=True)
            atomic_write_bytes(corpus / name, data)
        return names


class Reader:
    """Reads inputs of one target, one after another, in a process that is replaced when it hangs or crashes."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._start()

    def read(self, data: bytes) -> Outcome:
        """Read an input; a failure counts if it happens twice, because modules are loaded at the first time."""
        found = self._once(data)
        return self._once(data) if found.failed else found

    def _once(self, data: bytes) -> Outcome:
        try:
            return self._pool.submit(_outcome, data).result(HANGS_S)
        except TimeoutError:
            what = "hangs"
        except BrokenProcessPool:
            what = "crashes"
        self.close()
        self._start()
        return Outcome(what, "the process did not answer")

    def _start(self) -> None:
        # forked, so that it has all modules, and targets of tests
        context = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(self._target,))
        self._process = self._pool.submit(os.getpid).result()

    def close(self) -> None:
        """End the process."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._process)
            for each in (*process.children(recursive=True), process):
                each.kill()
        self._pool.shutdown()


_targets: list[Target] = []
"""What the other process reads with."""


def _begin(target: Target) -> None:
    """Begin in the other process: limit its memory, print nothing, and wait for no threads that were not forked."""
    torch.set_num_threads(1)
    used = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (used + SPACE, resource.getrlimit(resource.RLIMIT_AS)[1]))
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    _targets.append(target)


def _outcome(data: bytes) -> Outcome:
    return outcome_of(_targets[-1], data)


def outcome_of(target: Target, data: bytes) -> Outcome:
    """Read one input in this process; every outcome but success and one clear error of ours is a failure."""
    with suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)  # what is freed and kept would hide what the input takes
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the most memory counts from now on
    before, began = _most_mb(), time.process_time()
    what, said = TAKEN, ""
    try:
        with within(LONGEST_S, processor=True):
            target.read(data)
    except NsrecoverError as problem:
        what, said = REFUSED, str(problem)
        try:
            check_error(problem)
        except AssertionError as unclear:
            what, said = f"unclear {_place(problem)}", str(unclear)
    except (Exception, Overdue) as problem:
        what, said = _place(problem), f"{type(problem).__name__}: {str(problem)[:500]}"
    seconds, mb = time.process_time() - began, _most_mb() - before
    if what in (TAKEN, REFUSED) and (seconds > LONGEST_S or mb > MOST_MB):
        what, said = f"too much, {what}", f"{seconds:.1f} s, {mb:.0f} MB; {said}"
    return Outcome(what, said, seconds)


def _most_mb() -> float:
    """The most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _place(problem: BaseException) -> str:
    """Type of an error and the line of ours that is nearest to it."""
    frames = traceback.extract_tb(problem.__traceback__)
    root = str(Path(__file__).parents[3])
    own = [each for each in frames if each.filename.startswith(root) and "/.venv/" not in each.filename]
    last = (own or list(frames))[-1]
    return f"{type(problem).__name__} at {Path(last.filename).name}:{last.lineno}"

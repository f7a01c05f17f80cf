"""Run a function for many items in worker processes: joblib's loky on this machine, or a Ray cluster.

    for result in run_parallel(function, items, workers=2, backend=Backend.loky):
        ...

Results come in the order of the items, or as soon as they are ready. They do not depend on the number of workers or the
backend, if the function's result depends on its item only. Items are taken when a worker needs them, so there may be
infinitely many; when the caller leaves the loop, running workers are ended.

`joblib.Parallel(return_as="generator")` is not used: it raises the error of an item before it has returned the finished
results of the items before it, and it does not support Ray.
"""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from nsrecover.errors import InvalidConfiguration, NsrecoverError

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items in flight per worker: enough to keep workers busy, few enough to waste little work when the caller leaves, no
more than loky's queue to the workers holds (two per worker, and one)."""

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_SINGLE_THREADED = dict.fromkeys(_THREADS, "1")


class Backend(Enum):
    """Where workers run."""

    loky = "loky"
    """Processes on this machine."""
    ray = "ray"
    """The Ray cluster at RAY_ADDRESS; without that environment variable, one on this machine."""


class WorkerDied(NsrecoverError):
    """A worker process was killed, for example by the operating system for lack of memory."""


def run_parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    backend: Backend = Backend.loky,
    ordered: bool = True,
) -> Generator[Result, None, None]:
    """Results of a function for every item.

    With one loky worker everything runs in this process. Workers write nothing to stdout and use one thread each. An
    error of the function is raised here when its item is due. On a Ray cluster of several machines, files that the
    function reads or writes must be on a shared file system, and the checkout at the same path on all machines.

    Args:
        function: called with each item; it, its arguments and its results must be picklable.
        items: may be a generator; at most `AHEAD * workers` are in flight at a time.
        workers: number of processes, or of Ray tasks at a time.
        backend: where workers run.
        ordered: whether results come in the order of the items; otherwise they come as soon as they are ready, and a
            slow item does not delay the others.

    Yields:
        The results. Closing the generator ends the workers, even in the middle of an item; on a Ray cluster that the
        caller has started, items in flight are finished first.

    Raises:
        InvalidConfiguration: workers is below 1, or Ray is not installed or cannot be reached.
        WorkerDied: a worker process was killed.
    """
    if workers < 1:
        raise InvalidConfiguration(f"expected at least 1 worker, found {workers}")
    if backend is Backend.ray:
        return _on_ray(function, items, workers, ordered)
    if workers == 1:
        return (function(item) for item in items)
    return _on_loky(function, items, workers, ordered)


def _on_loky(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, ordered: bool
) -> Generator[Result, None, None]:
    from joblib.externals.loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(workers, env=_SINGLE_THREADED, initializer=_become_worker, initargs=(os.getpid(),))

    def ready() -> Any:
        if ordered:
            return waiting[0]
        wait(waiting, return_when=FIRST_COMPLETED)
        done = [future for future in waiting if future.done()]
        # return finished results before raising the error of another item
        return next((future for future in done if future.exception() is None), done[0])

    waiting: deque[Any] = deque()
    finished = False
    try:
        for future in _window(items, lambda item: pool.submit(function, item), AHEAD * workers, waiting, ready):
            yield future.result()
        finished = True
    except BrokenExecutor as problem:
        raise WorkerDied(
            "expected every worker process to live, found one that was ended from outside (often for lack of memory); "
            f"use fewer workers than {workers}, or start the same command again"
        ) from problem
    finally:
        # loky fails to end its workers while items are on their way to one
        while not all(future.running() or future.done() for future in waiting):
            time.sleep(0.005)
        pool.shutdown(wait=True, kill_workers=not finished)


def _on_ray(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, ordered: bool
) -> Generator[Result, None, None]:
    # joblib's Ray backend returns results only when all are finished (it refuses return_as="generator"), so Ray's tasks
    # are used directly
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _join_cluster(ray, workers)
    task = ray.remote(num_cpus=1, max_retries=3, runtime_env={"env_vars": _environment()})(_in_ray_worker)
    waiting: deque[Any] = deque()

    def ready() -> Any:
        return waiting[0] if ordered else ray.wait(list(waiting), num_returns=1)[0][0]

    try:
        for reference in _window(items, lambda item: task.remote(function, item), AHEAD * workers, waiting, ready):
            yield ray.get(reference)
    except ray.exceptions.RayTaskError as problem:
        # the error of the function, without its traceback as one long message
        raise (problem.cause if isinstance(problem.cause, Exception) else problem) from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as problem:
        raise WorkerDied(
            "expected every Ray worker to live, found one that was ended from outside; "
            f"use fewer workers than {workers}, or start the same command again"
        ) from problem
    finally:
        # no `ray.cancel`: if the task ends at that moment, Ray aborts this process ("Tried to complete task that was
        # not pending"); a cluster ends the tasks of a process that leaves it
        if ours:
            ray.shutdown()
        elif waiting:
            ray.wait(list(waiting), num_returns=len(waiting))


def _window(
    items: Iterable[Item], submit: Callable[[Item], Any], size: int, waiting: deque[Any], ready: Callable[[], Any]
) -> Iterator[Any]:
    """The futures of all items, of which at most `size` are submitted and not yet consumed.

    `waiting` holds these; `ready` chooses the next one, which stays there until the caller asks for another one.
    """
    source = iter(items)
    waiting.extend(submit(item) for item in itertools.islice(source, size))
    while waiting:
        chosen = ready()
        yield chosen
        waiting.remove(chosen)
        waiting.extend(submit(item) for item in itertools.islice(source, 1))


def _become_worker(parent: int) -> None:
    """Set up a worker process: quiet, ended by its parent or together with it, and not by Ctrl-C."""
    _hush()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _hush() -> None:
    """Discard stdout, and the message that PyBullet writes to stderr when it is imported."""
    nowhere, stderr = os.open(os.devnull, os.O_WRONLY), os.dup(2)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        with suppress(ImportError):
            importlib.import_module("pybullet")
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _in_ray_worker(function: Callable[[Any], Any], item: Any) -> Any:
    _hush()
    return function(item)


def _ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as problem:
        raise InvalidConfiguration(
            "expected Ray for parallel=ray, found that it is not installed; run `pip install 'nsrecover[ray]'`, or "
            "use parallel=loky"
        ) from problem


def _environment() -> dict[str, str]:
    """Environment of Ray workers: they import this checkout and use one thread."""
    return {**_SINGLE_THREADED, "PYTHONPATH": str(Path(__file__).parents[2])}


def _join_cluster(ray: Any, workers: int) -> None:
    # Ray sends usage statistics only if the user has asked for it
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as problem:
        raise InvalidConfiguration(
            f"expected a Ray cluster at {address or 'this machine'}, found: {problem}; start one with "
            "`ray start --head`, set RAY_ADDRESS to it, or unset RAY_ADDRESS to use this machine"
        ) from problem

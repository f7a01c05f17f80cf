"""The same function for many items in worker processes: joblib's loky on this machine, or a Ray cluster.

    for result in run_parallel(function, items, workers=2, backend=Backend.loky):
        ...

Results come in the order of the items, or as they are ready where one that takes long must not hold up the others, and
do not depend on the number of workers or the backend, as long as the function's result depends on its item only. Items
are taken as they are needed, so that they may be endless: leave the loop, and what is still running is ended.
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
"""Items in flight for each worker: enough that few wait for the slowest, few enough that little is done in vain, and no
more than loky's own queue to the workers takes at once (two a worker, and one)."""

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_SINGLE_THREADED = dict.fromkeys(_THREADS, "1")


class Backend(Enum):
    """Where workers run."""

    loky = "loky"
    """Processes on this machine."""
    ray = "ray"
    """A Ray cluster: the one that the environment variable RAY_ADDRESS names, otherwise one on this machine."""


class WorkerDied(NsrecoverError):
    """A worker process was ended from outside, by the system for lack of memory for example."""


def run_parallel(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    workers: int,
    backend: Backend = Backend.loky,
    ordered: bool = True,
) -> Generator[Result, None, None]:
    """Results of a function for every item.

    With one loky worker everything runs in this process. Workers write nothing to stdout and use one thread each. An
    error that the function raises is raised here, in its turn. On a Ray cluster of several machines, files that the
    function reads or writes must be on a file system that all of them share, and the checkout at the same path.

    Args:
        function: what to do with an item; it and its arguments and results must be picklable.
        items: may be a generator; at most `AHEAD * workers` are in flight at a time.
        workers: processes, or Ray tasks at a time.
        backend: where they run.
        ordered: results come in the order of the items; otherwise as they are ready, and no worker waits for one that
            takes long.

    Yields:
        The results. Closing the generator ends the workers, in the middle of an item if need be; on a Ray that the
        caller has started itself, what is in flight is finished first.

    Raises:
        InvalidConfiguration: there are no workers, or Ray is not installed or cannot be reached.
        WorkerDied: a worker process was ended from outside.
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
        # what others have finished is not lost with one that failed
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
        # loky stumbles over items that are not on their way to a worker yet when it ends the workers
        while not all(future.running() or future.done() for future in waiting):
            time.sleep(0.005)
        pool.shutdown(wait=True, kill_workers=not finished)


def _on_ray(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, ordered: bool
) -> Generator[Result, None, None]:
    # joblib's own Ray backend gives results only when all are there (it refuses return_as="generator"): Ray's tasks are
    # used directly
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
        # what the function raised, not its traceback as one long message
        raise (problem.cause if isinstance(problem.cause, Exception) else problem) from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as problem:
        raise WorkerDied(
            "expected every Ray worker to live, found one that was ended from outside; "
            f"use fewer workers than {workers}, or start the same command again"
        ) from problem
    finally:
        # no `ray.cancel`: for a task that ends at that moment Ray aborts this process ("Tried to complete task that was
        # not pending"); whoever leaves a cluster has his tasks ended there
        if ours:
            ray.shutdown()
        elif waiting:
            ray.wait(list(waiting), num_returns=len(waiting))


def _window(
    items: Iterable[Item], submit: Callable[[Item], Any], size: int, waiting: deque[Any], ready: Callable[[], Any]
) -> Iterator[Any]:
    """What `submit` returns for every item, with at most `size` of them submitted and not yet dealt with.

    They are in `waiting` until the next one is asked for; `ready` says which of them it is.
    """
    source = iter(items)
    waiting.extend(submit(item) for item in itertools.islice(source, size))
    while waiting:
        dealt_with = ready()
        yield dealt_with
        waiting.remove(dealt_with)
        waiting.extend(submit(item) for item in itertools.islice(source, 1))


def _become_worker(parent: int) -> None:
    """Set up a worker process: quiet, ended by its parent or with it, and not by Ctrl-C on its own."""
    _hush()
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _hush() -> None:
    """Send what is written to stdout nowhere, and what PyBullet says on stderr when it is imported."""
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
    """What Ray workers need to find this checkout and to use one thread."""
    return {**_SINGLE_THREADED, "PYTHONPATH": str(Path(__file__).parents[1])}


def _join_cluster(ray: Any, workers: int) -> None:
    # nothing is reported to anybody unless the user has asked for it
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

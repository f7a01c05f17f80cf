"""Worker processes: no fork of this one, and one thread for numerics unless the user chose a number."""

import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import current_process, forkserver, get_all_start_methods, get_context
from multiprocessing.context import ForkServerContext, SpawnContext

from nsrecover.errors import InvalidConfiguration


def clean_context(preload: Sequence[str]) -> ForkServerContext | SpawnContext:
    """How to start processes; a fork of this one would inherit the state of torch's threads, but not the threads.

    Args:
        preload: modules that are imported once for all processes, where the system can do that.
    """
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(list(preload))
    with _one_thread():  # numerical libraries read it when they are imported, which is in the server of the processes
        forkserver.ensure_running()
    return context


@contextmanager
def _one_thread() -> Iterator[None]:
    """Context in which new processes use one thread, unless the user chose a number."""
    if "OMP_NUM_THREADS" in os.environ:
        yield
        return
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["OMP_NUM_THREADS"]


def require_picklable(value: object, what: str, advice: str) -> None:
    """Refuse what cannot be sent to another process.

    Args:
        value: what is to be sent.
        what: its name, as in "a planner".
        advice: what to do instead.

    Raises:
        InvalidConfiguration: it cannot be pickled.
    """
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidConfiguration(
            f"expected {what} that can be sent to other processes, found one that cannot be pickled ({error}); {advice}"
        ) from None


def start_worker() -> None:
    """Use one thread in this process unless the user chose a number: the processes share the cores."""
    if "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        if torch := sys.modules.get("torch"):  # imported with the preloaded modules, before the variable was set
            torch.set_num_threads(1)


def require_main_guard(what: str) -> None:
    """Refuse to go on in a script that a worker process of its own only imports.

    Args:
        what: the call that starts processes.

    Raises:
        InvalidConfiguration: the script calls it while it is imported.
    """
    if getattr(current_process(), "_inheriting", False):
        raise InvalidConfiguration(
            f'expected {what} under `if __name__ == "__main__":`, found it at the top of a script, which every process '
            "that it starts runs again; put it under that line"
        )

"""Recovery from many error states: one after another in this process, or in a pool of processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.processes import clean_context, require_picklable, start_worker

CHUNKS = 4
"""Parts of the work that each process gets, so that all of them end at about the same time."""


@dataclass(frozen=True, eq=False)
class Request:
    """An error state of one robot, with its own scene and plan.

    Attributes:
        graph: the scene as it is now.
        trace: the expected trace, over the same objects.
        discrepancy: what is wrong, from the monitor.
    """

    graph: SceneGraph
    trace: Trace
    discrepancy: Discrepancy


def recover_each(
    recover: Callable[..., Recovery], requests: Sequence[Request], workers: int, budget_s: float | None, preload: str
) -> list[Recovery]:
    """Recoveries in the order of the requests.

    Args:
        recover: plans one recovery, called like `RecoveryPlanner.recover`.
        requests: the error states.
        workers: number of processes; 1 plans in this process.
        budget_s: wall time for all requests together, in seconds; None: no limit.
        preload: module that the processes import once for all of them.

    Raises:
        InvalidConfiguration: `workers` is less than 1, or `recover` cannot be sent to another process.
    """
    if workers < 1:
        raise InvalidConfiguration(f"expected workers >= 1, found {workers}; 1 plans in this process")
    # the monotonic clock is the same in every process of a machine
    task = partial(_recover, recover, None if budget_s is None else time.monotonic() + budget_s)
    workers = min(workers, len(requests))
    if workers < 2:
        return [task(request) for request in requests]
    advice = "use module-level functions for its action cost and placement sampler, or workers=1"
    require_picklable(task, "a planner", advice)
    with ProcessPoolExecutor(workers, clean_context([preload]), start_worker) as pool:
        return list(pool.map(task, requests, chunksize=-(-len(requests) // (CHUNKS * workers))))


def _recover(recover: Callable[..., Recovery], deadline: float | None, request: Request) -> Recovery:
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    return recover(request.graph, request.trace, request.discrepancy, budget_s=left)

"""Many error states planned in one call of `recover_many`, in a pool of processes, next to the same ones one by one."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch

from nsrecover.planning.batch import Request
from nsrecover.system import System

WARM_UP = 8

REPEATS = 3
"""Both ways take turns this many times; the median counts."""


def time_batch(system: System, requests: Sequence[Request], workers: int) -> dict[str, Any]:
    """Plan for all requests one by one and then in a pool of processes, without a budget, each with one thread.

    Args:
        system: the learned parts.
        requests: error states.
        workers: processes of the pool. Starting them counts; importing the library, once for all of them, does not.

    Returns:
        Number of requests and of processes, the median seconds of both ways, their ratio, and how often both recoveries
        cost the same.
    """
    threads, planner = torch.get_num_threads(), system.box_planner
    torch.set_num_threads(1)
    try:
        for count in (1, workers):
            planner.recover_many(requests[:WARM_UP], workers=count)
        times = []
        for _ in range(REPEATS):
            started = time.perf_counter()
            single = planner.recover_many(requests)
            between = time.perf_counter()
            together = planner.recover_many(requests, workers=workers)
            times.append((between - started, time.perf_counter() - between))
    finally:
        torch.set_num_threads(threads)
    one_s, together_s = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "states": len(requests),
        "workers": workers,
        "one_by_one_s": round(one_s, 4),
        "together_s": round(together_s, 4),
        "times_faster": round(one_s / together_s, 2),
        "same_status_and_cost": sum(
            (one.status, one.cost) == (other.status, other.cost) for one, other in zip(single, together, strict=True)
        ),
    }


def as_text(batched: dict[str, Any]) -> str:
    """The measurement in a sentence."""
    return (
        f"{batched['states']} error states: {batched['one_by_one_s']:.2f} s one by one, {batched['together_s']:.2f} s "
        f"in one call with {batched['workers']} processes, {batched['times_faster']:.1f} times as fast; "
        f"{batched['same_status_and_cost']} recoveries cost the same."
    )

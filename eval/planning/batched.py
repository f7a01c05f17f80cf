"""Many error states planned in one call, beside the same ones one by one."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch

from nsrecover.planning.planner import Request
from nsrecover.system import System

WARM_UP = 8

REPEATS = 5
"""Both ways take turns so often; the median counts."""


def time_batch(system: System, requests: Sequence[Request]) -> dict[str, Any]:
    """Plan for all requests one by one and then together, each to the proof, with one thread.

    Args:
        system: the learned parts.
        requests: error states.

    Returns:
        How many there are, the median seconds of wall and processor time of both ways, their ratios, and how often both
        recoveries cost the same.
    """
    threads, planner = torch.get_num_threads(), system.planner
    torch.set_num_threads(1)
    try:
        for request in requests[:WARM_UP]:
            planner.recover(request.graph, request.trace, request.discrepancy, budget_s=None)
        planner.recover_many(requests[:WARM_UP])
        times = []
        for _ in range(REPEATS):
            gc.collect()  # what is left of the time before is not swept up in the next
            started, cpu = time.perf_counter(), time.process_time()
            single = [
                planner.recover(request.graph, request.trace, request.discrepancy, budget_s=None)
                for request in requests
            ]
            between, cpu_between = time.perf_counter(), time.process_time()
            gc.collect()
            resumed, cpu_resumed = time.perf_counter(), time.process_time()
            together = planner.recover_many(requests)
            ended, cpu_ended = time.perf_counter(), time.process_time()
            times.append((between - started, ended - resumed, cpu_between - cpu, cpu_ended - cpu_resumed))
    finally:
        torch.set_num_threads(threads)
    one_s, together_s, one_cpu_s, together_cpu_s = (statistics.median(column) for column in zip(*times, strict=True))
    return {
        "states": len(requests),
        "one_by_one_s": round(one_s, 4),
        "together_s": round(together_s, 4),
        "times_faster": round(one_s / together_s, 2),
        "one_by_one_cpu_s": round(one_cpu_s, 4),
        "together_cpu_s": round(together_cpu_s, 4),
        "times_faster_cpu": round(one_cpu_s / together_cpu_s, 2),
        "same_status_and_cost": sum(
            (one.status, one.cost) == (other.status, other.cost) for one, other in zip(single, together, strict=True)
        ),
    }


def as_text(batched: dict[str, Any]) -> str:
    """The measurement in a sentence."""
    wall, processor = batched["times_faster"], batched["times_faster_cpu"]
    return (
        f"{batched['states']} error states: {batched['one_by_one_s']:.2f} s one by one, {batched['together_s']:.2f} s "
        f"in one call, {wall:.1f} times as fast ({processor:.1f} in processor time); "
        f"{batched['same_status_and_cost']} recoveries cost the same."
    )

"""What planning many recoveries together gains: the same error states one by one and in one call."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from nsrecover.planning.problem import Request
from nsrecover.planning.recover import RecoveryPlanner
from nsrecover.structs import Recovery

ROUNDS = 3
"""How often both are timed, in turns; the best of each counts."""

THREADS = (1, 2)


def time_fleet(
    planner: RecoveryPlanner, requests: Sequence[Request], threads: Sequence[int] = THREADS
) -> dict[str, Any]:
    """Time `recover` for one request after the other against `recover_many`, in this process, warmed up.

    Args:
        planner: plans both.
        requests: the error states.
        threads: for how many threads of PyTorch to do so; those of NumPy are what OMP_NUM_THREADS says.

    Returns:
        "states" and for each number of threads "one_by_one_s", "together_s" (best of three, wall time), "times_faster",
        the same of processor time ("..._cpu_s"), and "equal": how many answers agree in status, cost, proof and blame.
    """
    rows: dict[str, Any] = {}
    before = torch.get_num_threads()
    try:
        for count in threads:
            torch.set_num_threads(count)
            rows[str(count)] = _time(planner, requests)
    finally:
        torch.set_num_threads(before)
    return {"states": len(requests), "threads": rows}


def _time(planner: RecoveryPlanner, requests: Sequence[Request]) -> dict[str, Any]:
    def one_by_one() -> list[Recovery]:
        return [planner.recover(r.graph, r.trace, r.discrepancy, budget_s=None) for r in requests]

    def together() -> list[Recovery]:
        return planner.recover_many(requests)

    for warm_up in (one_by_one, together):
        answers = warm_up()
    wall: dict[Callable[[], list[Recovery]], list[float]] = {one_by_one: [], together: []}
    cpu: dict[Callable[[], list[Recovery]], list[float]] = {one_by_one: [], together: []}
    found: dict[Callable[[], list[Recovery]], list[Recovery]] = {}
    for _ in range(ROUNDS):
        for ask in (one_by_one, together):
            started = time.perf_counter(), time.process_time()
            answers = ask()
            wall[ask].append(time.perf_counter() - started[0])
            cpu[ask].append(time.process_time() - started[1])
            found[ask] = answers
    return {
        "one_by_one_s": round(min(wall[one_by_one]), 4),
        "together_s": round(min(wall[together]), 4),
        "times_faster": round(min(wall[one_by_one]) / min(wall[together]), 2),
        "one_by_one_cpu_s": round(min(cpu[one_by_one]), 4),
        "together_cpu_s": round(min(cpu[together]), 4),
        "times_faster_cpu": round(min(cpu[one_by_one]) / min(cpu[together]), 2),
        "equal": sum(_same(a, b) for a, b in zip(found[one_by_one], found[together], strict=True)),
    }


def _same(one: Recovery, other: Recovery) -> bool:
    """Whether two answers are equally good, and say the same if there is no way."""
    costs = one.cost == other.cost or abs(one.cost - other.cost) < 1e-6
    told = (one.status, one.subgoal, one.blamed, one.reason, one.proven_optimal)
    return costs and told == (other.status, other.subgoal, other.blamed, other.reason, other.proven_optimal)

"""`python -m eval.planning`: length and time of recovery plans on stored error states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from eval.common.batched import time_batch
from eval.common.error_states import ErrorState, ErrorStatesConfig, states_of
from eval.common.optimum_check import require
from eval.common.output import in_workers, write_results
from eval.common.plans import Planned, PlannerSetting, plan_all, planner_settings, warm_up
from eval.common.systems import system_of
from eval.planning import figures, tables
from eval.planning.cases import CaseRequest, PlanningCase, assess
from nsrecover.planning.batch import Request
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.tabletop.kinematic import Fidelity

CASES = "cases.jsonl"


@dataclass
class PlanningConfig(ErrorStatesConfig):
    """Top level of conf/planning.yaml."""

    planner: dict[str, Any] = field(default_factory=dict)
    budget_s: float = 30.0
    curves: bool = True
    batch: int = 0
    fidelity: Fidelity = Fidelity.KINEMATIC
    check: int = 0
    out: str = "outputs/planning"


def plan_for(
    config: PlanningConfig, planners: Mapping[str, PlannerSetting], states: Sequence[ErrorState]
) -> Iterator[tuple[ErrorState, dict[str, Planned]]]:
    """Plan for every error state with every planner; no plans if the monitor does not notice the error.

    Runs in this process, with one thread.
    """
    system = system_of(config.checkpoint)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        noticed = [(state, state.discrepancy(system)) for state in states]
        warm_up(noticed, system)
        for state, discrepancy in tqdm(noticed, unit="state", desc="planning"):
            plans: dict[str, Planned] = {}
            if discrepancy.deviates:
                plans = plan_all(state, discrepancy, planners, system, config.budget_s, config.curves)
            yield state, plans
    finally:
        torch.set_num_threads(threads)


def batched(config: PlanningConfig, states: Sequence[ErrorState]) -> dict[str, Any]:
    """Error states from all datasets planned in one call and one by one; empty if `config.batch` is 0."""
    system = system_of(config.checkpoint)
    found = [(state, state.discrepancy(system)) for state in states] if config.batch else []
    requests = [Request(state.graph, state.trace, discrepancy) for state, discrepancy in found if discrepancy.deviates]
    chosen = np.unique(np.linspace(0, len(requests) - 1, min(config.batch, len(requests))).astype(int))
    return time_batch(system, [requests[i] for i in chosen], config.workers) if len(chosen) else {}


def cases_of(config: PlanningConfig, planned: Sequence[tuple[ErrorState, dict[str, Planned]]]) -> list[PlanningCase]:
    """Execute the plans and compare them with the optimum, in worker processes."""
    tasks = [CaseRequest(state, plans, number < config.check) for number, (state, plans) in enumerate(planned)]
    task = partial(assess, fidelity=config.fidelity)
    return list(in_workers(task, tasks, config.workers, "state", "judging"))


def measure(config: PlanningConfig) -> dict[str, Any]:
    """Plan from every error state with every planner, judge, and write metrics, tables, figures and all cases.

    Args:
        config: see conf/planning.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used.
    """
    planners = planner_settings(config.planner)
    if config.check:
        require("check > 0")
    system_of(config.checkpoint)  # rejects an unusable checkpoint early
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    states = states_of(
        config.episodes, config.footage, config.states, config.seed, config.errors, config.checkpoint, config.workers
    )
    planned = list(plan_for(config, planners, states))
    together = batched(config, states)
    cases = cases_of(config, planned)
    metrics = tables.summary(cases, planners) | {
        "batched": together,
        "seed": config.seed,
        "episodes": dict(config.episodes),
        "figures": figures.data(cases, list(planners)),
    }
    atomic_write_bytes(out / CASES, "".join(f"{json.dumps(asdict(case), default=str)}\n" for case in cases).encode())
    write_results(out, metrics, tables.markdown(metrics), config)
    figures.draw(metrics["figures"], out)
    return metrics

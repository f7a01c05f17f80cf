"""`python -m eval.planning`: length and time of recovery plans on stored error states."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import torch
from tqdm import tqdm

from conf.command import options
from eval.common.error_states import ErrorState, ErrorStatesConfig, states_of
from eval.common.optimum_check import require
from eval.common.output import in_workers
from eval.common.plans import Planned, PlannerSetting, plan_all, planner_settings, warm_up
from eval.common.runner import Measurement, Run
from eval.common.systems import system_of
from eval.planning import tables
from eval.planning.cases import CaseRequest, PlanningCase, assess
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.tabletop.kinematic import Fidelity

CASES = "cases.jsonl"


@dataclass
class PlanningConfig(ErrorStatesConfig):
    """Measure recovery planning alone, on error states as the monitor found them.

    Whether plans reach the original plan, how long they are compared with the optimum, and how long planning takes.

      python -m eval.planning                                           ours and RePlan, datasets I, II, III and V
      python -m eval.planning 'episodes={I: 50, II: 0, III: 0, V: 0}' seed=7 out=DIR     fewer, and fresh ones
      python -m eval.planning planner=[ours,original,anytime]           the K nearest subgoals, and a single one
      python -m eval.planning planner=[ours,relations]                  displaced objects may stay
      python -m eval.planning planner=[ours,nofree] budget_s=5          without the free-space transformer
      python -m eval.planning check=50                                  the optimum, checked by an independent planner
      python -m eval.planning fidelity=PHYSICS                          the arm executes the recoveries

    Missing episodes are generated and rendered (some seconds each), and error states are made once; all are kept.
    Planning runs alone, with one thread; judging in workers=2 processes. Writes metrics.json, table.md and
    every case (cases.jsonl) to out=DIR.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out; half of the errors of V are
            unrecoverable.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for camera images of the episodes; can be deleted.
        states: folder for the perceived and the true state at every error; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        budget_s: planning time for one recovery, seconds.
        fidelity: how recoveries are executed to judge them: KINEMATIC (no arm, fast) or PHYSICS.
        check: number of error states for which Fast Downward checks the optimum through unified-planning.
        planner: an option of conf/planner.
    """

    planner: dict[str, Any] = options(["ours", "replan"])
    budget_s: float = 30.0
    fidelity: Fidelity = Fidelity.KINEMATIC
    check: int = 0
    out: str = "outputs/planning"
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 250, "II": 150, "III": 100, "V": 120})


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
                plans = plan_all(state, discrepancy, planners, system, config.budget_s)
            yield state, plans
    finally:
        torch.set_num_threads(threads)


def cases_of(config: PlanningConfig, planned: Sequence[tuple[ErrorState, dict[str, Planned]]]) -> list[PlanningCase]:
    """Execute the plans and compare them with the optimum, in worker processes."""
    tasks = [CaseRequest(state, plans, number < config.check) for number, (state, plans) in enumerate(planned)]
    task = partial(assess, fidelity=config.fidelity)
    return list(in_workers(task, tasks, config.workers, "state", "judging"))


def _check(config: PlanningConfig) -> None:
    planner_settings(config.planner)
    if config.check:
        require("check > 0")
    system_of(config.checkpoint)


def measure(config: PlanningConfig, run: Run) -> dict[str, Any]:
    """Plan from every error state with every planner, and judge."""
    planners = planner_settings(config.planner)
    states = states_of(
        config.episodes, config.footage, config.states, config.seed, config.errors, config.checkpoint, config.workers
    )
    planned = list(plan_for(config, planners, states))
    cases = cases_of(config, planned)
    lines = (f"{json.dumps(asdict(case), default=str)}\n" for case in cases)
    atomic_write_bytes(run.folder / CASES, "".join(lines).encode())
    return tables.summary(cases, planners) | {
        "seed": config.seed,
        "episodes": dict(config.episodes),
    }


MEASUREMENT = Measurement(
    PlanningConfig,
    measure,
    tables.markdown,
    check=_check,
)

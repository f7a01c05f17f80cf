"""`python -m eval.planning`: length and time of recovery plans on stored error states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from conf.command import options
from eval.common.error_states import ErrorState, ErrorStatesConfig, states_of
from eval.common.plans import Planned, PlannerSetting, plan_all, planner_settings, warm_up
from eval.common.statistics import grouped, mean, over, p95, share, spread
from eval.common.systems import system_of
from eval.common.tables import Columns, columns_table, document, duration, figure, markdown_table, percent_of, rate
from eval.planning.cases import PlanningCase, assess
from eval.run import Measurement, Run, in_workers, run
from nsrecover.planning.planner import Rejoin
from sim.tabletop.kinematic import Fidelity

PROVEN_S = 1.0
"""Time within which optimality must be proven to count."""

ORIGINAL = "original"
"""Planner that knows only the state of the error; the anytime variants are compared with it."""

ANYTIME_OBJECTS = (6, 8)
"""Objects of the scenes on which the anytime variants are compared (Kalithasan et al., section VII-B)."""


def summary(cases: Sequence[PlanningCase], settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    """Metrics of all planners.

    Args:
        cases: one for each error state.
        settings: the planners, by name.
    """
    names = list(settings)
    noticed = [case for case in cases if case.detected]
    way_back = [case for case in noticed if case.recoverable]
    datasets = grouped(way_back, lambda case: case.dataset)
    planners = {
        name: {"datasets": {dataset: _metrics(group, name, settings) for dataset, group in datasets.items()}}
        for name in names
    }
    return {
        "error_states": len(cases),
        "detected": share(len(noticed), len(cases)),
        "unsteady": sum(bool(case.unsteady) for case in noticed),
        "planners": planners,
        "anytime": _anytime(way_back, settings),
        "decisions": {name: _decisions(noticed, name) for name in names},
    }


def succeeded(case: PlanningCase, name: str, settings: Mapping[str, PlannerSetting]) -> bool:
    """Whether a plan reached its subgoal: all objects in place, or (relations) all promised relations hold."""
    outcome = case.outcomes.get(name)
    if outcome is None:
        return False
    return outcome.completed if settings[name].rejoin is Rejoin.RELATIONS else outcome.recovered


def _metrics(cases: Sequence[PlanningCase], name: str, settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    good = [case for case in cases if succeeded(case, name, settings)]
    plans = [case.plans[name] for case in cases]
    known = [(case.plans[name], case.best) for case in good if case.best is not None]
    return {
        "recovery": share(len(good), len(cases)),
        "l_per_err": mean([_length(case, name) / case.errors for case in good]),
        "l_over_opt": mean([over(plan.cost, best.cost) for plan, best in known]),
        "t_per_err_s": _spread([case.plans[name].seconds / case.errors for case in cases]),
        "cpu_per_err_s": _spread([case.plans[name].cpu_s / case.errors for case in cases]),
        "t_over_opt_s": mean([plan.seconds / len(best.steps) for plan, best in known if best.steps]),
        "proven_optimal": share(sum(plan.proven and plan.seconds <= PROVEN_S for plan in plans), len(plans)),
        "expansions": _spread([plan.expansions for plan in plans]),
    }


def _length(case: PlanningCase, name: str) -> int:
    way = case.plans[name].way
    return 0 if way is None else len(way.actions)


def _spread(values: Sequence[float]) -> dict[str, Any]:
    return spread(values, median=np.median, p95=p95, max=np.max)


def _ratio(above: Any, below: Any) -> float:
    return round(float(above / max(below, 1e-9)), 3)


def _anytime(cases: Sequence[PlanningCase], settings: Mapping[str, PlannerSetting]) -> dict[str, Any]:
    """Plan lengths relative to the planner `original`, which knows only the state of the error.

    The paper's recovery plan is the recovery and the rest of the plan (section V); the recovery alone is given as well.
    """
    low, high = ANYTIME_OBJECTS
    chosen = [case for case in cases if case.dataset == "III" and low <= case.objects <= high]
    if ORIGINAL not in settings or not chosen:
        return {}
    rows = {}
    for name in settings:
        both = [case for case in chosen if all(succeeded(case, n, settings) for n in (name, ORIGINAL))]
        plans = [(case.plans[name].cost, case.plans[ORIGINAL].cost) for case in both]
        rows[name] = {
            "recovery": share(sum(succeeded(case, name, settings) for case in chosen), len(chosen)),
            "l_plan_over_l_orig": _ratio(sum(cost for cost, _ in plans), sum(cost for _, cost in plans)),
            "actions_to_subgoal_over_orig": _ratio(*(sum(_length(case, n) for case in both) for n in (name, ORIGINAL))),
            "t_per_err_s": _spread([case.plans[name].seconds / case.errors for case in chosen]),
        }
    return rows


def _decisions(cases: Sequence[PlanningCase], name: str) -> dict[str, Any]:
    """Shares of right decisions whether a recovery exists, and of right reasons where none exists."""
    group = [case for case in cases if case.dataset == "V"]
    hopeless = [case for case in group if not case.recoverable]
    return {
        "decided": share(sum(case.decided_right(name) for case in group), len(group)),
        "explained": share(sum(case.explained_right(name) for case in hopeless), len(hopeless)),
    }


def markdown(metrics: Mapping[str, Any]) -> str:
    """Table of all planners, and tables of comparisons, groups and decisions."""
    return document(
        f"{metrics['error_states']} error states; the monitor noticed {percent_of(metrics['detected'])}. "
        "Times are those of planning alone, one thread.",
        _planners(metrics["planners"]),
        *_anytime_table(metrics["anytime"]),
        _decision_table(metrics["decisions"]),
    )


COLUMNS: Columns = (
    ("states", lambda row: row["recovery"]["of"]),
    ("recovered", rate("recovery", digits=2)),
    ("L/N_err", figure("l_per_err", digits=2, none="none")),
    ("L/L_opt", figure("l_over_opt", digits=4, none="none")),
    ("T/N_err median", duration("t_per_err_s", "median")),
    ("95 %", duration("t_per_err_s", "p95")),
    ("processor time, median", duration("cpu_per_err_s", "median")),
    ("T/L_opt", duration("t_over_opt_s")),
    ("proven optimal in 1 s", rate("proven_optimal", digits=2)),
    ("expansions", figure("expansions", "median", digits=0, none="none")),
)
ANYTIME_COLUMNS: Columns = (
    ("recovered", rate("recovery", digits=2)),
    ("L_plan/L_orig", lambda row: row["l_plan_over_l_orig"]),
    ("to the subgoal alone", lambda row: row["actions_to_subgoal_over_orig"]),
    ("T/N_err median", duration("t_per_err_s", "median")),
)


def _planners(planners: Mapping[str, Any]) -> str:
    rows = {(name, key): row for name, details in planners.items() for key, row in details["datasets"].items()}
    return columns_table(["planner", "dataset"], rows, COLUMNS)


def _anytime_table(anytime: Mapping[str, Any]) -> Iterator[str]:
    if not anytime:
        return
    yield "Dataset III with 6 to 8 objects: lengths, with the rest of the plan, relative to those of `original`:"
    yield columns_table(["planner"], anytime, ANYTIME_COLUMNS)


def _decision_table(decisions: Mapping[str, Any]) -> str:
    if not any(row["decided"]["of"] for row in decisions.values()):
        return ""
    rows = [
        [name, *(f"{percent_of(row[key])} of {row[key]['of']}" for key in ("decided", "explained"))]
        for name, row in decisions.items()
    ]
    head = ("planner", "dataset V: decided right", "impossible, with the right object and reason")
    return markdown_table(head, rows)


@dataclass
class PlanningConfig(ErrorStatesConfig):
    """Measure recovery planning alone, on error states as the monitor found them.

    Whether plans reach the original plan, how long they are compared with the optimum, and how long planning takes.

      python -m eval.planning                                           ours and RePlan, datasets I, II, III and V
      python -m eval.planning 'episodes={I: 50, II: 0, III: 0, V: 0}' seed=7 out=DIR     fewer, and fresh ones
      python -m eval.planning planner=[ours,original,anytime]           the K nearest subgoals, and a single one
      python -m eval.planning planner=[ours,relations]                  displaced objects may stay
      python -m eval.planning planner=[ours,nofree] budget_s=5          without the free-space transformer
      python -m eval.planning fidelity=PHYSICS                          the arm executes the recoveries

    Missing episodes are generated and rendered (some seconds each), and error states are made once; all are kept.
    Planning runs alone, with one thread; judging in workers=2 processes. Writes metrics.json and table.md to out=DIR.

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
        planner: an option of conf/planner.
    """

    planner: dict[str, Any] = options(["ours", "replan"])
    budget_s: float = 30.0
    fidelity: Fidelity = Fidelity.KINEMATIC
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


def _check(config: PlanningConfig) -> None:
    planner_settings(config.planner)
    system_of(config.checkpoint)


def measure(config: PlanningConfig, run: Run) -> dict[str, Any]:
    """Plan from every error state with every planner, and judge."""
    planners = planner_settings(config.planner)
    states = states_of(
        config.episodes, config.footage, config.states, config.seed, config.errors, config.checkpoint, config.workers
    )
    planned = list(plan_for(config, planners, states))
    cases = list(in_workers(partial(assess, fidelity=config.fidelity), planned, config.workers, "state", "judging"))
    return summary(cases, planners) | {
        "seed": config.seed,
        "episodes": dict(config.episodes),
    }


MEASUREMENT = Measurement(
    PlanningConfig,
    measure,
    markdown,
    check=_check,
)


if __name__ == "__main__":
    run(MEASUREMENT)

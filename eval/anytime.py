"""`python -m eval.anytime`: recoveries by planning budget, where finding the best one takes long.

In error states of the datasets a search needs 1 to 7 expansions. Here 20 to 50 objects stand in towers, and some
towers were taken apart and stacked anew in each other's places: objects stand on and in the places of others, the
number of actions depends on which one is set aside first, and bounds are not tight.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from eval.common.statistics import bootstrap_interval, grouped, share_of
from eval.common.synthetic_states import SyntheticErrorState, enlarged, of_example, problem
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, number, percent_of, with_interval
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.recovery import Recovery
from nsrecover.planning.planner import RecoveryPlanner
from nsrecover.system import System

WARM_UP = 2
LONG = 0.0
"""Stands for the budget of the long search."""


@dataclass
class AnytimeConfig(Settings):
    """Plan recoveries with 20 to 50 objects within budgets: share solved, cost over the best known, share proven.

      python -m eval.anytime                                  45 states; two minutes
      python -m eval.anytime objects=[30] repeats=20 seed=7 out=DIR

    Attributes:
        objects: numbers of objects; more than 10 stand on a larger table.
        stacked_anew: how many of them were taken apart and stacked anew in each other's places.
        repeats: states of each combination.
        budgets_ms: budgets of processor time, milliseconds.
        best_s: processor time of the long search that gives the best known cost, seconds.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    objects: list[int] = field(default_factory=lambda: [20, 35, 50])
    stacked_anew: list[int] = field(default_factory=lambda: [6, 10, 16])
    repeats: int = 5
    budgets_ms: list[float] = field(default_factory=lambda: [1, 2, 5, 10, 20, 50, 100, 200])
    best_s: float = 2.0
    checkpoint: str | None = None


@dataclass(frozen=True)
class Bounded:
    """A recovery that was planned within a budget.

    Attributes:
        budget_ms: processor time for the planning; `LONG` for the long search that gives the best known cost.
        cost: of the recovery and the rest of the plan, in actions; None without one.
        proven: whether it is proven optimal.
        spent_ms: processor time that the planning took.
        expansions: of the search.
    """

    budget_ms: float
    cost: float | None
    proven: bool
    spent_ms: float
    expansions: int


def planned(system: System, given: SyntheticErrorState, budget_s: float) -> tuple[Recovery, float]:
    """A recovery within a budget of processor time, and the time that it took, seconds.

    Processor time does not depend on what else runs on the machine; it includes building the model of the search.
    """
    began = time.process_time()
    assert isinstance(system.planner, RecoveryPlanner)
    recovery = system.planner.recover(
        given.graph, given.trace, given.discrepancy, budget_s=None, max_expansions=None,
        cancelled=lambda: time.process_time() - began >= budget_s,
    )  # fmt: skip
    return recovery, time.process_time() - began


def plan_all(cell: tuple[int, int, int], config: AnytimeConfig) -> list[Bounded]:
    """Plan one state with every budget, in one thread.

    Args:
        cell: number of objects, how many were stacked anew, and the number of its repetition.
        config: the settings.
    """
    torch.set_num_threads(1)
    objects, stacked_anew, _ = cell
    system, bank = enlarged(system_of(config.checkpoint), objects), of_example(config.checkpoint)
    given = problem(system, bank, objects, stacked_anew, np.random.default_rng([config.seed, *cell]))
    for _ in range(WARM_UP):
        planned(system, given, 0.1)
    results = list[Bounded]()
    for budget_ms in (*config.budgets_ms, LONG):
        found, spent_s = planned(system, given, budget_ms / 1000 if budget_ms else config.best_s)
        cost = found.cost if found.found else None
        results.append(Bounded(budget_ms, cost, found.proven_optimal, 1000 * spent_s, found.expansions))
    return results


def measure(config: AnytimeConfig, run: Run) -> dict[str, Any]:
    """Plan every state with every budget."""
    cells = [(n, count, k) for n in config.objects for count in config.stacked_anew for k in range(config.repeats)]
    found = run.each(partial(plan_all, config=config), cells, "state")
    return summary(list(zip([objects for objects, *_ in cells], found, strict=True))) | {"seed": config.seed}


def summary(states: Sequence[tuple[int, Sequence[Bounded]]]) -> dict[str, Any]:
    """Metrics by budget, of all states and by number of objects.

    Args:
        states: number of objects and the recoveries of all budgets, of every state.
    """
    known = list[tuple[int, Bounded, float]]()
    for objects, results in states:
        costs = [each.cost for each in results if each.cost is not None]
        known += [(objects, each, min(costs)) for each in results if costs]
    return {
        "states": len(states),
        "without_recovery": sum(all(each.cost is None for each in results) for _, results in states),
        "budgets": _by_budget(known),
        "objects": {str(n): _by_budget(group) for n, group in grouped(known, lambda each: each[0]).items()},
    }


def _by_budget(known: Sequence[tuple[int, Bounded, float]]) -> dict[str, Any]:
    groups = grouped(known, lambda each: each[1].budget_ms or math.inf)
    return {
        "long search" if math.isinf(ms) else f"{ms:g} ms": _metrics([(each, best) for _, each, best in group])
        for ms, group in groups.items()
    }


def _metrics(found: Sequence[tuple[Bounded, float]]) -> dict[str, Any]:
    group = [each for each, _ in found]
    over = np.array([each.cost / best for each, best in found if each.cost is not None])
    low, high = bootstrap_interval(over) if len(over) else (None, None)
    return {
        "solved": share_of(each.cost is not None for each in group),
        "cost_over_best": {"value": float(over.mean()) if len(over) else None, "low": low, "high": high},
        "proven": share_of(each.proven for each in group),
        "spent_ms": float(np.median([each.spent_ms for each in group])),
        "expansions": float(np.median([each.expansions for each in group])),
    }


def table(metrics: dict[str, Any]) -> str:
    """Table by budget, and the shares solved by number of objects."""
    names = list(metrics["budgets"])
    rows = [
        [name, percent_of(found["solved"], 0), with_interval(found["cost_over_best"]), percent_of(found["proven"], 0),
         number(found["spent_ms"], 1), number(found["expansions"], 0)]
        for name, found in metrics["budgets"].items()
    ]  # fmt: skip
    head = ["budget", "solved", "cost / best known, of the solved", "proven optimal", "spent, median, ms", "expansions"]
    by_objects = [
        [objects, *(f"{100 * found[name]['solved']['value']:.0f} / {100 * found[name]['proven']['value']:.0f} %"
                    for name in names)]
        for objects, found in metrics["objects"].items()
    ]  # fmt: skip
    return document(
        f"Recoveries by planning budget, in processor time with the building of the model ({metrics['states']} states)",
        markdown_table(head, rows),
        markdown_table(["objects: solved / proven", *names], by_objects),
    )


LEAST = {"objects": 1, "stacked_anew": 1, "repeats": 1, "budgets_ms": 1e-3, "best_s": 1e-3}
MEASUREMENT = Measurement(AnytimeConfig, measure, table, least=LEAST, adds=("repeats",))

if __name__ == "__main__":
    run(MEASUREMENT)

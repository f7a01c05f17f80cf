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
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from eval.common.output import write_results
from eval.common.statistics import Share, bootstrap_interval, grouped, share_of
from eval.common.synthetic_states import Appearance, SyntheticErrorState, enlarged, problem
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, number, percent_of
from nsrecover.core.recovery import Recovery
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.recording import example
from nsrecover.system import System

WARM_UP = 3


@dataclass
class AnytimeConfig:
    """Plan recoveries with 20 to 50 objects within budgets: share solved, cost over the best known, share proven.

      python -m eval.anytime                                  45 states; two minutes
      python -m eval.anytime objects=[30] repeats=20 seed=7 out=DIR

    Attributes:
        objects: numbers of objects; more than 10 stand on a larger table.
        stacked_anew: how many of them were taken apart and stacked anew in each other's places.
        repeats: states of each combination.
        budgets_ms: budgets of processor time, milliseconds.
        best_s: processor time of the long search that gives the best known cost, seconds.
        seed: another seed gives other states.
        checkpoint: folder of a checkpoint; the shipped one if null.
        out: output folder.
    """

    objects: list[int] = field(default_factory=lambda: [20, 35, 50])
    stacked_anew: list[int] = field(default_factory=lambda: [6, 10, 16])
    repeats: int = 5
    budgets_ms: list[float] = field(default_factory=lambda: [1, 2, 5, 10, 20, 50, 100, 200])
    best_s: float = 2.0
    seed: int = 0
    checkpoint: str | None = None
    out: str = "outputs/anytime"


@dataclass(frozen=True)
class Bounded:
    """A recovery that was planned within a budget.

    Attributes:
        objects: number of objects.
        budget_ms: processor time for the planning; `inf` for the long search that gives the best known cost.
        state: number of the state.
        cost: of the recovery and the rest of the plan, in actions; None without one.
        proven: whether it is proven optimal.
        spent_ms: processor time that the planning took.
        expansions: of the search.
    """

    objects: int
    budget_ms: float
    state: int
    cost: float | None
    proven: bool
    spent_ms: float
    expansions: int


def planned(system: System, given: SyntheticErrorState, budget_s: float) -> tuple[Recovery, float]:
    """A recovery within a budget of processor time, and the time that it took, seconds.

    Processor time does not depend on what else runs on the machine; it includes building the model of the search.
    """
    began = time.process_time()
    recovery = system.box_planner.recover(
        given.graph, given.trace, given.discrepancy, budget_s=None, max_expansions=None,
        cancelled=lambda: time.process_time() - began >= budget_s,
    )  # fmt: skip
    return recovery, time.process_time() - began


def measure(config: AnytimeConfig) -> dict[str, Any]:
    """Plan every state with every budget, and write metrics and the table.

    Args:
        config: the settings.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: a number is not positive.
    """
    numbers = (*config.objects, *config.stacked_anew, *config.budgets_ms, config.repeats, config.best_s)
    if not numbers or min(numbers) <= 0:
        raise InvalidConfiguration(f"expected positive numbers of objects, states and times, found {list(numbers)}")
    system = system_of(config.checkpoint)
    scene = system.perceiver()(example("collapse").observations[0])
    bank = [Appearance(look, look, box[3:], box[3:]) for look, box in zip(scene.visual, scene.boxes, strict=True)]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        results = _all(config, system, bank)
    finally:
        torch.set_num_threads(threads)
    metrics = summary(results) | {"seed": config.seed}
    write_results(config.out, metrics, table(metrics), config)
    return metrics


def _all(config: AnytimeConfig, system: System, bank: Sequence[Appearance]) -> list[Bounded]:
    cells = [(n, count, k) for n in config.objects for count in config.stacked_anew for k in range(config.repeats)]
    results = list[Bounded]()
    for state, (objects, count, repeat) in enumerate(tqdm(cells, unit="state", desc="planning")):
        larger, rng = enlarged(system, objects), np.random.default_rng([config.seed, objects, count, repeat])
        given = problem(larger, bank, objects, count, rng, entangled=True)
        for _ in range(0 if state else WARM_UP):
            planned(larger, given, 0.2)
        for budget_ms in (*config.budgets_ms, math.inf):
            found, spent_s = planned(larger, given, config.best_s if math.isinf(budget_ms) else budget_ms / 1000)
            cost = found.cost if found.found else None
            results.append(
                Bounded(objects, budget_ms, state, cost, found.proven_optimal, 1000 * spent_s, found.expansions)
            )
    return results


def summary(results: Sequence[Bounded]) -> dict[str, Any]:
    """Metrics by budget, of all states and by number of objects."""
    best = {
        state: min((each.cost for each in group if each.cost is not None), default=None)
        for state, group in grouped(results, lambda each: each.state).items()
    }
    known = [each for each in results if best[each.state] is not None]
    return {
        "states": len(best),
        "without_recovery": len(best) - len({each.state for each in known}),
        "budgets": {str(ms): _metrics(group, best) for ms, group in grouped(known, lambda e: e.budget_ms).items()},
        "objects": {
            str(objects): {str(ms): _metrics(part, best) for ms, part in grouped(group, lambda e: e.budget_ms).items()}
            for objects, group in grouped(known, lambda each: each.objects).items()
        },
    }


def _metrics(group: Sequence[Bounded], best: dict[int, Any]) -> dict[str, Any]:
    over = np.array([each.cost / best[each.state] for each in group if each.cost is not None])
    low, high = bootstrap_interval(over) if len(over) else (None, None)
    return {
        "solved": share_of(each.cost is not None for each in group),
        "cost_over_best": {"value": float(over.mean()) if len(over) else None, "low": low, "high": high},
        "proven": share_of(each.proven for each in group),
        "spent_ms": float(np.median([each.spent_ms for each in group])),
        "expansions": float(np.median([each.expansions for each in group])),
    }


def _cell(found: Share) -> str:
    if found["value"] is None:
        return "-"
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def table(metrics: dict[str, Any]) -> str:
    """Table by budget, and the shares solved by number of objects."""
    budgets = list(metrics["budgets"])
    names = ["long search" if ms == "inf" else f"{float(ms):g} ms" for ms in budgets]
    rows = [
        [name, percent_of(found["solved"], 0), _cell(found["cost_over_best"]), percent_of(found["proven"], 0),
         number(found["spent_ms"], 1), number(found["expansions"], 0)]
        for name, found in zip(names, metrics["budgets"].values(), strict=True)
    ]  # fmt: skip
    head = ["budget", "solved", "cost / best known, of the solved", "proven optimal", "spent, median, ms", "expansions"]
    by_objects = [
        [objects, *(f"{100 * found[ms]['solved']['value']:.0f} / {100 * found[ms]['proven']['value']:.0f} %"
                    for ms in budgets)]
        for objects, found in metrics["objects"].items()
    ]  # fmt: skip
    return document(
        f"Recoveries by planning budget, in processor time with the building of the model ({metrics['states']} states)",
        markdown_table(head, rows),
        markdown_table(["objects: solved / proven", *names], by_objects),
    )

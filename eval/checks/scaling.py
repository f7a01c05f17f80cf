"""`python -m eval.checks.scaling`: planning time by number of objects and errors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from eval.common.statistics import grouped
from eval.common.synthetic_states import SyntheticErrorState, enlarged, of_example, problem
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.recovery import Recovery
from nsrecover.domains.tabletop.operators import REACHED_M, operator_of
from nsrecover.planning.planner import RecoveryPlanner


@dataclass
class ScalingConfig(Settings):
    """Measure recovery planning time against the numbers of objects and errors, on synthetic scenes.

      python -m eval.checks.scaling                                5 to 50 objects, 1 to 10 errors; some minutes
      python -m eval.checks.scaling objects=[5,10] errors=[1,3,5] repeats=3 out=DIR      a quick look

    Times are those of the processor, with one thread, until the recovery is proven optimal or the budget is spent.

    Attributes:
        objects: numbers of objects in a scene; with more than 10 the table is larger, and the arm is assumed to reach
            all of it.
        errors: numbers of errors at one step; combinations with more errors than objects are left out.
        repeats: number of error states for every combination.
        budget_s: processor time for one recovery, seconds.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    objects: list[int] = field(default_factory=lambda: [5, 10, 20, 50])
    errors: list[int] = field(default_factory=lambda: [*range(1, 11)])
    repeats: int = 5
    budget_s: float = 10.0
    checkpoint: str | None = None
    workers: int = 1
    out: str = "outputs/scaling"


@dataclass(frozen=True)
class TimedRecovery:
    """Timed planning of one recovery.

    Attributes:
        objects: number of objects.
        errors: number of errors.
        noticed: whether the monitor blames exactly the displaced objects.
        valid: whether the imagined plan is executable and reaches its subgoal.
        proven: whether the plan is proven optimal.
        expansions: nodes of the search.
        cpu_s: processor time.
    """

    objects: int
    errors: int
    noticed: bool
    valid: bool
    proven: bool
    expansions: int
    cpu_s: float


def valid(given: SyntheticErrorState, recovery: Recovery) -> bool:
    """Whether an imagined recovery is executable and reaches its subgoal."""
    if not recovery.found or recovery.subgoal is None:
        return False
    now = given.graph
    for action, after in zip(recovery.actions, recovery.graphs, strict=True):
        if operator_of(action).violated(now, action):
            return False
        now = after
    goal = given.trace.graphs[recovery.subgoal]
    return bool((np.linalg.norm(now.boxes[:, :3] - goal.boxes[:, :3], axis=1) <= REACHED_M).all())


def time_one(item: tuple[int, int, int], config: ScalingConfig) -> TimedRecovery:
    """Draw an error state and time the planning of its recovery.

    Args:
        item: numbers of objects and of errors, and of the state among those with the same.
        config: the settings.
    """
    objects, errors, repeat = item
    larger, bank = enlarged(system_of(config.checkpoint), objects), of_example(config.checkpoint)
    given = problem(larger, bank, objects, errors, np.random.default_rng([config.seed, objects, errors, repeat]))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        assert isinstance(larger.planner, RecoveryPlanner)
        larger.planner.recover(given.graph, given.trace, given.discrepancy, max_expansions=1)  # loads what it needs
        began = time.process_time()
        recovery = larger.planner.recover(
            given.graph, given.trace, given.discrepancy, budget_s=None, max_expansions=None,
            cancelled=lambda: time.process_time() - began >= config.budget_s,
        )  # fmt: skip
        cpu_s = time.process_time() - began
    finally:
        torch.set_num_threads(threads)
    right = valid(given, recovery)
    return TimedRecovery(
        objects, errors, given.noticed, right, recovery.proven_optimal, recovery.expansions, round(cpu_s, 5)
    )


def growth(results: Sequence[TimedRecovery]) -> dict[str, float]:
    """Return the exponents a and b of T = c * objects^a * errors^b, fitted to the medians of all combinations.

    The exponent of a constant is 0.
    """
    cells = grouped(results, lambda each: (each.objects, each.errors))
    rows = np.array([[1.0, np.log(objects), np.log(errors)] for objects, errors in cells])
    rows[:, 1:] -= rows[:, 1:].mean(axis=0)  # a constant column becomes 0
    targets = np.log([np.median([each.cpu_s for each in cell]) for cell in cells.values()])
    solution, *_ = np.linalg.lstsq(rows, targets, rcond=None)
    spread = float(((targets - targets.mean()) ** 2).sum())
    unexplained = float(((targets - rows @ solution) ** 2).sum())
    names = {"objects": solution[1], "errors": solution[2], "r_squared": 1.0 - unexplained / max(spread, 1e-12)}
    return {name: round(float(value), 3) for name, value in names.items()}


def summary(results: Sequence[TimedRecovery]) -> dict[str, Any]:
    """The contents of metrics.json."""
    cells = [
        {
            "objects": objects,
            "errors": errors,
            "cpu_s_median": round(float(np.median([each.cpu_s for each in cell])), 5),
            "cpu_s_max": max(each.cpu_s for each in cell),
            "expansions_median": float(np.median([each.expansions for each in cell])),
        }
        for (objects, errors), cell in grouped(results, lambda each: (each.objects, each.errors)).items()
    ]
    counts = {name: sum(getattr(each, name) for each in results) for name in ("valid", "proven", "noticed")}
    return {"plans": len(results), **counts, "growth_exponent": growth(results), "cells": cells}


def measure(config: ScalingConfig, run: Run) -> dict[str, Any]:
    """Plan in synthetic scenes of every size."""
    items = [
        (objects, errors, repeat)
        for objects in config.objects
        for errors in config.errors
        if errors <= objects
        for repeat in range(config.repeats)
    ]
    results = run.each(partial(time_one, config=config), items, "plan")
    return {"seed": config.seed, "repeats": config.repeats, **summary(results)}


def table(metrics: Mapping[str, Any]) -> str:
    """Table of the times for every number of objects and errors."""
    cells = {(cell["objects"], cell["errors"]): cell for cell in metrics["cells"]}
    objects, errors = (sorted({key[side] for key in cells}) for side in (0, 1))
    times = {key: f"{1000 * c['cpu_s_median']:.0f} ({1000 * c['cpu_s_max']:.0f})" for key, c in cells.items()}
    exponents = metrics["growth_exponent"]
    return document(
        "Processor time of a recovery in milliseconds, median and longest:",
        markdown_table(
            ["objects", *(f"{count} error{'s' * (count > 1)}" for count in errors)],
            [[size, *(times.get((size, count), "") for count in errors)] for size in objects],
        ),
        f"Time grows as objects^{exponents['objects']} * errors^{exponents['errors']} (least squares on the logarithms "
        f"of the medians, R² {exponents['r_squared']}). Of {metrics['plans']} plans {metrics['valid']} can be carried "
        f"out as imagined and reach their subgoal, {metrics['proven']} are proven optimal.",
    )


MEASUREMENT = Measurement(ScalingConfig, measure, table, least={"objects": 1, "errors": 1, "repeats": 1})

if __name__ == "__main__":
    run(MEASUREMENT)

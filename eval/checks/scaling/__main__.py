"""`python -m eval.checks.scaling`: planning time by number of objects and errors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from eval.common.batched import as_text, time_batch
from eval.common.command import run
from eval.common.error_states import states_of
from eval.common.figures import finish, plt, save
from eval.common.output import write_results
from eval.common.synthetic_states import Appearance, SyntheticErrorState, appearances_of, enlarged, problem
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table
from nsrecover.core.recovery import Recovery
from nsrecover.domains.tabletop.operators import REACHED_M, operator_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.batch import Request
from nsrecover.system import System

WARM_UP = 3


@dataclass
class ScalingConfig:
    """Measure recovery planning time against the numbers of objects and errors, on synthetic scenes.

      python -m eval.checks.scaling                                5 to 50 objects, 1 to 10 errors; some minutes
      python -m eval.checks.scaling objects=[5,10] errors=[1,3,5] repeats=3 batch=0 out=DIR      a quick look

    The gain of a pool of processes, when many error states are planned in one call, is measured as well. Planning
    runs alone in the process, with one thread. Writes metrics.json, table.md and figures to out=DIR.

    Attributes:
        objects: numbers of objects in a scene; with more than 10 the table is larger, and the arm is assumed to
            reach all of it.
        errors: numbers of errors at one step; combinations with more errors than objects are left out.
        repeats: number of error states for every combination.
        budget_s: planning time for one recovery, seconds.
        batch: number of error states planned one by one, and in one call with `workers` processes; 0 for none.
        seed: another seed gives other scenes.
        looks: number of episodes of error dataset I that the appearance of synthetic objects is taken from.
        errors_at: folder of the error datasets.
        footage: folder for camera images of the episodes; can be deleted.
        states: folder for the perceived and the true state at every error; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        workers: number of processes for rendering; the result does not depend on it.
        out: output folder.
    """

    objects: list[int] = field(default_factory=lambda: [5, 10, 20, 50])
    errors: list[int] = field(default_factory=lambda: [*range(1, 11)])
    repeats: int = 10
    budget_s: float = 10.0
    batch: int = 256
    seed: int = 0
    looks: int = 40
    errors_at: str = "data/errors"
    footage: str = "data/footage"
    states: str = "data/error_states"
    checkpoint: str | None = None
    workers: int = 2
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
        actions: of the recovery.
        expansions: nodes of the search.
        seconds: wall time.
        cpu_s: processor time.
    """

    objects: int
    errors: int
    noticed: bool
    valid: bool
    proven: bool
    actions: int
    expansions: int
    seconds: float
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


def time_one(system: System, given: SyntheticErrorState, errors: int, budget_s: float) -> TimedRecovery:
    """Time the planning of a recovery."""
    started, cpu = time.perf_counter(), time.process_time()
    recovery = system.box_planner.recover(
        given.graph, given.trace, given.discrepancy, budget_s=budget_s, max_expansions=None
    )
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    return TimedRecovery(
        len(given.graph),
        errors,
        given.noticed,
        valid(given, recovery),
        recovery.proven_optimal,
        len(recovery.actions),
        recovery.expansions,
        seconds,
        cpu_s,
    )


def time_all(config: ScalingConfig, system: System, bank: Sequence[Appearance]) -> list[TimedRecovery]:
    """Time all combinations of numbers of objects and errors."""
    pairs = [(objects, errors) for objects in config.objects for errors in config.errors if errors <= objects]
    results = []
    with tqdm(total=len(pairs) * config.repeats, unit="plan", desc="planning") as bar:
        for objects, errors in pairs:
            larger = enlarged(system, objects)
            rng = np.random.default_rng([config.seed, objects, errors])
            for repeat in range(config.repeats):
                given = problem(larger, bank, objects, errors, rng)
                if not repeat:
                    for _ in range(WARM_UP):
                        time_one(larger, given, errors, config.budget_s)
                results.append(time_one(larger, given, errors, config.budget_s))
                bar.update()
    return results


def growth(results: Sequence[TimedRecovery]) -> dict[str, float]:
    """Return the exponents a and b of T = c * objects^a * errors^b, fitted to the medians of all combinations.

    The exponent of a constant is 0.
    """
    medians = _medians(results)
    rows = np.array([[1.0, np.log(objects), np.log(errors)] for objects, errors in medians])
    rows[:, 1:] -= rows[:, 1:].mean(axis=0)  # a constant column becomes 0
    targets = np.log(np.array(list(medians.values())))
    solution, *_ = np.linalg.lstsq(rows, targets, rcond=None)
    left = targets - rows @ solution
    spread = float(((targets - targets.mean()) ** 2).sum())
    return {
        "objects": round(float(solution[1]), 3),
        "errors": round(float(solution[2]), 3),
        "r_squared": round(1.0 - float((left**2).sum()) / max(spread, 1e-12), 3),
    }


def _medians(results: Sequence[TimedRecovery]) -> dict[tuple[int, int], float]:
    groups: dict[tuple[int, int], list[float]] = {}
    for result in results:
        groups.setdefault((result.objects, result.errors), []).append(result.seconds)
    return {key: float(np.median(values)) for key, values in sorted(groups.items())}


def summary(results: Sequence[TimedRecovery]) -> dict[str, Any]:
    """Return the metrics of single recoveries."""
    cells = {}
    for objects, errors in _medians(results):
        group = [result for result in results if (result.objects, result.errors) == (objects, errors)]
        seconds = [result.seconds for result in group]
        cells[f"{objects} objects, {errors} errors"] = {
            "objects": objects,
            "errors": errors,
            "seconds_median": round(float(np.median(seconds)), 5),
            "seconds_max": round(float(np.max(seconds)), 5),
            "cpu_s_median": round(float(np.median([result.cpu_s for result in group])), 5),
            "cpu_s_max": round(float(np.max([result.cpu_s for result in group])), 5),
            "actions_mean": round(float(np.mean([result.actions for result in group])), 2),
            "expansions_median": float(np.median([result.expansions for result in group])),
            "valid": sum(result.valid for result in group),
            "proven_optimal": sum(result.proven for result in group),
            "noticed_exactly": sum(result.noticed for result in group),
            "plans": len(group),
        }
    return {"growth_exponent": growth(results), "cells": cells}


def measure(config: ScalingConfig) -> dict[str, Any]:
    """Plan on synthetic scenes of every size and write metrics, table and figure.

    Raises:
        InvalidConfiguration: a setting cannot be used.
    """
    if not config.objects or not config.errors or config.repeats < 1 or config.looks < 1:
        raise InvalidConfiguration(
            f"expected numbers of objects and errors, repeats and looks of at least 1, found objects={config.objects}, "
            f"errors={config.errors}, repeats={config.repeats}, looks={config.looks}"
        )
    system = system_of(config.checkpoint)
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    states = states_of(
        {"I": config.looks},
        config.footage,
        config.states,
        errors=config.errors_at,
        checkpoint=config.checkpoint,
        workers=config.workers,
    )
    bank = appearances_of(states)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        results = time_all(config, system, bank)
    finally:
        torch.set_num_threads(threads)
    metrics = summary(results) | {
        "batched": time_batch(system, _requests(config, system, bank), config.workers) if config.batch else {},
        "seed": config.seed,
        "repeats": config.repeats,
    }
    write_results(out, metrics, markdown(metrics), config)
    draw(results, out)
    return metrics


def _requests(config: ScalingConfig, system: System, bank: Sequence[Appearance]) -> list[Request]:
    """Error states of ordinary size: 5 to 10 objects, 1 to 5 errors."""
    rng = np.random.default_rng([config.seed, config.batch])
    sizes = rng.integers(5, 11, config.batch), rng.integers(1, 6, config.batch)
    chosen = [problem(system, bank, int(objects), int(errors), rng) for objects, errors in zip(*sizes, strict=True)]
    return [Request(given.graph, given.trace, given.discrepancy) for given in chosen]


def markdown(metrics: Mapping[str, Any]) -> str:
    """Table of the times for every number of objects and errors."""
    cells = {(cell["objects"], cell["errors"]): cell for cell in metrics["cells"].values()}
    objects, errors = (sorted({key[side] for key in cells}) for side in (0, 1))
    rows = []
    for size in objects:
        row = [cells.get((size, count)) for count in errors]
        times = [cell and f"{1000 * cell['seconds_median']:.0f} ({1000 * cell['seconds_max']:.0f})" for cell in row]
        rows.append([size, *(time or "" for time in times)])
    exponents, found = metrics["growth_exponent"], cells.values()
    return document(
        "Median time of a recovery in milliseconds (longest in brackets):",
        markdown_table(["objects", *(f"{count} error{'s' * (count > 1)}" for count in errors)], rows),
        f"Time grows as objects^{exponents['objects']} * errors^{exponents['errors']} (least squares on the logarithms "
        f"of the medians, R² {exponents['r_squared']}). Of {sum(cell['plans'] for cell in found)} plans "
        f"{sum(cell['valid'] for cell in found)} can be carried out as imagined and reach their subgoal, "
        f"{sum(cell['proven_optimal'] for cell in found)} are proven optimal.",
        as_text(metrics["batched"]) if metrics.get("batched") else "",
    )


def draw(results: Sequence[TimedRecovery], folder: Path) -> None:
    """Draw time by objects and by errors, as PNG and SVG files."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    medians = _medians(results)
    errors, objects = (sorted({key[side] for key in medians}) for side in (1, 0))
    shades = plt.get_cmap("viridis")
    for count in errors:
        known = [(size, medians[size, count]) for size in objects if (size, count) in medians]
        axes[0].plot(*zip(*known, strict=True), marker="o", label=f"{count} errors", color=shades(count / 10))
    for size in objects:
        known = [(count, medians[size, count]) for count in errors if (size, count) in medians]
        axes[1].plot(*zip(*known, strict=True), marker="o", label=f"{size} objects")
    axes[0].set(xscale="log", yscale="log", xticks=objects, xticklabels=[str(size) for size in objects])
    axes[1].set(xticks=errors)
    for axis, label, side in zip(axes, ("objects", "errors"), ("seconds, median", ""), strict=True):
        axis.minorticks_off()
        finish(axis, label, side)
    save(figure, folder, "scaling")


if __name__ == "__main__":
    run("scaling", ScalingConfig, measure, resumable=True)

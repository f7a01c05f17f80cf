"""Figures of `python -m eval.planning`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.figures import finish, plt, save
from eval.common.statistics import grouped, p95
from eval.planning.cases import PlanningCase

TIMES_S = np.geomspace(1e-3, 10.0, 60)
KEYS: Mapping[str, Callable[[PlanningCase], int]] = {
    "errors at a step": lambda case: case.errors,
    "objects": lambda case: case.objects,
}
"""Numbers that planning time is drawn against, by their name on the axis."""


def data(cases: Sequence[PlanningCase], names: Sequence[str]) -> dict[str, Any]:
    """Return what the figure shows, as plain data for metrics.json.

    Returns:
        `anytime`: planner -> points (seconds, actions over the optimum). `times`: number on the axis -> planner ->
        points (number, median seconds, 95th percentile); a number that is the same in all cases is left out.
    """
    chosen = [case for case in cases if case.detected and case.recoverable]
    return {
        "anytime": {name: _curve(name, chosen) for name in names},
        "times": {
            label: {name: _times(name, chosen, key) for name in names}
            for label, key in KEYS.items()
            if len({key(case) for case in chosen}) > 1
        },
    }


def draw(found: Mapping[str, Any], folder: Path, kinds: Sequence[str] = ("png", "svg")) -> None:
    """Draw cost over time, and time by errors and by objects, of every planner.

    Args:
        found: result of `data`.
        folder: output folder.
        kinds: endings of the files.
    """
    columns = 1 + len(found["times"])
    figure, axes = plt.subplots(1, columns, figsize=(0.5 + 4.5 * columns, 4.2), layout="constrained", squeeze=False)
    for name, points in found["anytime"].items():
        if points:
            axes[0][0].plot(*np.transpose(points), label=name)
    axes[0][0].set(title="anytime", xscale="log")
    finish(axes[0][0], "seconds", "actions over the optimum, mean")
    for axis, (label, planners) in zip(axes[0][1:], found["times"].items(), strict=True):
        for name, points in planners.items():
            values, medians, high = np.transpose(points)
            line = axis.plot(values, medians, marker="o", label=name)[0]
            axis.plot(values, high, color=line.get_color(), linestyle=":")
        axis.set(title="time", yscale="log", xticks=sorted({int(row[0]) for rows in planners.values() for row in rows}))
        finish(axis, label, "seconds, median and 95 %")
    save(figure, folder, "planning", kinds)


def _curve(name: str, cases: Sequence[PlanningCase]) -> list[tuple[float, float]]:
    """Mean cost above the optimum of the best plan so far, where at least half of the states have a plan."""
    known = [(case.best.cost, case.plans[name].improvements) for case in cases if case.best is not None]
    known = [(best, improvements) for best, improvements in known if improvements]
    if not known:
        return []
    rows = np.full((len(known), len(TIMES_S)), np.nan)
    for row, (best, improvements) in zip(rows, known, strict=True):
        for seconds, cost in improvements:
            row[seconds <= TIMES_S] = cost - best
    return [
        (round(float(seconds), 5), round(float(np.nanmean(column)), 3))
        for seconds, column in zip(TIMES_S, rows.T, strict=True)
        if np.isnan(column).mean() <= 0.5
    ]


def _times(name: str, cases: Sequence[PlanningCase], key: Callable[[PlanningCase], int]) -> list[list[float]]:
    seconds = {value: [case.plans[name].seconds for case in group] for value, group in grouped(cases, key).items()}
    return [[value, round(float(np.median(row)), 5), round(p95(row), 5)] for value, row in seconds.items()]

"""Figures of `python -m eval.planning`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from eval.common.figures import Axes, finish, plt, save
from eval.common.statistics import grouped, p95
from eval.planning.cases import PlanningCase

TIMES_S = np.geomspace(1e-3, 10.0, 60)
Key = Callable[[PlanningCase], int]


def draw(cases: Sequence[PlanningCase], names: Sequence[str], folder: Path) -> None:
    """Draw cost over time, and time by errors and by objects, of every planner, as PNG and SVG files.

    A panel of times is left out if all cases have the same number of errors or of objects.
    """
    chosen = [case for case in cases if case.detected and case.recoverable]
    keys: dict[str, Key] = {"errors at a step": lambda case: case.errors, "objects": lambda case: case.objects}
    shown = {label: key for label, key in keys.items() if len({key(case) for case in chosen}) > 1}
    columns = 1 + len(shown)
    figure, axes = plt.subplots(1, columns, figsize=(0.5 + 4.5 * columns, 4.2), layout="constrained", squeeze=False)
    for name in names:
        _curve(axes[0][0], name, chosen)
    axes[0][0].set(title="anytime", xscale="log")
    finish(axes[0][0], "seconds", "actions over the optimum, mean")
    for axis, (label, key) in zip(axes[0][1:], shown.items(), strict=True):
        for name in names:
            _times(axis, name, chosen, key)
        axis.set(title="time", yscale="log", xticks=sorted({key(case) for case in chosen}))
        finish(axis, label, "seconds, median and 95 %")
    save(figure, folder, "planning")


def _curve(axis: Axes, name: str, cases: Sequence[PlanningCase]) -> None:
    """Mean cost above the optimum of the best plan so far, where at least half of the states have a plan."""
    known = [(case.best.cost, case.plans[name].improvements) for case in cases if case.best is not None]
    known = [(best, improvements) for best, improvements in known if improvements]
    if not known:
        return
    rows = np.full((len(known), len(TIMES_S)), np.nan)
    for row, (best, improvements) in zip(rows, known, strict=True):
        for seconds, cost in improvements:
            row[seconds <= TIMES_S] = cost - best
    enough = np.isnan(rows).mean(axis=0) <= 0.5
    if enough.any():
        axis.plot(TIMES_S[enough], np.nanmean(rows[:, enough], axis=0), label=name)


def _times(axis: Axes, name: str, cases: Sequence[PlanningCase], key: Key) -> None:
    groups = {value: [case.plans[name].seconds for case in group] for value, group in grouped(cases, key).items()}
    if groups:
        line = axis.plot(list(groups), [np.median(seconds) for seconds in groups.values()], marker="o", label=name)[0]
        high = [p95(seconds) for seconds in groups.values()]
        axis.plot(list(groups), high, color=line.get_color(), linestyle=":")

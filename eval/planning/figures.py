"""The figures of `python -m eval.planning`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from eval.planning.cases import PlanningCase

TIMES_S = np.geomspace(1e-3, 10.0, 60)


def draw(cases: Sequence[PlanningCase], names: Sequence[str], folder: Path) -> None:
    """Cost against time, and time against errors and objects, of every planner, as PNG and SVG files."""
    chosen = [case for case in cases if case.detected and case.recoverable]
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    for name in names:
        _curve(axes[0], name, chosen)
        _times(axes[1], name, chosen, lambda case: case.errors)
        _times(axes[2], name, chosen, lambda case: case.objects)
    axes[0].set(title="anytime", xlabel="seconds", ylabel="actions over the optimum, mean", xscale="log")
    axes[1].set(title="time", xlabel="errors at a step", ylabel="seconds, median and 95 %", yscale="log")
    axes[2].set(title="time", xlabel="objects", ylabel="seconds, median and 95 %", yscale="log")
    for axis in axes:
        axis.grid(alpha=0.3)
        if axis.has_data():
            axis.legend(fontsize=8)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"planning.{kind}", dpi=120, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def _curve(axis: Axes, name: str, cases: Sequence[PlanningCase]) -> None:
    """Mean cost above the optimum of the best plan at each time, where every state has a plan by then."""
    known = [case for case in cases if case.best is not None and case.plans[name].improvements]
    if not known:
        return
    rows = np.full((len(known), len(TIMES_S)), np.nan)
    for row, case in zip(rows, known, strict=True):
        for seconds, cost in case.plans[name].improvements:
            row[seconds <= TIMES_S] = cost - (case.best.cost if case.best else 0.0)
    share = 1.0 - np.isnan(rows).mean(axis=0)
    enough = share >= 0.5
    if enough.any():
        axis.plot(TIMES_S[enough], np.nanmean(rows[:, enough], axis=0), label=name)


def _times(axis: Axes, name: str, cases: Sequence[PlanningCase], key: Callable[[PlanningCase], int]) -> None:
    groups: dict[int, list[float]] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case.plans[name].seconds)
    values = sorted(groups)
    if values:
        line = axis.plot(values, [np.median(groups[value]) for value in values], marker="o", label=name)[0]
        axis.plot(values, [np.quantile(groups[value], 0.95) for value in values], color=line.get_color(), linestyle=":")

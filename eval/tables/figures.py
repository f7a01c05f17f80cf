"""Figures 3 and 4 of Kalithasan et al. from our sweeps, and their Table VI as a picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.command import METRICS
from eval.common.figures import Axes, Figure, finish, plt, reliability_diagram, save
from eval.common.statistics import share
from eval.sweep import metrics
from eval.sweep.records import EpisodeRecord
from eval.tables import paper
from eval.tables.anytime import AnytimeVariant, variants
from eval.tables.document import Section
from eval.tables.load import ORDER, Sweep
from nsrecover.errors import InvalidConfiguration

Key = Callable[[EpisodeRecord], int]
Shares = Callable[[Sequence[EpisodeRecord]], Sequence[bool]]


def draw(sweeps: Sequence[Sweep], folder: Path) -> list[Section]:
    """Draw all figures for which there are sweeps, and return a section for each."""
    found = []
    first = [sweep for sweep in sweeps if sweep.dataset == "I"]
    if first:
        figure, axes = plt.subplots(1, 2, figsize=(11.5, 4), layout="constrained")
        shares(axes[0], first, lambda record: record.scheduled, metrics.recovered, "errors at a step", "recovered, %")
        times(axes[1], first, lambda record: record.scheduled, "errors at a step")
        _legend(figure)
        save(figure, folder, "figure3", ("png",))
        text = (
            "Dataset I: recovery with 95 % intervals, and mean planning time, against the number of errors at a step."
        )
        found.append(Section("Figure 3: more errors", text, picture="figure3.png"))
    steps = [sweep for sweep in sweeps if sweep.dataset == "II"]
    objects = [sweep for sweep in sweeps if sweep.dataset == "III"]
    if steps or objects:
        figure, axes = plt.subplots(2, 2, figsize=(11.5, 7.5), layout="constrained")
        shares(axes[0][0], steps, lambda record: record.length, completed, "steps of the plan (II)", "completed, %")
        times(axes[0][1], steps, lambda record: record.length, "steps of the plan (II)")
        shares(axes[1][0], objects, lambda record: record.objects, metrics.recovered, "objects (III)", "recovered, %")
        times(axes[1][1], objects, lambda record: record.objects, "objects (III)")
        _legend(figure)
        save(figure, folder, "figure4", ("png",))
        text = (
            "Dataset II: goals reached against the length of the plan. Dataset III: recovery against the number of "
            "objects. On the right the planning times of both."
        )
        found.append(Section("Figure 4: longer plans, more objects", text, picture="figure4.png"))
    compared = variants(sweeps)
    if compared:
        figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
        lengths(axis, compared)
        save(figure, folder, "anytime", ("png",))
        text = "Table VI as a picture: length of plans against planning time, ours and those of the paper."
        found.append(Section("Anytime: shorter plans for more time", text, picture="anytime.png"))
    return found


def draw_reliability(models: Path, folder: Path) -> Section:
    """Draw the reliability of the monitor's probabilities.

    Args:
        models: output folder of `python -m eval.models`.
        folder: output folder.

    Raises:
        InvalidConfiguration: there are no such results.
    """
    try:
        found = json.loads((models / METRICS).read_text(encoding="utf-8"))["variants"]
        bins = {name: variant["injected"]["reliability"] for name, variant in found.items()}
        error = {name: variant["injected"]["expected_calibration_error"] for name, variant in found.items()}
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidConfiguration(
            f"expected the results of `python -m eval.models` in {models}, found no {METRICS} of it; run it first"
        ) from None
    figure, axis = plt.subplots(figsize=(5, 4.5), layout="constrained")
    reliability_diagram(axis, bins)
    finish(axis, axis.get_xlabel(), axis.get_ylabel())
    save(figure, folder, "reliability", ("png",))
    text = "Predicted P(as expected) against the observed share, from `python -m eval.models`; expected error: "
    text += ", ".join(f"{name} {100 * value:.2f} points" for name, value in error.items()) + "."
    return Section("Reliability", text, picture="reliability.png")


def lengths(axis: Axes, compared: Sequence[AnytimeVariant]) -> None:
    """Draw plan length against planning time, a point for each planner."""
    ours = {found.name: (found.t_per_err_s, found.length) for found in compared}
    theirs = {name: (row.t_per_err_s, row.length) for name, row in paper.TABLE_VI.items()}
    for label, marker, points in (("nsrecover", "o", ours), (paper.CITATION, "s", theirs)):
        known = sorted((x, y, name) for name, (x, y) in points.items() if x is not None and y is not None)
        axis.plot([x for x, _, _ in known], [y for _, y, _ in known], marker, label=label)
        for x, y, name in known:
            left = any(other > x and abs(y - height) < 0.02 for other, height, _ in known)
            axis.annotate(
                name, (x, y), xytext=(-7 if left else 7, 0), textcoords="offset points", fontsize=8,
                ha="right" if left else "left", va="center",
            )  # fmt: skip
    axis.set_xscale("log")
    axis.margins(x=0.5)
    finish(axis, "planning time for each error, s", "plan length / plan length of `original`")


def completed(records: Sequence[EpisodeRecord]) -> list[bool]:
    """Whether each recoverable episode reached its goal."""
    return [record.completed for record in records if record.recoverable]


def shares(axis: Axes, sweeps: Sequence[Sweep], key: Key, counted: Shares, label: str, title: str) -> None:
    """Draw a line of shares with intervals for each planner."""
    for number, sweep in enumerate(sweeps):
        values, points = [], []
        for value in sorted({key(record) for record in sweep.records}):
            outcomes = counted([record for record in sweep.records if key(record) == value])
            if outcomes:
                values.append(value)
                points.append(share(sum(outcomes), len(outcomes)))
        if not values:
            continue
        middle = np.array([100 * point["value"] for point in points])
        low = middle - [100 * point["low"] for point in points]
        high = np.array([100 * point["high"] for point in points]) - middle
        spread = np.maximum(np.stack([low, high]), 0.0)
        places = np.array(values) + 0.05 * (number - len(sweeps) / 2)
        axis.errorbar(
            places, middle, yerr=spread, marker="o", capsize=2, label=sweep.planner, color=colour_of(sweep.planner)
        )
    _whole_numbers(axis, sweeps, key)
    _label(axis, label, title)


def times(axis: Axes, sweeps: Sequence[Sweep], key: Key, label: str) -> None:
    """Draw the mean planning time of a recovery for each planner."""
    for sweep in sweeps:
        groups: dict[int, list[float]] = {}
        for record in sweep.records:
            groups.setdefault(key(record), []).extend(recovery.seconds for recovery in metrics.to_recover([record]))
        values = sorted(value for value, seconds in groups.items() if seconds and sum(seconds) > 0)
        if values:
            means = [float(np.mean(groups[value])) for value in values]
            axis.plot(values, means, marker="o", label=sweep.planner, color=colour_of(sweep.planner))
            axis.set_yscale("log")
    _whole_numbers(axis, sweeps, key)
    _label(axis, label, "planning time of a recovery, s, mean")


def _whole_numbers(axis: Axes, sweeps: Sequence[Sweep], key: Key) -> None:
    """Put ticks at the values that occur, and nowhere else."""
    axis.set_xticks(sorted({key(record) for sweep in sweeps for record in sweep.records}))


def colour_of(planner: str) -> Any:
    """Return the colour of a planner, the same one in every panel."""
    known = [*ORDER, planner]
    return plt.get_cmap("tab20")(known.index(planner) % 20)


def _label(axis: Axes, xlabel: str, ylabel: str) -> None:
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.grid(alpha=0.3)


def _legend(figure: Figure) -> None:
    """Add one legend for all panels, outside of them."""
    entries = dict[str, Any]()
    for axis in figure.axes:
        handles, labels = axis.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    figure.legend(list(entries.values()), list(entries), loc="outside right center", fontsize=8)

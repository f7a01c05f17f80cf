"""Figures 3 and 4 of Kalithasan et al. from our sweeps: recovery, completion and time against what makes it hard.

And what their Table VI says, as a picture: how much longer plans are where fewer ways back are looked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from eval.common.command import METRICS
from eval.common.figures import Axes, finish, plt, reliability_diagram, save
from eval.common.statistics import share
from eval.sweep import metrics
from eval.sweep.records import EpisodeRecord
from eval.tables import paper
from eval.tables.anytime import AnytimeVariant, variants
from eval.tables.document import Section
from eval.tables.load import Sweep
from nsrecover.errors import InvalidConfiguration

Key = Callable[[EpisodeRecord], int]
Shares = Callable[[Sequence[EpisodeRecord]], Sequence[bool]]


def draw(sweeps: Sequence[Sweep], folder: Path) -> list[Section]:
    """Draw what there are sweeps for; a section for each figure."""
    found = []
    first = [sweep for sweep in sweeps if sweep.dataset == "I"]
    if first:
        figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        shares(axes[0], first, lambda record: record.scheduled, metrics.recovered, "errors at a step", "recovered, %")
        times(axes[1], first, lambda record: record.scheduled, "errors at a step")
        save(figure, folder, "figure3", ("png",))
        text = (
            "Dataset I: recovery with 95 % intervals, and mean planning time, against the number of errors at a step."
        )
        found.append(Section("Figure 3: more errors", text, picture="figure3.png"))
    steps = [sweep for sweep in sweeps if sweep.dataset == "II"]
    objects = [sweep for sweep in sweeps if sweep.dataset == "III"]
    if steps or objects:
        figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
        shares(axes[0][0], steps, lambda record: record.length, completed, "steps of the plan (II)", "completed, %")
        times(axes[0][1], steps, lambda record: record.length, "steps of the plan (II)")
        shares(axes[1][0], objects, lambda record: record.objects, metrics.recovered, "objects (III)", "recovered, %")
        times(axes[1][1], objects, lambda record: record.objects, "objects (III)")
        save(figure, folder, "figure4", ("png",))
        text = (
            "Dataset II: goals reached against the length of the plan. Dataset III: recovery against the number of "
            "objects. Planning time of both beside them."
        )
        found.append(Section("Figure 4: longer plans, more objects", text, picture="figure4.png"))
    compared = variants(sweeps)
    if compared:
        figure, axis = plt.subplots(figsize=(6, 4.5), layout="constrained")
        lengths(axis, compared)
        save(figure, folder, "anytime", ("png",))
        text = "What Table VI says: the length of plans against the time it takes to find them, and theirs beside ours."
        found.append(Section("Anytime: shorter plans for more time", text, picture="anytime.png"))
    return found


def draw_reliability(models: Path, folder: Path) -> Section:
    """How far the monitor's probabilities can be believed.

    Args:
        models: folder that `python -m eval.models` left.
        folder: where the figure goes.

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
    text = "P(as expected) of every object beside how often it was so, from `python -m eval.models`; expected error: "
    text += ", ".join(f"{name} {100 * value:.2f} points" for name, value in error.items()) + "."
    return Section("Reliability", text, picture="reliability.png")


def lengths(axis: Axes, compared: Sequence[AnytimeVariant]) -> None:
    """Length of the plans against planning time, a point for each planner."""
    ours = {found.name: (found.t_per_err_s, found.length) for found in compared}
    theirs = {name: (row.t_per_err_s, row.length) for name, row in paper.TABLE_VI.items()}
    for label, marker, points in (("nsrecover", "o", ours), (paper.CITATION, "s", theirs)):
        known = [(name, x, y) for name, (x, y) in points.items() if x is not None and y is not None]
        axis.plot([x for _, x, _ in known], [y for _, _, y in known], marker, label=label)
        for name, x, y in known:
            axis.annotate(name, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axis.set_xscale("log")
    axis.margins(x=0.25)
    finish(axis, "planning time for each error, s", "length of the plan, beside `original`")


def completed(records: Sequence[EpisodeRecord]) -> list[bool]:
    """Of every episode: whether it reached its goal."""
    return [record.completed for record in records if record.recoverable]


def shares(axis: Axes, sweeps: Sequence[Sweep], key: Key, counted: Shares, label: str, title: str) -> None:
    """A line of shares with intervals for each planner."""
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
        axis.errorbar(places, middle, yerr=spread, marker="o", capsize=2, label=sweep.planner)
    finish(axis, label, title)


def times(axis: Axes, sweeps: Sequence[Sweep], key: Key, label: str) -> None:
    """Mean planning time of a recovery for each planner, all recoveries that were asked for."""
    for sweep in sweeps:
        groups: dict[int, list[float]] = {}
        for record in sweep.records:
            groups.setdefault(key(record), []).extend(recovery.seconds for recovery in metrics.to_recover([record]))
        values = sorted(value for value, seconds in groups.items() if seconds and sum(seconds) > 0)
        if values:
            axis.plot(values, [float(np.mean(groups[value])) for value in values], marker="o", label=sweep.planner)
            axis.set_yscale("log")
    finish(axis, label, "planning time of a recovery, s, mean")

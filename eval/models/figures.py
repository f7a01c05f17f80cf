"""The figures of `python -m eval.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from eval.common import detection
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict


def draw(
    verdicts: Mapping[str, Sequence[StepVerdict]], imagined: Mapping[str, Sequence[ImaginationAccuracy]], folder: Path
) -> None:
    """Receiver operating characteristic, reliability and imagination of every variant, as PNG and SVG files."""
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
    bins = {}
    for name, said in verdicts.items():
        scores, good = detection.object_scores(said)
        _roc(axes[0], name, scores, good)
        bins[name] = detection.reliability(scores, good)[0]
        _imagination(axes[2], name, imagined[name])
    reliability(axes[1], bins)
    axes[0].set(title="culprits", xlabel="rate of false alarms, by object", ylabel="recall, by object", xscale="log")
    axes[0].set(xlim=(1e-4, 1), ylim=(0, 1.02))
    axes[1].set(title="confidence")
    axes[2].set(title="imagination", xlabel="steps imagined ahead", ylabel="box error, median, mm", ylim=(0, None))
    for axis in axes:
        axis.grid(alpha=0.3)
    axes[0].legend(loc="lower right", fontsize=8)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"models.{kind}", dpi=120, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def _roc(axis: Axes, name: str, scores: np.ndarray, good: np.ndarray) -> None:
    if 0 < good.sum() < len(good):
        rate, recall, area = detection.roc(scores, good)
        axis.step(np.maximum(rate, 1e-4), recall, where="post", label=f"{name} (area {area:.5f})")


def reliability(axis: Axes, bins: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """How often objects are as expected when the monitor says they are with a probability.

    Args:
        axis: to draw on; what is on the diagonal is right.
        bins: name of a variant -> what `eval.common.detection.reliability` says.
    """
    for name, rows in bins.items():
        sizes = [10 + 60 * np.log10(max(row["objects"], 1)) / 4 for row in rows]
        axis.scatter([row["probability"] for row in rows], [row["share"] for row in rows], s=sizes, label=name)
        axis.plot([row["probability"] for row in rows], [row["share"] for row in rows], linewidth=0.8)
    axis.axline((0, 0), slope=1, color="grey", linewidth=0.8)
    axis.set(xlabel="P(as expected), as the monitor says", ylabel="share as expected")


def _imagination(axis: Axes, name: str, imagined: Sequence[ImaginationAccuracy]) -> None:
    groups = detection.grouped(imagined, lambda item: item.steps)
    medians = [np.median([error for item in group for error in item.errors_mm]) for group in groups.values()]
    axis.plot(list(groups), medians, marker="o", label=name)

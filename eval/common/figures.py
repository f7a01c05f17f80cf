"""What the figures of all commands share: the backend, files and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["Axes", "Figure", "finish", "plt", "reliability_diagram", "save"]


def save(figure: Figure, folder: Path, name: str, kinds: Sequence[str] = ("png", "svg"), dpi: int = 120) -> None:
    """Write a figure to `folder/name.KIND` for every kind, and close it."""
    for kind in kinds:
        figure.savefig(folder / f"{name}.{kind}", dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def finish(axis: Axes, xlabel: str, ylabel: str) -> None:
    """Add labels, a grid, and a legend if there is anything to name."""
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8)


def reliability_diagram(axis: Axes, bins: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Draw observed shares against predicted probabilities; a perfect monitor is on the diagonal.

    The larger a point, the more objects it stands for.

    Args:
        axis: to draw on.
        bins: name of a variant -> rows with probability, share and number of objects of each bin.
    """
    for (name, rows), shape in zip(bins.items(), cycle("osD^v")):
        sizes = [20 + 60 * np.log10(max(row["objects"], 1)) / 4 for row in rows]
        found = [row["probability"] for row in rows], [row["share"] for row in rows]
        axis.scatter(*found, s=sizes, marker=shape, alpha=0.6, label=name)
    axis.axline((0, 0), slope=1, color="grey", linewidth=0.8)
    axis.set(xlabel="P(as expected), predicted", ylabel="share as expected")

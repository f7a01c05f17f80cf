"""Figure of `python -m eval.detectors`: detection rate against false alarm rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.common.figures import Axes, plt, save
from eval.common.statistics import Scores, roc_of
from eval.detectors.equal_rate import Evidence

LINES = ("-", "--", ":")
"""Line styles of every ten detectors; the second ten have lighter colours."""
LOWEST = 5e-4
"""Left end of the axis of false alarm rates."""


def draw(found: Mapping[str, Evidence], folder: Path, kinds: Sequence[str] = ("png", "svg")) -> None:
    """Draw receiver operating characteristics after and before actions.

    Args:
        found: detector -> its scores; the first one is drawn in black, every other one in its own colour.
        folder: output folder.
        kinds: endings of the files.
    """
    palette = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]
    colours = (*palette[::2], *palette[1::2])
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", sharey=True)
    for number, (name, said) in enumerate(found.items()):
        style: dict[str, Any] = {"color": "black", "linewidth": 2.5}
        if number:
            turn = (number - 1) // (len(colours) // 2)
            style = {"color": colours[(number - 1) % len(colours)], "linestyle": LINES[turn % len(LINES)]}
        _curve(axes[0], style | {"label": name}, said.good, said.bad)
        _curve(axes[1], style, said.good_before, said.failing_before)
    axes[0].set(title="after the action: errors detected", xlabel="false alarm rate after good steps", ylabel="share")
    axes[1].set(title="before the action: failures announced", xlabel="false alarm rate before actions in good scenes")
    for axis in axes:
        axis.set(xscale="log", xlim=(LOWEST, 1), ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    figure.legend(loc="outside right center", fontsize=8)
    save(figure, folder, "detectors", kinds)


def _curve(axis: Axes, style: Mapping[str, Any], good: Scores, bad: Scores) -> None:
    if len(good) and len(bad):
        rate, caught, _ = roc_of(good, bad)
        axis.step(np.maximum(rate, LOWEST), caught, where="post", **style)

"""The figure of `python -m eval.detectors`: detection against false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from eval import detection
from eval.detectors.equal_rate import Evidence, Values


def draw(found: Mapping[str, Evidence], folder: Path) -> None:
    """Receiver operating characteristics after actions and before them, as PNG and SVG files."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained", sharey=True)
    for name, said in found.items():
        _curve(axes[0], name, said.good, said.bad)
        _curve(axes[1], name, said.good_before, said.failing_before)
    axes[0].set(title="after the action: errors detected", xlabel="false alarms after good steps", ylabel="share")
    axes[1].set(title="before the action: failures announced", xlabel="false alarms before actions in good scenes")
    for axis in axes:
        axis.set(xscale="log", xlim=(5e-4, 1), ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0].legend(loc="lower right", fontsize=8)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"detectors.{kind}", dpi=120, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def _curve(axis: Axes, name: str, good: Values, bad: Values) -> None:
    if len(good) and len(bad):
        flags = np.repeat([True, False], [len(good), len(bad)])
        rate, caught, _ = detection.roc(np.concatenate([good, bad]), flags)
        axis.step(np.maximum(rate, 5e-4), caught, where="post", label=name)

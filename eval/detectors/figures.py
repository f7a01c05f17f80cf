"""The figure of `python -m eval.detectors`: detection against false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from eval.common import detection
from eval.detectors.equal_rate import Evidence, Values


def draw(found: Mapping[str, Evidence], folder: Path) -> None:
    """Receiver operating characteristics after actions and before them, as PNG and SVG files."""
    figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", sharey=True)
    for number, (name, said) in enumerate(found.items()):
        look = {"color": "black", "linewidth": 2.5} if number == 0 else {"color": f"C{number - 1}"}
        _curve(axes[0], look | {"label": name}, said.good, said.bad)
        _curve(axes[1], look, said.good_before, said.failing_before)
    axes[0].set(title="after the action: errors detected", xlabel="false alarms after good steps", ylabel="share")
    axes[1].set(title="before the action: failures announced", xlabel="false alarms before actions in good scenes")
    for axis in axes:
        axis.set(xscale="log", xlim=(5e-4, 1), ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    figure.legend(loc="outside right center", fontsize=8)
    for kind in ("png", "svg"):
        figure.savefig(folder / f"detectors.{kind}", dpi=120, metadata={"Date": None} if kind == "svg" else None)
    plt.close(figure)


def _curve(axis: Axes, look: Mapping[str, Any], good: Values, bad: Values) -> None:
    if len(good) and len(bad):
        flags = np.repeat([True, False], [len(good), len(bad)])
        rate, caught, _ = detection.roc(np.concatenate([good, bad]), flags)
        axis.step(np.maximum(rate, 5e-4), caught, where="post", **look)

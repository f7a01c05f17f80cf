"""Figures of `python -m eval.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.common.figures import finish, plt, reliability_diagram, save


def draw(variants: Mapping[str, Any], folder: Path, kinds: Sequence[str] = ("png", "svg")) -> None:
    """Draw reliability of the confidence and accuracy of the imagination of every variant.

    Args:
        variants: the variants in metrics.json.
        folder: output folder.
        kinds: endings of the files.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    reliability_diagram(left, {name: found["injected"]["reliability"] for name, found in variants.items()})
    left.set(title="confidence")
    finish(left, "P(as expected), predicted", "share as expected")
    for name, found in variants.items():
        area = found["injected"]["area_under_roc"]
        label = name if area is None else f"{name} (area under ROC {area:.5f})"
        rows = found["imagination"]
        right.plot([int(steps) for steps in rows], [row["median_mm"] for row in rows.values()], "o-", label=label)
    right.set(title="imagination")
    finish(right, "steps imagined ahead", "box error, median, mm")
    right.set_ylim(0, None)
    right.set_xticks(sorted({int(steps) for found in variants.values() for steps in found["imagination"]}))
    save(figure, folder, "models", kinds)

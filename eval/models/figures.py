"""Figures of `python -m eval.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from eval.common.figures import finish, plt, reliability_diagram, save
from eval.common.statistics import grouped, reliability, roc
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from eval.models import detection


def draw(
    verdicts: Mapping[str, Sequence[StepVerdict]],
    accuracies: Mapping[str, Sequence[ImaginationAccuracy]],
    folder: Path,
) -> None:
    """Draw reliability of the confidence and accuracy of the imagination of every variant, as PNG and SVG files."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    reliability_diagram(left, {name: reliability(*detection.object_scores(said))[0] for name, said in verdicts.items()})
    left.set(title="confidence")
    finish(left, "P(as expected), predicted", "share as expected")
    for name, found in accuracies.items():
        scores, good = detection.object_scores(verdicts[name])
        area = f" (area under ROC {roc(scores, good)[2]:.5f})" if 0 < good.sum() < len(good) else ""
        groups = grouped(found, lambda item: item.steps)
        medians = [np.median([error for item in group for error in item.errors_mm]) for group in groups.values()]
        right.plot(list(groups), medians, marker="o", label=name + area)
    right.set(title="imagination")
    finish(right, "steps imagined ahead", "box error, median, mm")
    right.set_ylim(0, None)
    save(figure, folder, "models")

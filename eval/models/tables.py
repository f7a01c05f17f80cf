"""Metrics and tables of `python -m eval.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import grouped
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from eval.common.tables import document, markdown_table, percent_of, seen_through
from eval.models import detection
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.bundle import Bundle

ALPHAS = (0.001, 0.01, 0.05)
"""False alarm rates that are promised and measured."""

INJECTED = ("I", "II", "III")
"""Datasets with injected errors: those of the paper."""


def summary(
    verdicts: Sequence[StepVerdict], accuracies: Sequence[ImaginationAccuracy], bundle: Bundle
) -> dict[str, Any]:
    """Metrics of one variant.

    Args:
        verdicts: on every step.
        accuracies: of the imagination of every plan.
        bundle: of the variant; its calibration gives the thresholds of the promised rates.
    """
    datasets = grouped(verdicts, lambda verdict: verdict.dataset)
    injected = [verdict for verdict in verdicts if verdict.dataset in INJECTED] or list(verdicts)
    thresholds = _thresholds(bundle)
    return {
        "threshold": bundle.threshold,
        "injected": _metrics(injected, thresholds),
        "datasets": {name: _metrics(group, thresholds) for name, group in datasets.items()},
        "imagination": _imagination(accuracies),
    }


def _metrics(verdicts: Sequence[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Any]:
    return {
        "steps": detection.by_step(verdicts).rates(),
        "culprits_exact": detection.exact(verdicts),
        "association": detection.association(verdicts),
        "association_after_errors": detection.association([verdict for verdict in verdicts if verdict.wrong]),
        "false_alarms": detection.false_alarms(verdicts, thresholds),
    }


def _thresholds(bundle: Bundle) -> dict[float, float]:
    """Thresholds of the rates that a checkpoint can promise."""
    found = {}
    for alpha in ALPHAS:
        try:
            found[alpha] = bundle.threshold_for(alpha)
        except InvalidCheckpoint:
            continue
    return found


def _imagination(accuracies: Sequence[ImaginationAccuracy]) -> dict[str, Any]:
    rows = {}
    for steps, group in grouped(accuracies, lambda item: item.steps).items():
        errors = [error for item in group for error in item.errors_mm]
        cosines = [cosine for item in group for cosine in item.cosines]
        rows[str(steps)] = {
            "median_mm": round(float(np.median(errors)), 2),
            "p95_mm": round(float(np.quantile(errors, 0.95)), 2),
            "objects": len(errors),
            "visual_cosine_median": round(float(np.median(cosines)), 4),
        }
    return rows


def markdown(variants: Mapping[str, Mapping[str, Any]], sensor: str = "clean") -> str:
    """Table of all variants, and promised rates and imagination of the first one.

    Args:
        variants: name -> summary.
        sensor: name of the sensor that the episodes were seen through.
    """
    every = []
    for name, details in variants.items():
        for dataset, found in details["datasets"].items():
            rates = found["steps"]
            shares = (*(rates[key] for key in ("accuracy", "precision", "recall")), found["culprits_exact"])
            cells = map(percent_of, (*shares, found["association_after_errors"]))
            every.append([name, dataset, rates["accuracy"]["of"], *cells])
    name, details = next(iter(variants.items()))
    return document(
        seen_through([sensor]),
        markdown_table(
            (
                "variant", "dataset", "steps", "accuracy", "precision", "recall", "culprits exact",
                "objects matched after errors",
            ),
            every,
        ),
        f"Of “{name}” on the datasets with injected errors (95 % intervals in brackets):",
        markdown_table(
            ("promised false alarms per step", "measured", "steps"),
            [
                [f"{100 * float(alpha):g} %", percent_of(rate), rate["of"]]
                for alpha, rate in details["injected"]["false_alarms"].items()
            ],
        ),
        markdown_table(
            ("steps imagined", "box error, median", "95th percentile", "objects", "visual cosine, median"),
            [
                [steps, f"{row['median_mm']} mm", f"{row['p95_mm']} mm", row["objects"], row["visual_cosine_median"]]
                for steps, row in details["imagination"].items()
            ],
        ),
    )  # fmt: skip

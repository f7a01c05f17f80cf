"""Metrics and tables of `python -m eval.models`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import grouped, reliability, roc
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
        "by_objects": {
            str(count): {"steps": detection.by_step(group).rates(), "culprits_exact": detection.exact(group)}
            for count, group in grouped(injected, lambda verdict: verdict.objects).items()
        },
        "imagination": _imagination(accuracies),
    }


def _metrics(verdicts: Sequence[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Any]:
    scores, good = detection.object_scores(verdicts)
    bins, error = reliability(scores, good)
    return {
        "steps": detection.by_step(verdicts).rates(),
        "objects": detection.by_object(verdicts).rates(),
        "culprits_exact": detection.exact(verdicts),
        "association": detection.association(verdicts),
        "association_after_errors": detection.association([verdict for verdict in verdicts if verdict.wrong]),
        "recall_by_cause": detection.recall_by_cause(verdicts),
        "false_alarms": detection.false_alarms(verdicts, thresholds),
        "area_under_roc": round(roc(scores, good)[2], 6) if 0 < good.sum() < len(good) else None,
        "reliability": bins,
        "expected_calibration_error": error,
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


def headline(details: Mapping[str, Any], timed: Mapping[str, Any]) -> dict[str, Any]:
    """Short metrics at the top of metrics.json, of one variant on the datasets with injected errors.

    Args:
        details: of the variant.
        timed: time of a monitor step by number of objects, see `eval.checks.timing`; the headline: 10 objects.
    """
    found = details["injected"]
    return {
        "detection": {key: found["steps"][key]["value"] for key in ("accuracy", "precision", "recall")},
        "culprits_exact": found["culprits_exact"]["value"],
        "association": found["association_after_errors"]["value"],
        "box_error_mm": {
            steps: row["median_mm"] for steps, row in details["imagination"].items() if steps in ("1", "5", "8")
        },
        "monitor_step_ms": timed["objects"].get("10", {}).get("median_ms"),
        "false_alarms": {alpha: rate["value"] for alpha, rate in found["false_alarms"].items()},
    }


def markdown(variants: Mapping[str, Mapping[str, Any]], timed: Mapping[str, Any], sensor: str = "clean") -> str:
    """Table of all variants, details of the first one, and the time of a monitor step.

    Args:
        variants: name -> summary.
        timed: time of a monitor step.
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
    found = details["injected"]
    objects = found["objects"]
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
                for alpha, rate in found["false_alarms"].items()
            ],
        ),
        markdown_table(
            ("steps imagined", "box error, median", "95th percentile", "objects", "visual cosine, median"),
            [
                [steps, f"{row['median_mm']} mm", f"{row['p95_mm']} mm", row["objects"], row["visual_cosine_median"]]
                for steps, row in details["imagination"].items()
            ],
        ),
        markdown_table(
            ("what put an object out of place", "blamed", "objects"),
            [[cause, percent_of(rate), rate["of"]] for cause, rate in found["recall_by_cause"].items()],
        ),
        markdown_table(
            ("objects", "accuracy by step", "culprits exact", "steps"),
            [
                [
                    count,
                    percent_of(row["steps"]["accuracy"]),
                    percent_of(row["culprits_exact"]),
                    row["steps"]["accuracy"]["of"],
                ]
                for count, row in details["by_objects"].items()
            ],
        ),
        f"By object: accuracy {percent_of(objects['accuracy'])}, precision {percent_of(objects['precision'])}, recall "
        f"{percent_of(objects['recall'])}; area under the receiver operating characteristic "
        f"{found['area_under_roc']}; expected calibration error of the confidence "
        f"{found['expected_calibration_error']}.",
        f"A monitor step, from the images of two cameras to the verdict, on {timed['threads']} threads:",
        markdown_table(
            ("objects", "median", "95th percentile", "of it perceiving"),
            [
                [count, *(f"{row[key]} ms" for key in ("median_ms", "p95_ms", "perceive_ms"))]
                for count, row in timed["objects"].items()
            ],
        ),
    )  # fmt: skip

"""The numbers of `python -m eval.models` from verdicts, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common import detection
from eval.common.step_verdicts import ImaginationAccuracy, StepVerdict
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.bundle import Bundle

ALPHAS = (0.001, 0.01, 0.05)
"""Rates of false alarms that are asked for."""

INJECTED = ("I", "II", "III")
"""Datasets whose errors are injected: those of the paper."""


def summary(verdicts: Sequence[StepVerdict], imagined: Sequence[ImaginationAccuracy], bundle: Bundle) -> dict[str, Any]:
    """Everything that is measured of one variant.

    Args:
        verdicts: on every step.
        imagined: of every plan.
        bundle: of the variant; its calibration gives the thresholds of the promised rates.
    """
    datasets = detection.grouped(verdicts, lambda verdict: verdict.dataset)
    injected = [verdict for verdict in verdicts if verdict.dataset in INJECTED] or list(verdicts)
    thresholds = _thresholds(bundle)
    return {
        "threshold": bundle.threshold,
        "injected": _figures(injected, thresholds),
        "datasets": {name: _figures(group, thresholds) for name, group in datasets.items()},
        "by_objects": {
            str(count): {"steps": detection.by_step(group).rates(), "culprits_exact": detection.exact(group)}
            for count, group in detection.grouped(injected, lambda verdict: verdict.objects).items()
        },
        "imagination": _imagination(imagined),
    }


def _figures(verdicts: Sequence[StepVerdict], thresholds: Mapping[float, float]) -> dict[str, Any]:
    scores, good = detection.object_scores(verdicts)
    bins, error = detection.reliability(scores, good)
    return {
        "steps": detection.by_step(verdicts).rates(),
        "objects": detection.by_object(verdicts).rates(),
        "culprits_exact": detection.exact(verdicts),
        "association": detection.association(verdicts),
        "association_after_errors": detection.association([verdict for verdict in verdicts if verdict.wrong]),
        "recall_by_cause": detection.recall_by_cause(verdicts),
        "false_alarms": detection.false_alarms(verdicts, thresholds),
        "area_under_roc": round(detection.roc(scores, good)[2], 6) if 0 < good.sum() < len(good) else None,
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


def _imagination(imagined: Sequence[ImaginationAccuracy]) -> dict[str, Any]:
    rows = {}
    for steps, group in detection.grouped(imagined, lambda item: item.steps).items():
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
    """The short figures at the top of metrics.json, of one variant on the datasets with injected errors.

    Args:
        details: of the variant.
        timed: time of a monitor step by number of objects, see `eval.timing`; that for 10 objects is the headline.
    """
    figures = details["injected"]
    return {
        "detection": {key: figures["steps"][key]["value"] for key in ("accuracy", "precision", "recall")},
        "culprits_exact": figures["culprits_exact"]["value"],
        "association": figures["association_after_errors"]["value"],
        "box_error_mm": {
            steps: row["median_mm"] for steps, row in details["imagination"].items() if steps in ("1", "5", "8")
        },
        "monitor_step_ms": timed["objects"].get("10", {}).get("median_ms"),
        "false_alarms": {alpha: rate["value"] for alpha, rate in figures["false_alarms"].items()},
    }


def markdown(variants: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of all variants, and the details of the first one."""
    lines = [
        "| variant | dataset | steps | accuracy | precision | recall | culprits exact | objects matched after errors |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, details in variants.items():
        for dataset, figures in details["datasets"].items():
            rates = figures["steps"]
            lines.append(
                f"| {name} | {dataset} | {rates['accuracy']['of']} | {percent(rates['accuracy'])} | "
                f"{percent(rates['precision'])} | {percent(rates['recall'])} | {percent(figures['culprits_exact'])} | "
                f"{percent(figures['association_after_errors'])} |"
            )
    name, details = next(iter(variants.items()))
    figures = details["injected"]
    lines += [
        "",
        f"Of “{name}” on the datasets with injected errors (95 % intervals in brackets):",
        "",
        "| promised false alarms per step | measured | steps |",
        "| ---: | ---: | ---: |",
        *(
            f"| {100 * float(alpha):g} % | {percent(rate)} | {rate['of']} |"
            for alpha, rate in figures["false_alarms"].items()
        ),
        "",
        "| steps imagined | box error, median | 95th percentile | objects | visual cosine, median |",
        "| ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {steps} | {row['median_mm']} mm | {row['p95_mm']} mm | {row['objects']} | "
            f"{row['visual_cosine_median']} |"
            for steps, row in details["imagination"].items()
        ),
        "",
        "| what put an object out of place | blamed | objects |",
        "| --- | ---: | ---: |",
        *(f"| {cause} | {percent(rate)} | {rate['of']} |" for cause, rate in figures["recall_by_cause"].items()),
        "",
        "| objects | accuracy by step | culprits exact | steps |",
        "| ---: | ---: | ---: | ---: |",
        *(
            f"| {count} | {percent(row['steps']['accuracy'])} | {percent(row['culprits_exact'])} | "
            f"{row['steps']['accuracy']['of']} |"
            for count, row in details["by_objects"].items()
        ),
        "",
        f"By object: accuracy {percent(figures['objects']['accuracy'])}, precision "
        f"{percent(figures['objects']['precision'])}, recall {percent(figures['objects']['recall'])}; area under the "
        f"receiver operating characteristic {figures['area_under_roc']}; expected calibration error of the confidence "
        f"{figures['expected_calibration_error']}.",
        "",
    ]
    return "\n".join(lines)


def timing(timed: Mapping[str, Any]) -> str:
    """The table of `eval.timing`."""
    lines = [
        "",
        f"A monitor step, from the images of two cameras to the verdict, on {timed['threads']} threads:",
        "",
        "| objects | median | 95th percentile | of it perceiving |",
        "| ---: | ---: | ---: | ---: |",
        *(
            f"| {count} | {row['median_ms']} ms | {row['p95_ms']} ms | {row['perceive_ms']} ms |"
            for count, row in timed["objects"].items()
        ),
        "",
    ]
    return "\n".join(lines)


def percent(rate: Mapping[str, Any]) -> str:
    """A share for a table: in percent with its interval."""
    if rate["value"] is None:
        return "none"
    return f"{100 * rate['value']:.2f} % [{100 * rate['low']:.2f}, {100 * rate['high']:.2f}]"

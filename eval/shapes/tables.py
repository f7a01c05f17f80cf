"""Metrics and the tables of `python -m eval.shapes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import grouped, p95, share_of, spread
from eval.common.tables import document, markdown_table, number, percent_of
from eval.sensing.judge import SensedStep
from eval.shapes.grasps import GraspOutcome, GraspTry
from nsrecover.core.discrepancy import Verdict

EVERY = "all"
"""Key of all families together."""
TRAINED = "boxes"
"""The family whose shapes the shipped checkpoint was trained with, at other yaws."""
UNSEEN = "all but boxes"
"""Key of the families whose shapes were never seen in training."""


def summary(steps: Sequence[SensedStep]) -> dict[str, Any]:
    """Metrics of the steps of one condition: of every family, of those never seen in training, and of all."""
    families = grouped(steps, _family)
    found = {name: _metrics(group) for name, group in families.items()}
    unseen = [step for step in steps if step.dataset != TRAINED]
    return found | {UNSEEN: _metrics(unseen), EVERY: _metrics(steps)}


def _family(step: SensedStep) -> str:
    return step.dataset


def _metrics(every: Sequence[SensedStep]) -> dict[str, Any]:
    steps = [step for step in every if step.step >= 0]
    good = [step for step in steps if not step.wrong]
    bad = [step for step in steps if step.wrong]
    detected = [step for step in bad if step.blamed]
    errors = [error for step in steps for error in step.errors_mm]
    return {
        "accuracy": share_of(_right(step) for step in steps),
        "false_alarms": share_of(bool(step.blamed) for step in good),
        "recall": share_of(bool(step.blamed) for step in bad),
        "culprits_exact": share_of(set(step.blamed) == set(step.wrong) for step in detected),
        "cannot_tell": share_of(step.verdict == Verdict.CANNOT_TELL for step in good),
        "rule": {
            "accuracy": share_of(bool(step.off_place) == bool(step.wrong) for step in steps),
            "false_alarms": share_of(bool(step.off_place) for step in good),
            "recall": share_of(bool(step.off_place) for step in bad),
            "culprits_exact": share_of(set(step.off_place) == set(step.wrong) for step in bad if step.off_place),
        },
        "box_error_mm": spread(errors, 2, median=np.median, p95=p95),
        "episodes_not_begun": len(every) - len(steps),
    }


def _right(step: SensedStep) -> bool:
    """Whether an alarm was raised for an error, or a good step found as expected."""
    return bool(step.blamed) if step.wrong else step.verdict == Verdict.AS_EXPECTED


def grasp_summary(tries: Sequence[GraspTry]) -> dict[str, Any]:
    """Metrics of all tries, by family."""
    return {
        name: {
            "placed": share_of(each.outcome == GraspOutcome.PLACED for each in group),
            "outcomes": {str(kind): sum(each.outcome == kind for each in group) for kind in GraspOutcome},
            "off_mm": spread([e.off_mm for e in group if e.outcome == GraspOutcome.PLACED], 1, median=np.median),
            "reasons": dict(Counter(each.note for each in group if each.outcome != GraspOutcome.PLACED and each.note)),
        }
        for name, group in grouped(tries, lambda each: each.family).items()
    }


def markdown(conditions: Mapping[str, Mapping[str, Any]], grasps: Mapping[str, Any]) -> str:
    """The tables of the monitor and of the arm."""
    rows = [
        [
            sensor,
            family.replace("_", " "),
            percent_of(found["accuracy"], 1),
            percent_of(found["rule"]["accuracy"], 1),
            percent_of(found["false_alarms"], 1),
            percent_of(found["rule"]["false_alarms"], 1),
            percent_of(found["recall"], 1),
            percent_of(found["rule"]["recall"], 1),
            percent_of(found["culprits_exact"], 1),
            percent_of(found["cannot_tell"], 1),
            f"{number(found['box_error_mm']['median'], 1)} / {number(found['box_error_mm']['p95'], 1)}",
            f"{found['false_alarms']['of']} / {found['recall']['of']}",
        ]
        for sensor, families in conditions.items()
        for family, found in families.items()
    ]
    header = [
        "sensor",
        "family",
        "accuracy",
        "of the 2 cm rule",
        "false alarms",
        "of the 2 cm rule",
        "recall",
        "of the 2 cm rule",
        "culprits exact",
        "cannot tell, good steps",
        "box error median / p95, mm",
        "good / error steps",
    ]
    parts = [markdown_table(header, rows)]
    if grasps:
        parts.append(_grasp_table(grasps))
    return document("Other shapes, at any yaw", "\n\n".join(parts))


def _grasp_table(grasps: Mapping[str, Any]) -> str:
    rows = [
        [
            family.replace("_", " "),
            percent_of(found["placed"], 1),
            number(found["off_mm"]["median"], 1),
            str(found["outcomes"][GraspOutcome.NOT_TAKEN]),
            str(found["outcomes"][GraspOutcome.ELSEWHERE]),
            str(found["placed"]["of"]),
        ]
        for family, found in grasps.items()
    ]
    return markdown_table(["family", "placed within 2 cm", "median error, mm", "not taken", "elsewhere", "tries"], rows)

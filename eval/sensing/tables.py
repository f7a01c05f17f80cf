"""Metrics and the table of `python -m eval.sensing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import grouped, p95, share, share_of, spread
from eval.common.tables import document, markdown_table, number, percent_of
from eval.sensing.judge import REFUSED, SensedStep
from nsrecover.core.discrepancy import Verdict


def summary(steps: Sequence[SensedStep]) -> dict[str, Any]:
    """Metrics of the steps of one condition, together and by dataset."""
    return _metrics(steps) | {"datasets": {name: _metrics(group) for name, group in grouped(steps, _dataset).items()}}


def _dataset(step: SensedStep) -> str:
    return step.dataset


def _metrics(every: Sequence[SensedStep]) -> dict[str, Any]:
    steps = [step for step in every if step.step >= 0]
    good = [step for step in steps if not step.wrong]
    bad = [step for step in steps if step.wrong]
    detected = [step for step in bad if step.blamed]
    told = [step for step in good if step.during_event]
    quiet = [step for step in steps if not step.during_event]
    errors = [error for step in quiet for error in step.errors_mm]
    return {
        "false_alarms": share_of(bool(step.blamed) for step in good),
        "recall": share_of(bool(step.blamed) for step in bad),
        "accuracy": share_of(bool(step.blamed) == bool(step.wrong) for step in steps),
        "culprits_exact": share_of(set(step.blamed) == set(step.wrong) for step in detected),
        "cannot_tell": share_of(step.verdict == Verdict.CANNOT_TELL for step in good if not step.during_event),
        "looks": spread([step.looks for step in steps if step.verdict != REFUSED], 2, mean=np.mean),
        "sensor_named": share_of(bool(step.note) or step.verdict not in ("as_expected", "deviating") for step in told),
        "association": share(sum(step.matched for step in quiet), sum(step.shown for step in quiet)),
        "box_error_mm": spread(errors, 2, median=np.median, p95=p95),
        "refused": share_of(step.verdict == REFUSED for step in steps),
        "episodes_not_begun": len(every) - len(steps),
        "step_ms": spread([1000 * step.seconds for step in steps if step.seconds], 1, median=np.median, p95=p95),
    }


def markdown(conditions: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of all conditions."""
    rows = [
        [
            name,
            percent_of(found["false_alarms"], 1),
            percent_of(found["recall"], 1),
            percent_of(found["culprits_exact"], 1),
            f"{number(found['box_error_mm']['median'], 1)} / {number(found['box_error_mm']['p95'], 1)}",
            percent_of(found["association"], 1),
            percent_of(found["cannot_tell"], 1),
            number(found["looks"]["mean"], 2),
            percent_of(found["sensor_named"], 1),
            percent_of(found["refused"], 1),
        ]
        for name, found in conditions.items()
    ]
    header = [
        "condition",
        "false alarms per step",
        "recall",
        "culprits exact",
        "box error median / p95, mm",
        "masks matched",
        "cannot tell, good steps",
        "observations per step",
        "sensor named during events",
        "observations refused",
    ]
    return document("The monitor behind realistic sensors", markdown_table(header, rows))

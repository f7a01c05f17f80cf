"""An explanation of a log as plain data, for programs."""

from __future__ import annotations

from typing import Any

from nsrecover.explanation.audience import Audience
from nsrecover.explanation.logs.explaining import LogExplanation
from nsrecover.explanation.logs.records import HouseholdLog
from nsrecover.explanation.logs.telling import agrees, tell


def report_of(log: HouseholdLog, explanation: LogExplanation, audience: Audience = Audience.LAY) -> dict[str, Any]:
    """What `nsrecover explain LOG --json` prints.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.

    Returns:
        `kind` (execution, planning or none), `steps` (times, the most telling first), `root_cause` and `objects`,
        `text`, `correction` (typed actions; null if no way was found), `verified` (the text read back says what was
        found, and the correction, carried out symbolically, brings the success condition about), and besides
        `missing_steps`, `failed_subgoal` (the first that does not hold; null if all do) and `subgoals`.
    """
    finding, text = explanation.finding, tell(explanation, audience)
    times = [frame.time for frame in (*log.events, *log.subgoals)]
    subgoals = [
        {"time": item.time, "step": str(item.step), "satisfied": item.satisfied, "why": item.why}
        for item in explanation.subgoals
    ]
    return {
        "kind": finding.kind.value,
        "steps": list(finding.times),
        "root_cause": finding.cause.value,
        "objects": list(finding.objects),
        "text": text,
        "correction": None if explanation.correction is None else [str(step) for step in explanation.correction],
        "verified": explanation.verified and agrees(text, explanation, times),
        "missing_steps": [str(step) for step in finding.missing],
        "failed_subgoal": None if explanation.failed is None else subgoals[explanation.failed],
        "subgoals": subgoals,
    }

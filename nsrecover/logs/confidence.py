"""How sure a diagnosis is: logistic regression on what the search for it left open, fitted on generated logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from nsrecover.logs.diagnosis import PLAN_CAUSES, Diagnosis
from nsrecover.logs.findings import RootCause
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.run import LogRun
from nsrecover.util.untrusted_json import read_json

FITTED = Path(__file__).with_name("confidence.json")
"""Weights of `features`, written by `python -m eval.logs fit=true`."""
SURE_ENOUGH = 0.5
"""Below this confidence a diagnosis is a guess, and is called one."""
_STRANGE = 0.8
_MOSTLY = 0.75


def features(run: LogRun, diagnosis: Diagnosis) -> tuple[float, ...]:
    """What confidence depends on; the first is constant.

    Args:
        run: the log, read.
        diagnosis: of it.

    Returns:
        1, the log-odds of the course, its cost per frame, whether several edits of the plan would do, whether the
        execution failed, whether the run is taken to have succeeded, how little the observer is trusted, the share of
        steps without a line, the number of failures beyond the first, whether the plan is at fault.
    """
    share = min(max(diagnosis.share, 0.01), 0.99)
    return (
        1.0,
        math.log(share / (1 - share)),
        diagnosis.strangeness,
        float(diagnosis.edits > 1),
        float(bool(run.course.deviations)),
        float(diagnosis.finding.cause is RootCause.NONE),
        1.0 - run.believer.observer.trust,
        sum(not item.told for item in run.subgoals) / max(1, len(run.subgoals)),
        float(max(0, len(run.course.deviations) - 1)),
        float(diagnosis.finding.cause in PLAN_CAUSES),
    )


def confidence(run: LogRun, diagnosis: Diagnosis) -> float:
    """The probability that step and kind of a diagnosis are right, less the share of events that are not readable."""
    if not run.wanted or diagnosis.finding.cause is RootCause.UNKNOWN:
        return 0.0
    return chance_of(features(run, diagnosis), _weights()) * readable(run.log)


def readable(log: HouseholdLog) -> float:
    """The share of the lines about events of which nothing is listed as unread."""
    noted = {entry.split(":")[0] for entry in log.unread if entry.startswith("event_summary, line")}
    lost = sum(": expected" in entry for entry in log.unread if entry.startswith("event_summary, line"))
    return 1.0 - len(noted) / (len(log.events) + lost) if log.events else 0.0


def chance_of(values: Sequence[float], weights: Sequence[float]) -> float:
    """Logistic regression."""
    total = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def open_question(run: LogRun, diagnosis: Diagnosis) -> str:
    """What keeps a diagnosis from being sure; empty if it is sure enough."""
    if confidence(run, diagnosis) >= SURE_ENOUGH:
        return ""
    if run.unread:
        parts = ", ".join(part[:40] for part in run.unread[:3])
        return f"the log cannot tell whether the success condition holds: {parts}"
    if not run.wanted:
        return "the success condition was not understood"
    if diagnosis.finding.cause is RootCause.UNKNOWN:
        return "no known failure explains the log"
    if readable(run.log) < _MOSTLY:
        return "much of the log could not be read"
    if diagnosis.strangeness > _STRANGE:
        return "the observations contradict each other"
    if diagnosis.share < 0.75:
        return "several explanations fit"
    if diagnosis.edits > 1:
        return "several changes of the plan would help"
    return "too little was observed"


@lru_cache(maxsize=1)
def _weights() -> tuple[float, ...]:
    return tuple(read_json(FITTED)["weights"])

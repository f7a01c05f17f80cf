"""How sure a diagnosis is: logistic regression on what the search for it left open, fitted on generated logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nsrecover.logs.diagnosis import PLAN_CAUSES, Diagnosis
from nsrecover.logs.findings import RootCause
from nsrecover.logs.run import LogRun
from nsrecover.util.untrusted_json import read_json

FITTED = Path(__file__).with_name("confidence.json")
"""Weights of `features`, written by `python -m eval.logs fit=true`."""
SURE_ENOUGH = 0.5
"""Below this confidence a diagnosis is a guess, and is called one."""
_STRANGE, _MOSTLY = 0.8, 0.75


def features(run: LogRun, diagnosis: Diagnosis) -> tuple[float, ...]:
    """What confidence depends on; the first is constant.

    Args:
        run: the trace, read.
        diagnosis: of it.

    Returns:
        1, the log-odds of the course, its cost per event, whether several edits of the plan would do, whether the
        execution failed, whether the run is taken to have succeeded, the highest estimated rate of errors of a channel,
        the share of steps without a line, the number of failures beyond the first, whether the plan is at fault.
    """
    share = min(max(diagnosis.share, 0.01), 0.99)
    return (
        1.0,
        math.log(share / (1 - share)),
        diagnosis.strangeness,
        float(diagnosis.edits > 1),
        float(bool(run.course.deviations)),
        float(diagnosis.finding.cause is RootCause.NONE),
        max(run.believer.rates.values(), default=0.0),
        sum(not item.told for item in run.subgoals) / max(1, len(run.subgoals)),
        float(max(0, len(run.course.deviations) - 1)),
        float(diagnosis.finding.cause in PLAN_CAUSES),
    )


def confidence(run: LogRun, diagnosis: Diagnosis) -> float:
    """The probability that step and kind of a diagnosis are right, less the share of events that are not readable."""
    if diagnosis.finding.cause is RootCause.UNKNOWN or not _has_goal(run):
        return 0.0
    lost = 1.0 + len(run.log.unread_goal)
    return calibrated(chance_of(features(run, diagnosis), _fitted()[0])) * run.log.readable / lost


def calibrated(chance: float) -> float:
    """How often diagnoses of such a chance were right, by other logs than those of the regression; never falls."""
    curve = _fitted()[1]
    (low, least), (high, most) = next(each for each in pairwise(curve) if chance <= each[1][0])
    return least + (most - least) * (chance - low) / (high - low)


def _has_goal(run: LogRun) -> bool:
    """Whether something says what success is: a goal, or the results of the source."""
    told = any(slot.result for slot in run.believer.slots)
    return bool(run.wanted) or (not run.log.goal_text and (told or bool(run.log.result)))


def chance_of(values: Sequence[float], weights: Sequence[float]) -> float:
    """Logistic regression."""
    total = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def open_question(run: LogRun, diagnosis: Diagnosis) -> str:
    """What keeps a diagnosis from being sure; empty if it is sure enough."""
    if run.log.unread_goal:
        parts = ", ".join(part[:40] for part in run.log.unread_goal[:3])
        return f"the log cannot tell whether the success condition holds: {parts}"
    if confidence(run, diagnosis) >= SURE_ENOUGH:
        return ""
    if not _has_goal(run):
        return "the success condition was not understood"
    if diagnosis.finding.cause is RootCause.UNKNOWN:
        unseen = ", ".join(fact[1] for fact in run.unseen[:3])
        return f"nothing shows {unseen}" if unseen else "no known failure explains the log"
    if run.log.readable < _MOSTLY:
        return "much of the log could not be read"
    if diagnosis.strangeness > _STRANGE:
        return "the observations contradict each other"
    if diagnosis.share < _MOSTLY:
        return "several explanations fit"
    if diagnosis.edits > 1:
        return "several changes of the plan would help"
    return "too little was observed"


@lru_cache(maxsize=1)
def _fitted() -> tuple[tuple[float, ...], tuple[tuple[float, float], ...]]:
    """The weights, and the curve from chances to how often they were right."""
    found = read_json(FITTED)
    return tuple(found["weights"]), tuple(map(tuple, found["curve"]))

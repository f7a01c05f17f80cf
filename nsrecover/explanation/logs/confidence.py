"""How sure a diagnosis is: logistic regression on what the search for it left open, fitted on generated logs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from nsrecover.explanation.logs.diagnosis import Diagnosis
from nsrecover.explanation.logs.findings import RootCause

FITTED = Path(__file__).with_name("confidence.json")
"""Weights of `features`, written by `python -m eval.logs fit=true`."""
SURE_ENOUGH = 0.5
"""Below this confidence a diagnosis is a guess, and is called one."""
_STRANGE = 0.8


def features(diagnosis: Diagnosis) -> tuple[float, ...]:
    """What confidence depends on; the first is constant.

    Args:
        diagnosis: of a log.

    Returns:
        1, the log-odds of the course, its cost per frame, whether several edits of the plan would do, whether the
        execution failed, whether the run is taken to have succeeded.
    """
    share = min(max(diagnosis.share, 0.01), 0.99)
    return (
        1.0,
        math.log(share / (1 - share)),
        diagnosis.strangeness,
        float(diagnosis.edits > 1),
        float(diagnosis.course.hypothesis.mode not in ("as_planned", "forced")),
        float(diagnosis.finding.cause is RootCause.NONE),
    )


def confidence(diagnosis: Diagnosis) -> float:
    """The probability that step and kind of a diagnosis are right."""
    if not diagnosis.run.wanted or diagnosis.finding.cause is RootCause.UNKNOWN:
        return 0.0
    return chance_of(features(diagnosis), _weights())


def chance_of(values: Sequence[float], weights: Sequence[float]) -> float:
    """Logistic regression."""
    total = sum(value * weight for value, weight in zip(values, weights, strict=True))
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


def open_question(diagnosis: Diagnosis) -> str:
    """What keeps a diagnosis from being sure; empty if it is sure enough."""
    if confidence(diagnosis) >= SURE_ENOUGH:
        return ""
    if not diagnosis.run.wanted:
        return "the success condition was not understood"
    if diagnosis.finding.cause is RootCause.UNKNOWN:
        return "no known failure explains the log"
    if diagnosis.strangeness > _STRANGE:
        return "the observations contradict each other"
    if diagnosis.share < 0.75:
        return "several explanations fit"
    if diagnosis.edits > 1:
        return "several changes of the plan would help"
    return "too little was observed"


@lru_cache(maxsize=1)
def _weights() -> tuple[float, ...]:
    return tuple(json.loads(FITTED.read_text(encoding="utf-8"))["weights"])

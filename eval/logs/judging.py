"""Explained logs compared with what is true about them: figures, and how often the confidence is right."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.common.tables import markdown_table, percent_of
from eval.logs.household_world import conditions_of, judge, world_at_the_end
from eval.metrics import Metric, share, total
from nsrecover.logs import FactTrace, LogExplanation, explain_log, report_of
from nsrecover.logs.confidence import SURE_ENOUGH
from nsrecover.logs.trace import RawTrace
from nsrecover.logs.understanding import understood

SURE = 0.9
_BINS = (0.0, 0.5, 0.7, 0.9, 1.01)
"""Bins of the confidence; those of the first one are abstentions."""


@dataclass(frozen=True)
class JudgedLog:
    """Explained log, compared with its annotation; None for missing annotations.

    Attributes:
        name: id, or number.
        found: the explanation, as in `nsrecover explain --json`.
        kind_right: whether the kind of failure is the annotated one.
        step_right: whether the first named time is among the annotated ones.
        accepted: whether the correction succeeds in a household simulator that the planner does not know.
        refused: why it does not.
        subgoals: whether the verdict on each subgoal with a derivable truth is right.
        seconds: time to read, check, explain and correct.
    """

    name: str
    found: dict[str, Any]
    kind_right: bool | None
    step_right: bool | None
    accepted: bool | None
    refused: str
    subgoals: tuple[bool, ...]
    seconds: float
    features: tuple[float, ...] = ()


def judged(raw: RawTrace, number: int) -> JudgedLog:
    """Explain a log and compare it with its annotation.

    Args:
        raw: with a field `truth`, if it is annotated: `kind` or `causes` (root causes, any of which counts), `steps`
            (times, any of which counts; none if nothing failed).
        number: of the line, for logs without an `id`.
    """
    started = time.perf_counter()
    log = understood(raw)
    explained = explain_log(log)
    seconds = time.perf_counter() - started
    truth = log.extra.get("truth")
    known: dict[str, Any] = truth if isinstance(truth, dict) else {}
    times = {seconds_of(step) for step in known.get("steps", ())}
    wanted = conditions_of(raw.goal, raw.plan) if isinstance(raw.goal, str) else None
    refused = "no correction" if explained.correction is None else ""
    if wanted is not None and explained.correction is not None:
        refused = judge(world_at_the_end(raw), explained.correction, wanted) or ""
    report, named = report_of(log, explained), explained.finding.times
    kind_right = explained.finding.kind == known["kind"] if "kind" in known else None
    step_right = bool(named) and seconds_of(named[0]) in times if times else None
    if "causes" in known:
        kind_right, step_right = report["root_cause"] in known["causes"], bool(step_right) if times else not named
    return JudgedLog(
        str(log.extra.get("id", number)),
        report,
        kind_right,
        step_right,
        None if wanted is None else not refused,
        refused if wanted is not None else "the success condition is worded in a way the judge does not know",
        tuple(_subgoals(log, explained, times)),
        seconds,
        explained.features,
    )


def _subgoals(log: FactTrace, explained: LogExplanation, times: set[int]) -> Iterator[bool]:
    """Yield whether the verdicts on subgoals are right, where the truth follows from the annotation.

    Subgoals before the first annotated moment were achieved. Later subgoals are decidable if the gripper must hold or
    release something, and the observation at their end says what it holds.
    """
    for item in explained.subgoals:
        if not item.told or item.event >= len(log.events):
            continue
        event = log.events[item.event]
        said = [(fact[-1], claim.holds) for claim in event.claims for fact in claim.facts if fact[0] == "holding"]
        held = next((name if holds else "" for name, holds in said), None)
        if times and event.seconds < min(times):
            yield item.satisfied
        elif item.step.operator == "pick_up" and held is not None:
            if held == "" or item.step.arguments[0] == held:
                yield item.satisfied == bool(held)
        elif item.step.operator in ("put_in", "put_on") and held:
            yield not item.satisfied


def annotated(log: RawTrace) -> RawTrace:
    """A log with its truth as times, whichever way it is annotated."""
    truth = log.extra.get("truth")
    given: Mapping[str, Any] = truth if isinstance(truth, dict) else {}
    steps = list(map(str, given.get("steps") or _times(given.get("gt_failure_step", []))))
    known = {"steps": steps} | ({"kind": given["kind"]} if "kind" in given else {})
    return replace(log, extra={**log.extra, "truth": known})


def _times(found: Any) -> Iterator[str]:
    """The times of an annotation: a time, [from, to], or a list of these."""
    if isinstance(found, str | int):
        yield str(found)
    elif len(found) == 2 and not any(isinstance(one, list) for one in found):
        yield from (
            f"{second // 60:02d}:{second % 60:02d}" for second in range(seconds_of(found[0]), seconds_of(found[1]) + 1)
        )
    else:
        for one in found:
            yield from _times(one)


def seconds_of(when: object) -> int:
    """Seconds of a time such as 00:36."""
    minutes, _, seconds = str(when).rpartition(":")
    return 60 * int(minutes or 0) + int(seconds)


def reliability_of(found: Sequence[tuple[float, bool]]) -> dict[str, Any]:
    """How often answers are right where they are sure, and wrong where they abstain; and the curve.

    Args:
        found: confidence, and whether step and kind are right.
    """
    return {
        "right_if_sure": share_of(right for chance, right in found if chance >= SURE),
        "wrong_if_abstained": share_of(not right for chance, right in found if chance < SURE_ENOUGH),
        "reliability": [
            {"from": low, "to": min(high, 1.0), "right": share_of(right for one, right in found if low <= one < high)}
            for low, high in pairwise(_BINS)
        ],
    }


def reliability_table(metrics: Mapping[str, Any]) -> str:
    """The curve of `reliability_of` as a table."""
    bins = [
        [f"{each['from']:.2f} to {each['to']:.2f}", percent_of(each["right"], 1), each["right"]["of"]]
        for each in metrics["reliability"]
    ]
    return markdown_table(["confidence", "right", "logs"], bins)


def fitted(rows: Sequence[Mapping[str, Any]], ridge: float = 1.0) -> list[float]:
    """Weights of the confidence by penalised logistic regression (Newton's method).

    Args:
        rows: judged logs of development.
        ridge: weight of the penalty on all weights but the constant.
    """
    x = np.array([row["features"] for row in rows])
    y = np.array([float(row["step_right"] and row["kind_right"]) for row in rows])
    weights, penalty = np.zeros(x.shape[1]), ridge * np.eye(x.shape[1])
    penalty[0, 0] = 1e-6
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - chance) - penalty @ weights
        weights += np.linalg.solve((x.T * (chance * (1 - chance))) @ x + penalty, gradient)
    return [round(float(weight), 4) for weight in weights]


def _known(each: JudgedLog) -> bool:
    return each.step_right is not None


def _right(each: JudgedLog) -> bool:
    return bool(each.step_right) and each.kind_right is not False


METRICS = (
    total("logs", ""),
    share("step", "failing step among the annotated ones", lambda e: e.step_right, _known, counted=True),
    share("kind", "kind of failure", lambda e: e.kind_right, lambda e: e.kind_right is not None,
          counted=True),
    share("corrections", "correction accepted by the judge", lambda e: e.accepted,
          lambda e: e.accepted is not None, counted=True),
    share("subgoals", "subgoals verified rightly", lambda e: e.subgoals, counted=True),
    share("right_if_sure", "step and kind right at confidence ≥ 0.9", _right,
          lambda e: _known(e) and e.found["confidence"] >= SURE, counted=True),
    share("wrong_if_abstained", "wrong where it abstained", lambda e: not _right(e),
          lambda e: _known(e) and e.found["confidence"] < SURE_ENOUGH, counted=True),
    total("failures_called_success", "failures called success",
          lambda e: _known(e) and not e.step_right and e.found["root_cause"] == "none"),
    Metric("seconds", "seconds a log", lambda found: round(sum(e.seconds for e in found) / max(1, len(found)), 3),
           lambda found: found["seconds"]),
    Metric("slowest_s", "the longest", lambda found: round(max((e.seconds for e in found), default=0.0), 3),
           lambda found: found["slowest_s"]),
    Metric("reliability", "", lambda found: reliability_of([
        (e.found["confidence"], _right(e)) for e in found if _known(e)
    ])["reliability"], str),
)  # fmt: skip
"""The figures of annotated logs, of `JudgedLog`."""

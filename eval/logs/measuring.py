"""Generated logs in volume: rates with intervals, the reliability of the confidence, and abstentions."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.common.tables import columns_table, document, markdown_table, percent_of
from eval.metrics import Metric, columns, share, summary, total, transposed
from eval.run import Run
from nsrecover.logs import explain_log, log_of, report_of
from nsrecover.logs.confidence import SURE_ENOUGH
from sim.logs.generate import generate
from sim.logs.world import judge
from sim.logs.writing import STRENGTHS, Written

KIND_OF: Mapping[str, str] = {
    "dropped": "dropped", "missed_grasp": "failed_execution", "action_failed": "failed_execution",
    "misplaced": "wrong_place", "wrong_place": "wrong_place", "missing_step": "missing_step",
    "never_opened": "missing_step", "wrong_order": "wrong_order", "wrong_action": "wrong_object",
    "wrong_object": "wrong_object", "mistaken_object": "wrong_object", "ambiguous_name": "wrong_object",
    "occupied": "obstructed", "blocked": "obstructed", "unsuitable": "unsuitable", "already_filled": "unsuitable",
    "already_running": "start_differs", "none": "none",
}  # fmt: skip
"""Root cause -> kind of failure as the generator of logs injects it."""

_SAID: tuple[tuple[str, str], ...] = (
    ("none", r"the task succeeded"),
    ("dropped", r"the robot dropped"),
    ("failed_execution", r"came up empty|it had no effect"),
    ("wrong_place", r"in the wrong place|uses the wrong place"),
    ("missing_step", r"the plan lacks a step|because the plan never opens it"),
    ("wrong_order", r"in the wrong order"),
    ("wrong_object", r"uses the wrong object|mistook|does the wrong thing|does not say which one is meant"),
    ("obstructed", r"took up the room|was in the way of"),
    ("unsuitable", r"is not suitable|was already filled with"),
    ("start_differs", r"was already turned on"),
)


@dataclass(frozen=True)
class Reading:
    """What a text says.

    Attributes:
        kind: kind of failure; empty if the text says none, or several.
        times: the times that it names, in order.
        text: the part that says what went wrong, in lower case.
    """

    kind: str
    times: tuple[str, ...]
    text: str

    def names(self, groups: Sequence[Sequence[str]]) -> bool:
        """Whether the text names an object of every group."""
        return all(any(re.search(rf"\b{re.escape(name)}\b", self.text) for name in group) for group in groups)


def read_back(text: str) -> Reading:
    """Read an explanation.

    Args:
        text: for a lay person.
    """
    cause = text.partition("To finish the task:")[0].lower()
    kinds = [kind for kind, said in _SAID if re.search(said, cause)]
    return Reading(kinds[0] if len(kinds) == 1 else "", tuple(re.findall(r"\b\d+:\d{2}\b", cause)), cause)


# -- explanations of generated logs, compared with what was made to go wrong


def judged_run(written: Written) -> dict[str, Any]:
    """Explain a generated log and compare it with its truth, as plain data.

    Args:
        written: the log; its truth is taken out before it is explained.
    """
    truth = written.document["truth"]
    started = time.perf_counter()
    log = log_of({key: value for key, value in written.document.items() if key not in ("truth", "id")})
    explained = explain_log(log)
    report = report_of(log, explained)
    seconds = time.perf_counter() - started
    kind, times = KIND_OF.get(report["root_cause"], report["root_cause"]), truth["steps"]
    step_right = report["steps"][0] in times if report["steps"] and times else not report["steps"] and not times
    since: list[str] = report["since"]
    reading = read_back(report["text"])
    read_step = reading.times[0] in times if reading.times and times else not reading.times and not times
    refused: str | None = "no correction"
    if explained.correction is not None:
        refused = judge(written.end, explained.correction, written.failure.goal)
    verdicts = [item.satisfied for item in explained.subgoals]
    verdicts += [True] * (len(truth["subgoals"]) - len(verdicts))
    return {
        "id": written.document["id"],
        "task": written.document["task"],
        "truth": truth["kind"],
        "found": kind,
        "cause": report["root_cause"],
        "step_right": step_right,
        "kind_right": kind == truth["kind"],
        "read_right": reading.kind == truth["kind"] and read_step and reading.names(truth["objects"]),
        "refused": refused or "",
        "assumed": report["assumed"],
        "in_time": any(since[0] <= time <= since[1] for time in times) if since and times else None,
        "subgoals": [[held, verdict] for held, verdict in zip(truth["subgoals"], verdicts, strict=False)],
        "features": [round(value, 4) for value in explained.features],
        "confidence": report["confidence"],
        "abstained": report["abstained"],
        "seconds": round(seconds, 4),
    }


_BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)
_COARSE = (0.0, 0.5, 0.7, 0.9, 1.01)
"""Bins for few logs; those of the first one are abstentions."""
SURE = 0.9


def results(run: Run, counts: Mapping[str, int], seed: int, held_out: bool) -> dict[str, list[dict[str, Any]]]:
    """Judged generated logs, by the strength of the observation errors.

    Args:
        run: that keeps them.
        counts: strength -> number of logs.
        seed: of the logs.
        held_out: tasks and wordings to measure with.
    """
    items = [(strength, one) for strength, count in counts.items() for one in generate(count, seed, strength, held_out)]
    rows = run.each(_judged, items, "log", _key)
    return {name: [row for row, (of, _) in zip(rows, items, strict=True) if of == name] for name in counts}


def _judged(item: tuple[str, Written]) -> dict[str, Any]:
    return judged_run(item[1])


def _key(item: tuple[str, Written]) -> str:
    return str(item[1].document["id"])


def _right(row: Mapping[str, Any]) -> bool:
    return bool(row["step_right"] and row["kind_right"])


METRICS = (
    total("logs", ""),
    share("step", "failing step", lambda row: row["step_right"]),
    share("kind", "kind of failure", lambda row: row["kind_right"]),
    share("read_back", "explanation read back", lambda row: row["read_right"]),
    share("correction_accepted", "correction accepted", lambda row: not row["refused"]),
    share("subgoals", "subgoals", lambda row: [held == verdict for held, verdict in row["subgoals"]]),
    share("failure_precision", "failures: precision",
          lambda row: [not held for held, said in row["subgoals"] if not said]),
    share("failure_recall", "failures: recall", lambda row: [not said for held, said in row["subgoals"] if not held]),
    share("in_time", "failure within its interval of times", lambda row: row["in_time"],
          lambda row: row["in_time"] is not None),
    share("assumed", "correction assumes an object", lambda row: bool(row["assumed"])),
    share("right", "step and kind", _right),
    share("sure", "confidence ≥ 0.9", lambda row: row["confidence"] >= SURE),
    share("right_if_sure", "right if confidence ≥ 0.9", _right, lambda row: row["confidence"] >= SURE),
    Metric("abstained", "", lambda rows: dict(Counter(row["abstained"] for row in rows if row["abstained"])), str),
    Metric("seconds", "seconds a log: mean, longest",
           lambda rows: round(float(np.mean([row["seconds"] for row in rows])), 3) if rows else None,
           lambda found: f"{found['seconds']}, {found['slowest_s']}"),
    Metric("slowest_s", "", lambda rows: max((row["seconds"] for row in rows), default=None), str),
)  # fmt: skip


def by_kind(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rates of each kind of failure."""
    kinds = dict.fromkeys(row["truth"] for row in rows)
    return {kind: summary([row for row in rows if row["truth"] == kind], METRICS) for kind in kinds}


def reliability(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """How often diagnoses of some confidence are right."""
    found = []
    for low, high in pairwise(_BINS):
        within = [row for row in rows if low <= row["confidence"] < high]
        mean = round(float(np.mean([row["confidence"] for row in within])), 4) if within else None
        found.append({"from": low, "to": min(high, 1.0), "confidence": mean, "right": share_of(map(_right, within))})
    return found


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
            for low, high in pairwise(_COARSE)
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
    y = np.array([float(_right(row)) for row in rows])
    weights, penalty = np.zeros(x.shape[1]), ridge * np.eye(x.shape[1])
    penalty[0, 0] = 1e-6
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - chance) - penalty @ weights
        weights += np.linalg.solve((x.T * (chance * (1 - chance))) @ x + penalty, gradient)
    return [round(float(weight), 4) for weight in weights]


def measured(run: Run, count: int, others: int, seed: int) -> dict[str, Any]:
    """All figures for held-out tasks and wordings.

    Args:
        run: that keeps the judged logs.
        count: logs of middle strength.
        others: logs of each other strength, and of rates drawn for each log (`wide`).
        seed: of the logs.
    """
    counts = {name: count if name == "middle" else others for name in (*STRENGTHS, "wide")}
    rows = results(run, counts, seed, held_out=True)
    return {
        "seed": seed,
        "strengths": {name: summary(each, METRICS) for name, each in rows.items()},
        "kinds": by_kind(rows["middle"]),
        "reliability": reliability([row for each in rows.values() for row in each]),
        "sure_enough": SURE_ENOUGH,
    }


def tables(metrics: Mapping[str, Any]) -> str:
    """The figures as tables."""
    strengths: Mapping[str, Any] = metrics["strengths"]
    named = {f"{name} ({each['logs']} logs)": each for name, each in strengths.items()}
    chosen = [m for m in METRICS if m.name in ("logs", "step", "kind", "read_back", "correction_accepted")]
    parts = [
        transposed("errors", named, METRICS),
        columns_table(["kind"], metrics["kinds"], (("logs", chosen[0].cell), *columns(chosen))),
    ]
    cells = [
        [
            f"{each['from']:.2f} to {each['to']:.2f}",
            each["confidence"],
            percent_of(each["right"], 1),
            each["right"]["of"],
        ]
        for each in metrics["reliability"]
    ]
    parts.append(markdown_table(["confidence", "mean", "right", "logs"], cells))
    abstained = [
        [reason, *(each["abstained"].get(reason, 0) for each in strengths.values())]
        for reason in sorted({reason for each in strengths.values() for reason in each["abstained"]})
    ]
    parts.append(markdown_table(["abstained because", *strengths], abstained) if abstained else "No abstentions.")
    return document(*parts)

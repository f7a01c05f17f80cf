"""Explanations of generated logs, compared with what was made to go wrong."""

from __future__ import annotations

import time
from typing import Any

from eval.logs.read_back import KIND_OF, read_back
from nsrecover.explanation.logs import explain_log, log_of, report_of
from sim.logs.world import judge
from sim.logs.writing import Written


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

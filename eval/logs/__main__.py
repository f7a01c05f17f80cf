"""`python -m eval.logs`: accuracy of explained logs of a household robot, and the fit of their confidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval.logs.annotations import logs_in
from eval.logs.judging import METRICS, JudgedLog, fitted, judged, reliability_of, reliability_table
from eval.logs.runs import STRENGTHS, WIDE, WrittenLog, written_logs
from eval.metrics import summary, transposed
from eval.run import Measurement, Run, Settings, run
from nsrecover.logs.confidence import FITTED, chance_of
from nsrecover.logs.trace import RawTrace
from nsrecover.logs.understanding import understood
from nsrecover.util.untrusted_json import read_json


@dataclass
class LogsConfig(Settings):
    """Explain logs of a household robot, and compare the explanations with what was made to go wrong.

      python -m eval.logs                                        1,000 logs and more; half an hour
      python -m eval.logs fit=true count=600 others=300 seed=7   fit the confidence

    The logs are written by a robot that carries out episodes of H1 and H4 without recovery and perceives facts with
    errors. Corrections are judged in a symbolic household that shares no code with the planner. Logs of others:
    eval.foreign_logs. Writes metrics.json, table.md and every log's judgement (rows.jsonl) to out=DIR.

    Attributes:
        seed: of the logs.
        count: logs with errors of perception of middle strength.
        others: logs of each other strength.
        fit: fit the confidence on other runs than those that are measured, and write it into the package.
        wide: logs with rates of error drawn for each, to fit on.
        foreign: files of annotated logs by others, to fit on as well.
    """

    seed: int = 2026
    count: int = 1000
    others: int = 150
    fit: bool = False
    wide: int = 300
    foreign: list[str] = field(default_factory=list)
    out: str = "outputs/logs"


def judged_written(item: WrittenLog) -> JudgedLog:
    """Explain a log and compare it with what was made to go wrong."""
    return judged(item.trace, 0)


def judged_foreign(item: tuple[int, RawTrace]) -> JudgedLog:
    """Explain a log of others and compare it with its annotation."""
    return judged(item[1], item[0])


def results(run: Run, counts: Mapping[str, int], seed: int, held_out: bool) -> dict[str, list[JudgedLog]]:
    """Judged logs, by the strength of the errors of perception."""
    items = [each for strength, count in counts.items() for each in written_logs(count, seed, strength, held_out)]
    rows = iter(run.each(judged_written, items, "log", lambda item: item.name))
    return {strength: [next(rows) for _ in range(count)] for strength, count in counts.items()}


def _row(log: RawTrace, case: JudgedLog) -> dict[str, Any]:
    """A judged log, to fit the confidence on."""
    right = {"step_right": case.step_right, "kind_right": case.kind_right is not False}
    return {"features": case.features, "readable": understood(log).readable, "task": log.task, **right}


def left_out(rows: Sequence[Mapping[str, Any]], foreign: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How reliable the confidence is for logs by others whose task it was not fitted on.

    Args:
        rows: written logs, judged.
        foreign: logs by others, judged, with their task.
    """
    found = list[tuple[float, bool]]()
    for task in dict.fromkeys(row["task"] for row in foreign):
        weights = fitted([*rows, *(row for row in foreign if row["task"] != task)])
        for row in foreign:
            if row["task"] == task:
                chance = chance_of(row["features"], weights) * row["readable"]
                found.append((chance, bool(row["step_right"] and row["kind_right"])))
    return reliability_of(found)


def _fit(config: LogsConfig, run: Run) -> dict[str, Any]:
    """Fit the confidence, and write its weights."""
    counts = {"middle": config.count, "strong": config.others, "light": config.others, WIDE: config.wide}
    cases = [case for each in results(run, counts, config.seed, held_out=False).values() for case in each]
    rows = [{"features": c.features, "step_right": c.step_right, "kind_right": c.kind_right} for c in cases]
    others = [log for path in config.foreign for log in logs_in(path)]
    cases = run.each(judged_foreign, list(enumerate(others)), "foreign log", lambda item: str(item[0]))
    foreign = [_row(log, case) for log, case in zip(others, cases, strict=True)]
    made = (
        f"python -m eval.logs fit=true count={config.count} others={config.others} wide={config.wide} "
        f"seed={config.seed} foreign=[{','.join(config.foreign)}]"
    )
    found = {"weights": fitted([*rows, *foreign]), "logs": len(rows) + len(foreign), "made_with": made}
    # The curve of `confidence.calibrated` was measured on other logs.
    FITTED.write_text(json.dumps({**read_json(FITTED), **found}, indent=1) + "\n", encoding="utf-8")
    return found | left_out(rows, foreign)


def measure(config: LogsConfig, run: Run) -> dict[str, Any]:
    """Explain every log, or fit the confidence."""
    if config.fit:
        return _fit(config, run)
    counts = {name: config.count if name == "middle" else config.others for name in (*STRENGTHS, WIDE)}
    found = results(run, counts, config.seed, held_out=True)
    return {"seed": config.seed, "strengths": {name: summary(rows, METRICS) for name, rows in found.items()}}


def table(metrics: Mapping[str, Any]) -> str:
    """All figures, or how reliable the fitted confidence is."""
    if "weights" in metrics:
        return reliability_table(metrics)
    return transposed(
        "errors", {f"{name} ({each['logs']} logs)": each for name, each in metrics["strengths"].items()}, METRICS
    )


MEASUREMENT = Measurement(LogsConfig, measure, table, checkpoint=None, adds=("count", "others", "wide"))


if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.logs`: accuracy of explained logs that are generated, and the fit of their confidence."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from eval.logs.household_world import conditions_of, judge, world_at_the_end
from eval.logs.measuring import fitted, measured, reliability_of, reliability_table, results, tables
from eval.run import Measurement, Run, Settings, run
from nsrecover.logs import HouseholdLog, LogExplanation, explain_log, read_logs, report_of
from nsrecover.logs.confidence import FITTED, chance_of, readable


@dataclass
class LogsConfig(Settings):
    """Explain generated logs of a household robot, and compare the explanations with what was made to go wrong.

      python -m eval.logs                                        1,000 logs and more; half an hour
      python -m eval.logs fit=true count=600 others=300 seed=7   fit the confidence

    The logs are of held-out tasks and wordings. Corrections are judged in a symbolic household that shares no code with
    the planner. Logs of others: eval.foreign_logs. Writes metrics.json, table.md and every log's judgement (rows.jsonl)
    to out=DIR.

    Attributes:
        seed: of the generated logs.
        count: generated logs of middle strength of observation errors.
        others: generated logs of each other strength.
        fit: fit the confidence on logs of the development tasks and wordings, and write it into the package.
        wide: generated logs with rates of error drawn for each, to fit on.
        foreign: files of annotated logs by others, to fit on as well.
    """

    seed: int = 2026
    count: int = 1000
    others: int = 150
    fit: bool = False
    wide: int = 300
    foreign: list[str] = field(default_factory=list)
    out: str = "outputs/logs"


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


def judged(log: HouseholdLog, number: int) -> JudgedLog:
    """Explain a log and compare it with its annotation.

    Args:
        log: with a field `truth`, if it is annotated: `kind`, `steps` (times, any of which counts).
        number: of the line, for logs without an `id`.
    """
    started = time.perf_counter()
    explained = explain_log(log)
    seconds = time.perf_counter() - started
    truth = log.extra.get("truth")
    known: dict[str, Any] = truth if isinstance(truth, dict) else {}
    times = {seconds_of(step) for step in known.get("steps", ())}
    wanted = conditions_of(log.success_state, log.plan)
    refused = "no correction" if explained.correction is None else ""
    if wanted is not None and explained.correction is not None:
        refused = judge(world_at_the_end(log), explained.correction, wanted) or ""
    return JudgedLog(
        str(log.extra.get("id", number)),
        report_of(log, explained),
        explained.finding.kind == known["kind"] if "kind" in known else None,
        bool(explained.finding.times) and seconds_of(explained.finding.times[0]) in times if times else None,
        None if wanted is None else not refused,
        refused if wanted is not None else "the success condition is worded in a way the judge does not know",
        tuple(_subgoals(log, explained, times)),
        seconds,
        explained.features,
    )


def _subgoals(log: HouseholdLog, explained: LogExplanation, times: set[int]) -> Iterator[bool]:
    """Yield whether the verdicts on subgoals are right, where the truth follows from the annotation.

    Subgoals before the first annotated moment were achieved. Later subgoals are decidable if the gripper must hold or
    release something, and the observation at their end says what it holds.
    """
    for item, frame in zip(explained.subgoals, log.subgoals, strict=False):
        held = frame.observation.held
        if times and frame.seconds < min(times):
            yield item.satisfied
        elif item.step.operator == "pick_up" and held is not None:
            if held == "" or item.step.arguments[0] == held:
                yield item.satisfied == bool(held)
        elif item.step.operator in ("put_in", "put_on") and held:
            yield not item.satisfied


def annotated(log: HouseholdLog) -> HouseholdLog:
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


def _row(log: HouseholdLog) -> dict[str, Any]:
    """An annotated log of others, as a row to fit the confidence on."""
    case = judged(annotated(log), 0)
    right = {"step_right": case.step_right, "kind_right": case.kind_right is not False}
    return {"features": case.features, "readable": readable(log), "task": log.task, **right}


def left_out(rows: Sequence[Mapping[str, Any]], foreign: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How reliable the confidence is for logs by others whose task it was not fitted on.

    Args:
        rows: generated logs, judged.
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
    """Fit the confidence on logs of the development tasks and wordings, and write its weights."""
    parts = {"middle": config.count, "strong": config.others, "light": config.others, "wide": config.wide}
    rows = [row for each in results(run, parts, config.seed, held_out=False).values() for row in each]
    foreign = [_row(log) for path in config.foreign for log in read_logs(Path(path))]
    made = (
        f"python -m eval.logs fit=true count={config.count} others={config.others} wide={config.wide} "
        f"seed={config.seed} foreign=[{','.join(config.foreign)}]"
    )
    found = {"weights": fitted([*rows, *foreign]), "logs": len(rows) + len(foreign), "made_with": made}
    FITTED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found | left_out(rows, foreign)


def measure(config: LogsConfig, run: Run) -> dict[str, Any]:
    """Explain every log, or fit the confidence."""
    if config.fit:
        return _fit(config, run)
    return measured(run, config.count, config.others, config.seed)


def table(metrics: Mapping[str, Any]) -> str:
    """All figures, or how reliable the fitted confidence is."""
    return reliability_table(metrics) if "weights" in metrics else tables(metrics)


MEASUREMENT = Measurement(LogsConfig, measure, table, checkpoint=None, adds=("count", "others", "wide"))


if __name__ == "__main__":
    run(MEASUREMENT)

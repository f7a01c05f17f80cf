"""`python -m eval.foreign_logs FILES`: how well logs that others wrote and annotated are explained, in six figures.

A line of a file is a log in a format of docs/logs.md with a field `truth`: `kind` (execution or planning; may be
missing) and `steps` (times, any of which counts), or `gt_failure_step` as REFLECT has it: a time, an interval, or a
list of either.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from eval.logs.annotations import logs_in
from eval.logs.judging import METRICS as JUDGED
from eval.logs.judging import JudgedLog, judged, seconds_of
from eval.metrics import Metric, share, summary, transposed
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import InvalidConfiguration
from nsrecover.logs.trace import EventPhase, RawTrace, TraceEvent


@dataclass
class ForeignLogsConfig(Settings):
    """Explain logs that others wrote, and compare the explanations with their annotations in six figures.

      python -m eval.foreign_logs A.jsonl B.jsonl            every log of the files
      python -m eval.foreign_logs A.jsonl deletions=0        without deleting lines
      python -m eval.foreign_logs eval/logs/six_formats/truth.jsonl    40 traces in six formats, by another hand

    A line is a log as in docs/logs.md with truth: {kind, steps}, or {gt_failure_step} as REFLECT annotates it. Writes
    metrics.json, table.md and what was found in each log (rows.jsonl) to out=DIR.

    Attributes:
        files: files of annotated logs in any format, one log per line.
        deletions: lines that are deleted from each log that is explained rightly, one at a time; 0 for none.
    """

    files: list[str] = field(default_factory=list)
    deletions: int = 3


def without_a_line(log: RawTrace, count: int) -> Iterator[RawTrace]:
    """The log without one of the lines that end steps, in both summaries; never one with an annotated time.

    Args:
        log: with its truth as times.
        count: how many lines are deleted, one at a time; drawn by the log's name.
    """
    annotated_times = set(map(seconds_of, _steps(log)))
    lines = [n for n, e in enumerate(log.events) if e.phase is EventPhase.ENDED and e.seconds not in annotated_times]
    chance = random.Random(f"{log.extra.get('id')} {log.task}")
    for number in chance.sample(lines, min(count, len(lines))):
        yield replace(log, events=(*log.events[:number], *log.events[number + 1 :]))


def plan_alone(log: RawTrace) -> RawTrace:
    """The log with its lines, and with nothing that was observed."""
    events = tuple(replace(event, claims=(), seen=frozenset(), heard=()) for event in log.events)
    return replace(log, events=events, final=TraceEvent("00:00"))


@dataclass(frozen=True)
class ForeignCase:
    """A log of others.

    Attributes:
        case: what was found, compared with the annotation.
        plan_alone: whether the failing step is right without observations; None if it is not annotated.
        lost: of each line that was deleted, whether the right step was lost.
    """

    case: JudgedLog
    plan_alone: bool | None
    lost: tuple[bool, ...]


def case_of(item: tuple[str, int], deletions: int) -> ForeignCase:
    """Explain a log of a file, all of it, without a line, and without observations."""
    log = logs_in(item[0])[item[1]]
    case = judged(log, item[1] + 1)
    shorter = without_a_line(log, deletions) if case.step_right else ()
    alone = bool(judged(plan_alone(log), 0).step_right) if _steps(log) else None
    return ForeignCase(case, alone, tuple(not judged(each, 0).step_right for each in shorter))


def check(config: ForeignLogsConfig) -> None:
    """Refuse to explain nothing, and files that cannot be read."""
    if not config.files:
        raise InvalidConfiguration(
            "expected files of annotated logs, found none; run python -m eval.foreign_logs FILES"
        )
    for path in config.files:
        logs_in(path)


def measure(config: ForeignLogsConfig, run: Run) -> dict[str, Any]:
    """Explain every log of some files."""
    items = [(path, number) for path in config.files for number in range(len(logs_in(path)))]
    found = run.each(partial(case_of, deletions=config.deletions), items, "log")
    return {
        "files": {
            path: summary([each for each, (where, _) in zip(found, items, strict=True) if where == path], METRICS)
            for path in config.files
        }
    }


def _steps(log: RawTrace) -> Sequence[str]:
    truth: Any = log.extra["truth"]
    return list(truth["steps"])


def _of_the_log(metric: Metric) -> Metric:
    return replace(metric, of=lambda cases: metric.of([each.case for each in cases]))


_JUDGED = {metric.name: _of_the_log(metric) for metric in JUDGED}
_REST = [metric for name, metric in _JUDGED.items() if name not in ("logs", "step")]
METRICS = (
    _JUDGED["logs"],
    _JUDGED["step"],
    share("plan_alone", "the same by the plan alone, without observations", lambda e: e.plan_alone,
          lambda e: e.plan_alone is not None, counted=True),
    *_REST[:5],
    share("changed_by_one_line", "right steps lost when a line is deleted", lambda e: e.lost, counted=True),
    *_REST[5:],
)  # fmt: skip
"""The figures of annotated logs of others."""


def table_of(metrics: Mapping[str, Any]) -> str:
    """The figures as a table, with a column for each file."""
    files = {f"{name} ({each['logs']} logs)": each for name, each in metrics["files"].items()}
    return transposed("", files, METRICS)


MEASUREMENT = Measurement(ForeignLogsConfig, measure, table_of, check=check, checkpoint=None)

if __name__ == "__main__":
    run(MEASUREMENT, files=(".json", ".jsonl"))

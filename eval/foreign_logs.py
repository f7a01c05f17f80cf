"""`python -m eval.foreign_logs FILES`: how well logs that others wrote and annotated are explained, in six figures.

A line of a file is a log in the text format of REFLECT with a field `truth`: `kind` (execution or planning; may be
missing) and `steps` (times, any of which counts), or `gt_failure_step` as REFLECT has it: a time, an interval, or a
list of either.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.common.command import run
from eval.common.output import write_results
from eval.common.statistics import share_of
from eval.common.tables import markdown_table, percent_of
from eval.logs.command import annotated, judged, seconds_of
from eval.logs.measuring import reliability_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.logs import HouseholdLog, document_of, log_of, read_logs
from nsrecover.explanation.logs.reading.records import KeyFrame, Observation


@dataclass
class ForeignLogsConfig:
    """Top level of conf/foreign_logs.yaml."""

    files: list[str] = field(default_factory=list)
    out: str = "outputs/foreign_logs"
    deletions: int = 3


def without_a_line(log: HouseholdLog, count: int) -> Iterator[HouseholdLog]:
    """The log without one of the lines that end steps, in both summaries; never one with an annotated time.

    Args:
        log: with its truth as times.
        count: how many lines are deleted, one at a time; drawn by the log's name.
    """
    annotated_times = set(map(seconds_of, _steps(log)))
    lines = [frame for frame in log.subgoals if frame.seconds not in annotated_times]
    chance = random.Random(f"{log.extra.get('id')} {log.task}")
    for frame in chance.sample(lines, min(count, len(lines))):
        rest = copy.deepcopy(document_of(log))
        for field_name, frames in (("event_summary", log.events), ("subgoal_summary", log.subgoals)):
            rest[field_name] = [
                line for line, one in zip(rest[field_name], frames, strict=True)
                if (one.time, one.text) != (frame.time, frame.text)
            ]  # fmt: skip
        yield log_of(rest)


def plan_alone(log: HouseholdLog) -> HouseholdLog:
    """The log with its lines, and with nothing that was observed."""
    nothing = Observation((), (), "")

    def frames(found: Sequence[KeyFrame]) -> tuple[KeyFrame, ...]:
        return tuple(replace(frame, observation=nothing) for frame in found)

    return replace(log, events=frames(log.events), subgoals=frames(log.subgoals), final=nothing)


def measure(config: ForeignLogsConfig) -> dict[str, Any]:
    """Explain every log of some files, and write metrics and table.

    Raises:
        NsrecoverError: no file was given, or one cannot be read.
    """
    if not config.files:
        raise InvalidConfiguration(
            "expected files of annotated logs, found none; run python -m eval.foreign_logs FILES"
        )
    metrics: dict[str, Any] = {"files": {}}
    cases = list[dict[str, Any]]()
    for path in config.files:
        logs = [annotated(log) for log in read_logs(Path(path))]
        figures, found = figures_of(logs, config.deletions, path)
        metrics["files"][path] = figures
        cases += found
    write_results(config.out, metrics, table_of(metrics["files"]), config)
    (Path(config.out) / "cases.jsonl").write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    return metrics


def figures_of(logs: Sequence[HouseholdLog], deletions: int, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The six figures of annotated logs, and what was found in each.

    Args:
        logs: with their truth as times.
        deletions: lines that are deleted from each, one at a time.
        name: of the file.
    """
    cases = [judged(log, number) for number, log in enumerate(tqdm(logs, desc=name, unit="log"), start=1)]
    changed = [
        not judged(shorter, 0).step_right
        for log, case in zip(tqdm(logs, desc="one line less", unit="log"), cases, strict=True) if case.step_right
        for shorter in without_a_line(log, deletions)
    ]  # fmt: skip
    known = [case for case in cases if case.step_right is not None]
    figures = {
        "logs": len(cases),
        "step": share_of(bool(case.step_right) for case in known),
        "plan_alone": share_of(bool(judged(plan_alone(log), 0).step_right) for log in logs if _steps(log)),
        "kind": share_of(case.kind_right for case in cases if case.kind_right is not None),
        "corrections": share_of(case.accepted for case in cases if case.accepted is not None),
        "subgoals": share_of(held for case in cases for held in case.subgoals),
        "changed_by_one_line": share_of(changed),
        "failures_called_success": sum(case.found["root_cause"] == "none" for case in known if not case.step_right),
        "seconds": round(sum(case.seconds for case in cases) / max(1, len(cases)), 3),
        "slowest_s": round(max((case.seconds for case in cases), default=0.0), 3),
        **reliability_of([
            (case.found["confidence"], bool(case.step_right) and case.kind_right is not False) for case in known
        ]),
    }  # fmt: skip
    return figures, [
        {"id": case.name, "step_right": case.step_right, "kind_right": case.kind_right,
         "correction_refused": case.refused if case.accepted is False else "",
         **{key: case.found[key] for key in ("kind", "steps", "root_cause", "objects", "confidence", "abstained")}}
        for case in cases
    ]  # fmt: skip


def _steps(log: HouseholdLog) -> Sequence[str]:
    truth: Any = log.extra["truth"]
    return list(truth["steps"])


_ROWS = {
    "step": "failing step among the annotated ones",
    "plan_alone": "the same by the plan alone, without observations",
    "kind": "kind of failure",
    "corrections": "correction accepted by the judge",
    "subgoals": "subgoals verified rightly",
    "right_if_sure": "step and kind right at confidence ≥ 0.9",
    "wrong_if_abstained": "wrong where it abstained",
    "changed_by_one_line": "right steps lost when a line is deleted",
    "failures_called_success": "failures called success",
    "seconds": "seconds a log",
    "slowest_s": "the longest",
}


def table_of(files: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as a table, with a column for each file."""
    rows = [[words, *(_cell(each[key]) for each in files.values())] for key, words in _ROWS.items()]
    return markdown_table(["", *(f"{name} ({each['logs']} logs)" for name, each in files.items())], rows)


def _cell(figure: Any) -> str:
    return f"{percent_of(figure, 1)} of {figure['of']}" if isinstance(figure, dict) else str(figure)


def with_files_named(arguments: Sequence[str]) -> list[str]:
    """The arguments with `files=` before bare file names."""
    files = [each for each in arguments if "=" not in each and Path(each).suffix in (".json", ".jsonl")]
    rest = [each for each in arguments if each not in files]
    return [*([f"files={json.dumps(files)}"] if files else []), *rest]


if __name__ == "__main__":
    sys.argv[1:] = with_files_named(sys.argv[1:])
    run("foreign_logs", ForeignLogsConfig, measure)

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
from itertools import pairwise
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.common.command import run
from eval.common.output import write_results
from eval.common.statistics import share_of
from eval.common.tables import document, markdown_table, percent_of
from eval.logs.command import JudgedLog, judged
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.logs import HouseholdLog, document_of, log_of, read_logs
from nsrecover.explanation.logs.confidence import SURE_ENOUGH

_BINS = (0.0, 0.25, 0.5, 0.7, 0.9, 1.01)


@dataclass
class ForeignLogsConfig:
    """Top level of conf/foreign_logs.yaml."""

    files: list[str] = field(default_factory=list)
    out: str = "outputs/foreign_logs"
    deletions: int = 3


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
        yield from (f"{second // 60:02d}:{second % 60:02d}" for second in range(_s(found[0]), _s(found[1]) + 1))
    else:
        for one in found:
            yield from _times(one)


def _s(time: object) -> int:
    minutes, _, seconds = str(time).rpartition(":")
    return 60 * int(minutes or 0) + int(seconds)


def without_a_line(log: HouseholdLog, count: int) -> Iterator[HouseholdLog]:
    """The log without one of the lines that end steps, in both summaries; never one with an annotated time.

    Args:
        log: with its truth as times.
        count: how many lines are deleted, one at a time; drawn by the log's name.
    """
    truth: Any = log.extra["truth"]
    annotated_times = set(map(_s, truth["steps"]))
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


def measure(config: ForeignLogsConfig) -> dict[str, Any]:
    """Explain every log of some files, and write metrics and table.

    Raises:
        NsrecoverError: no file was given, or one cannot be read.
    """
    if not config.files:
        raise InvalidConfiguration(
            "expected files of annotated logs, found none; run python -m eval.foreign_logs FILES"
        )
    logs = [annotated(log) for path in config.files for log in read_logs(Path(path))]
    cases = [judged(log, number) for number, log in enumerate(tqdm(logs, desc="explaining", unit="log"), start=1)]
    changed = [
        not judged(shorter, 0).step_right
        for log, case in zip(tqdm(logs, desc="one line less", unit="log"), cases, strict=True) if case.step_right
        for shorter in without_a_line(log, config.deletions)
    ]  # fmt: skip
    metrics = metrics_of(cases, changed)
    write_results(config.out, metrics, table_of(metrics), config)
    return metrics


def _right(case: JudgedLog) -> bool:
    return bool(case.step_right) and case.kind_right is not False


def metrics_of(cases: Sequence[JudgedLog], changed: Sequence[bool]) -> dict[str, Any]:
    """The six figures, and the logs that are not explained as annotated.

    Args:
        cases: judged logs.
        changed: whether a right answer became a wrong one when a line was deleted.
    """
    known = [case for case in cases if case.step_right is not None]
    sure = [case for case in known if case.found["confidence"] >= 0.9]
    guessed = [case for case in known if case.found["confidence"] < SURE_ENOUGH]
    return {
        "logs": len(cases),
        "step": share_of(bool(case.step_right) for case in known),
        "kind": share_of(case.kind_right for case in cases if case.kind_right is not None),
        "corrections": share_of(case.accepted for case in cases if case.accepted is not None),
        "subgoals": share_of(held for case in cases for held in case.subgoals),
        "right_if_sure": share_of(map(_right, sure)),
        "wrong_if_abstained": share_of(not _right(case) for case in guessed),
        "changed_by_one_line": share_of(changed),
        "failures_called_success": sum(case.found["root_cause"] == "none" and bool(case.step_right is False)
                                       for case in cases),
        "slowest_s": round(max((case.seconds for case in cases), default=0.0), 3),
        "reliability": [
            {"from": low, "to": min(high, 1.0),
             "right": share_of(_right(case) for case in known if low <= case.found["confidence"] < high)}
            for low, high in pairwise(_BINS)
        ],
        "cases": [
            {"id": case.name, "step_right": case.step_right, "kind_right": case.kind_right,
             "correction_refused": case.refused if case.accepted is False else "",
             **{key: case.found[key] for key in ("kind", "steps", "root_cause", "objects", "confidence", "abstained")}}
            for case in cases
        ],
    }  # fmt: skip


_ROWS = {
    "step": "failing step among the annotated ones",
    "kind": "kind of failure",
    "corrections": "correction accepted by the judge",
    "subgoals": "subgoals verified rightly",
    "right_if_sure": "step and kind right at confidence ≥ 0.9",
    "wrong_if_abstained": "wrong where it abstained",
    "changed_by_one_line": "right steps lost when a line is deleted",
}


def table_of(metrics: Mapping[str, Any]) -> str:
    """The figures as tables."""
    rows = [[words, percent_of(metrics[key], 1), metrics[key]["of"]] for key, words in _ROWS.items()]
    rows.append(["failures called success", metrics["failures_called_success"], metrics["logs"]])
    bins = [
        [f"{each['from']:.2f} to {each['to']:.2f}", percent_of(each["right"], 1), each["right"]["of"]]
        for each in metrics["reliability"]
    ]
    wrong = [
        f"- {case['id']}: {case['root_cause']} at {', '.join(case['steps'])}, confidence {case['confidence']}"
        + "".join(f" ({what} differs)" for what in ("kind", "step") if case[f"{what}_right"] is False)
        + (f" (correction: {case['correction_refused']})" if case["correction_refused"] else "")
        for case in metrics["cases"]
        if False in (case["kind_right"], case["step_right"]) or case["correction_refused"]
    ]
    return document(
        markdown_table([f"{metrics['logs']} logs", "share", "of"], rows),
        markdown_table(["confidence", "right", "logs"], bins),
        "\n".join(["Not as annotated:", *wrong]) if wrong else "",
    )


def with_files_named(arguments: Sequence[str]) -> list[str]:
    """The arguments with `files=` before bare file names."""
    files = [each for each in arguments if "=" not in each and Path(each).suffix in (".json", ".jsonl")]
    rest = [each for each in arguments if each not in files]
    return [*([f"files={json.dumps(files)}"] if files else []), *rest]


if __name__ == "__main__":
    sys.argv[1:] = with_files_named(sys.argv[1:])
    run("foreign_logs", ForeignLogsConfig, measure)

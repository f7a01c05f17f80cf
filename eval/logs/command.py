"""`python -m eval.logs FILE.jsonl`: accuracy of explained logs against their annotations."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from eval.common.output import write_results
from eval.common.tables import document, markdown_table, percent
from eval.logs.household_world import conditions_of, judge, world_at_the_end
from eval.logs.measuring import figures, fitted, measured, reliability_of, reliability_table, results, tables
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.logs import HouseholdLog, LogExplanation, explain_log, read_logs, report_of
from nsrecover.explanation.logs.confidence import FITTED, chance_of, readable


@dataclass
class LogsConfig:
    """Explain logs of other robots and compare the explanations with annotations of people.

      python -m eval.logs FILE.jsonl                 every log of the file; some milliseconds each
      python -m eval.logs file=runs.jsonl out=DIR    the same, outputs exactly in DIR
      python -m eval.logs generated=true out=DIR     generated logs; continues what DIR/runs has
      python -m eval.logs fit=true count=600 others=300 seed=7   fit the confidence

    A line is a JSON object with task, plan, success_state, event_summary, subgoal_summary and final_state (see
    docs/logs.md), and for the comparison truth: {kind: execution | planning, steps: [mm:ss, ...]}. Corrections are
    judged in a symbolic household that shares no code with the planner. Writes metrics.json and table.md to out=DIR.

    Attributes:
        file: file of logs in REFLECT's text format, one per line; those with a field `truth` are compared with it.
        generated: measure generated logs of held-out tasks and wordings instead of a file.
        count: generated logs of middle strength of observation errors.
        others: generated logs of each other strength.
        ablated: generated logs of middle strength for each ablation, the first ones; 0 for none.
        seed: of the generated logs.
        fit: fit the confidence on generated logs of the development tasks and wordings, and write it into the package.
        wide: generated logs with rates of error drawn for each, to fit on.
        foreign: files of annotated logs by others, to fit on as well.
        out: output folder.
    """

    file: str | None = None
    out: str = "outputs/logs"
    generated: bool = False
    count: int = 1000
    others: int = 150
    ablated: int = 60
    seed: int = 2026
    fit: bool = False
    wide: int = 300
    foreign: list[str] = field(default_factory=list)


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


def metrics_of(cases: Sequence[JudgedLog]) -> dict[str, Any]:
    """Return the contents of metrics.json; None for missing annotations."""
    verdicts = [verdict for case in cases for verdict in case.subgoals]
    slowest = max((case.seconds for case in cases), default=0.0)
    return {
        "logs": len(cases),
        "kind": _share([case.kind_right for case in cases]),
        "step": _share([case.step_right for case in cases]),
        "correction_accepted": _share([case.accepted for case in cases]),
        "subgoal_verification": _share(verdicts),
        "text_verified": _share([case.found["text_agrees"] for case in cases]),
        "root_causes": dict(Counter(case.found["root_cause"] for case in cases)),
        "slowest_s": round(slowest, 4),
        "cases": [
            {
                "id": case.name,
                "kind_right": case.kind_right,
                "step_right": case.step_right,
                "correction_accepted": case.accepted,
                "correction_refused": case.refused,
                **{key: case.found[key] for key in ("kind", "steps", "root_cause", "objects", "text", "correction")},
            }
            for case in cases
        ],
    }


def _share(answers: Sequence[bool | None]) -> dict[str, Any] | None:
    known = [answer for answer in answers if answer is not None]
    if not known:
        return None
    return {"right": sum(known), "of": len(known), "fraction": round(sum(known) / len(known), 4)}


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table."""
    rows = {
        "failing step among the annotated ones": "step",
        "kind of failure": "kind",
        "correction accepted by the judge": "correction_accepted",
        "subgoals verified rightly": "subgoal_verification",
        "text agrees with what was found": "text_verified",
    }
    found = []
    for words, key in rows.items():
        share = metrics[key]
        cells = ["not annotated", "", ""]
        if share:
            cells = [share["right"], share["of"], percent(share["fraction"], digits=1)]
        found.append([words, *cells])
    wrong = [
        f"- {case['id']}: {case['root_cause']} at {', '.join(case['steps'])}"
        + (" (kind differs)" if case["kind_right"] is False else "")
        + (" (step differs)" if case["step_right"] is False else "")
        + (f" (correction: {case['correction_refused']})" if case["correction_accepted"] is False else "")
        for case in metrics["cases"]
        if False in (case["kind_right"], case["step_right"], case["correction_accepted"])
    ]
    table = markdown_table([f"{metrics['logs']} logs", "right", "of", ""], found)
    return document(table, "\n".join(["Not as annotated:", *wrong]) if wrong else "")


def measure(config: LogsConfig) -> dict[str, Any]:
    """Explain every log of a file and write metrics and table.

    Raises:
        NsrecoverError: no file was given, or it cannot be read.
    """
    if config.fit:
        return _fit(config)
    if config.generated:
        found = measured(Path(config.out) / "runs", config.count, config.others, config.ablated, config.seed)
        write_results(config.out, found, tables(found), config)
        figures(found, Path(config.out))
        return found
    if config.file is None:
        raise InvalidConfiguration(
            "expected a file of logs, found none; run python -m eval.logs FILE.jsonl, or generated=true"
        )
    logs = read_logs(Path(config.file))
    cases = [judged(log, number) for number, log in enumerate(tqdm(logs, unit="log", desc="explaining"), start=1)]
    metrics = metrics_of(cases)
    write_results(config.out, metrics, table_of(metrics), config)
    return metrics


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


def _fit(config: LogsConfig) -> dict[str, Any]:
    """Fit the confidence on logs of the development tasks and wordings, and write its weights."""
    folder = Path(config.out) / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"middle": config.count, "strong": config.others, "light": config.others, "wide": config.wide}
    rows = [
        row
        for strength, count in parts.items()
        for row in results(folder / f"fit-{strength}.jsonl", count, config.seed, strength, held_out=False)
    ]
    foreign = [_row(log) for path in config.foreign for log in read_logs(Path(path))]
    made = (
        f"python -m eval.logs fit=true count={config.count} others={config.others} wide={config.wide} "
        f"seed={config.seed} foreign=[{','.join(config.foreign)}]"
    )
    found = {"weights": fitted([*rows, *foreign]), "logs": len(rows) + len(foreign), "made_with": made}
    FITTED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = found | left_out(rows, foreign)
    write_results(config.out, kept, reliability_table(kept) if foreign else made, config)
    return found


def with_file_named(arguments: list[str]) -> list[str]:
    """Return the arguments with `file=` before a bare file name."""
    return [
        f"file='{each}'" if number == 0 and "=" not in each and not each.startswith("-") else each
        for number, each in enumerate(arguments)
    ]

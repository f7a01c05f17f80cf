"""Files of annotated logs, and lists of traces with their truth."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from eval.logs.judging import annotated
from nsrecover.logs.readers.common import action_of, goal_of
from nsrecover.logs.reading import raw_logs
from nsrecover.logs.trace import EventPhase, RawTrace

LISTED = "truth.jsonl"
"""Name of a list of traces in several formats: their files, in the folder `traces` beside it, with their truth."""


@cache
def logs_in(path: str) -> tuple[RawTrace, ...]:
    """The annotated logs of a file, or of a list of traces."""
    if Path(path).name == LISTED:
        return tuple(map(partial(_listed, Path(path).parent), Path(path).read_text(encoding="utf-8").splitlines()))
    return tuple(annotated(log) for log in raw_logs(Path(path)))


def _listed(folder: Path, line: str) -> RawTrace:
    """The trace that a line of a list names, with its truth; a goal that the trace lacks is that of the line."""
    truth = json.loads(line)
    (log,) = raw_logs(folder / "traces" / truth["file"])
    step = action_of(truth["step"] or "")
    ended = [event for event in log.events if event.action is not None and event.phase is EventPhase.ENDED]
    ends = [event for event in ended if event.action == step] or [
        event for event in ended if event.action is not None and event.action.operator.lower() == step.operator.lower()
    ]
    causes = [truth["kind"], *truth["kinds_also_right"]]
    known = {"causes": causes, "steps": [event.time for event in ends] if truth["failed"] else []}
    goal = log.goal if truth["goal_in_file"] else goal_of(truth["goal"])
    return replace(log, goal=goal, extra={**log.extra, "id": truth["file"], "truth": known})

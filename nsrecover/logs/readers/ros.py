"""Logs of ROS 2 nodes: what action servers and clients print about goals.

[INFO] [1700000000.123456789] [task_executor]: Executing pick(cube)
[ERROR] [1700000004.5] [task_executor]: pick(cube) failed: grasp lost
"""

from __future__ import annotations

import re

from nsrecover.logs.readers.common import action_of, claims_of, ended, goal_of, result_of, seconds_of, timed
from nsrecover.logs.trace import EventPhase, RawTrace, StepResult, TraceEvent

NAME, NEEDS = "ROS 2 logs", "lines such as `[INFO] [time] [node]: Executing pick(cube)` and `… failed: why`"
_LINE = re.compile(r"^(?:\[[\w.-]+\]\s+)?\[(DEBUG|INFO|WARN|ERROR|FATAL)\]\s+\[([\d.]+)\]\s+\[([\w./-]+)\]:?\s*(.*)$")
_BEGIN = re.compile(
    r"^(?:received|accepted|executing|starting|started|begin|beginning|sending|sent|new|running)\b"
    r"(?:\s+(?:a|new|goal|action|skill|step|request|the|for|task)\b)*(?:\s*\d+(?:/\d+)?)?\s*[:\-]?\s*(.+)$",
    re.IGNORECASE,
)
_END = re.compile(
    r"^(.*?)\s*\b(?:was |has |is |finished with status |finished with |result:? |status:? )?"
    r"(succeeded|success|completed|done|failed|failure|aborted|canceled|cancelled|timed out)\b\W*(.*)$", re.IGNORECASE,
)  # fmt: skip
_FACT = re.compile(r"((?:not )?[\w-]+\([\w ,.-]+\))(?:\s*[=:]?\s*(true|false)\b)?", re.IGNORECASE)
_TOLD = re.compile(rf"(?:{_FACT.pattern}[,;. ]*)+", re.IGNORECASE)
_WHOLE = re.compile(r"^(?:the )?(?:task|mission|plan|behavior tree|bt|overall)(?: execution)?$", re.IGNORECASE)


def fits(text: str) -> bool:
    """Whether most lines are those of a node."""
    lines = [line for line in text.splitlines() if line.strip()]
    return sum(bool(_LINE.match(line)) for line in lines) >= max(1, len(lines) // 2)


def read(text: str, where: str) -> RawTrace:
    """A trace from such a log; lines that say nothing about a goal are left out."""
    events, now, result, goal = list[TraceEvent](), None, StepResult.UNKNOWN, ""
    unread = list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        found = _LINE.match(line)
        if not found:
            if line.strip():
                unread.append(f"line {number}: expected '[INFO] [time] [node]: …', found {line.strip()[:60]!r}")
            continue
        time, said = seconds_of(found[2], number), found[4].strip()
        facts = [claim for part, value in _FACT.findall(said) for claim in claims_of(f"{part}={value or 'true'}")]
        if task := re.match(r"(?:task )?goal\s*(?:state|condition)?\s*:\s*(.+\(.+)$", said, re.IGNORECASE):
            goal = task[1]
        elif facts and re.search(r"\b(?:true|false)\b", said, re.IGNORECASE) and _TOLD.fullmatch(said):
            events.append(TraceEvent(time, now, claims=tuple(facts), text=line))
        elif (begin := _BEGIN.match(said)) and not _END.match(said):
            now = action_of(_bare(begin[1]))
            events.append(TraceEvent(time, now, EventPhase.BEGUN, text=line))
        elif end := _END.match(said):
            about, how, why = _bare(end[1]), result_of(end[2].replace("timed out", "timeout")), end[3]
            if _WHOLE.match(about):
                result = how
                continue
            step = now if not about or about.lower() in ("goal", "action", "skill", "step", "it") else action_of(about)
            if step is not None:
                events.append(ended(step, how, time, why))
                now = None
        elif facts or ("message" not in said and (found[1] in ("WARN", "ERROR") or "sound" in said)):
            # What goes wrong meanwhile is heard.
            events.append(TraceEvent(time, now, claims=tuple(facts), heard=() if facts else (said.lower(),), text=line))
    return RawTrace(events=timed(events), goal=goal_of(goal), result=result, unread=tuple(unread))


def _bare(text: str) -> str:
    """A text without the words around an action."""
    return re.sub(r"(?i)^(?:goal|action|skill|step)\b\s*(?:\d+(?:/\d+)?)?\s*[:\-]?\s*", "", text.strip()).strip(
        " .:'\""
    )

"""Behaviour trees: transitions of BehaviorTree.CPP's loggers, and ticks of py_trees as text.

[1700000000.412]: PickCube                  RUNNING -> FAILURE
--> Pick cube [x] -- gripper is empty
"""

from __future__ import annotations

import re

from nsrecover.logs.readers.common import action_of, ended, result_of, seconds_of, timed
from nsrecover.logs.readers.steps import goal_of
from nsrecover.logs.trace import EventPhase, RawTrace, StepResult, TraceEvent

NAME = "behaviour trees (BehaviorTree.CPP, py_trees)"
NEEDS = "lines such as `[12.3]: PickCube RUNNING -> FAILURE` or `--> Pick cube [x] -- why`"
_STATUS = r"(?:Status\.)?(IDLE|INVALID|RUNNING|SUCCESS|FAILURE|SKIPPED)"
_ARROW = re.compile(
    rf"^(?:.*?\[?(\d[\d.:]*)\]?:?\s+)?(?:\[?DEBUG\]?\s*)?(\S.*?)\s*[:.\[(]*\s*(?:terminate\()?\[?{_STATUS}\]?\s*->\s*\[?{_STATUS}"
    r"\]?\)?(?:\s*(?:--|:|\|)\s*(.*))?$"
)
_TICK = re.compile(r"^(\s*)(\S+)\s+(.+?)\s+\[([✓✕xo*-])\](?:\s*--\s*(.*))?\s*$")
_MARKS = {"✓": StepResult.SUCCEEDED, "o": StepResult.SUCCEEDED, "✕": StepResult.FAILED, "x": StepResult.FAILED}
_CONTROL = re.compile(
    r"^(?:sequence|fallback|selector|parallel|root|main|retry|repeat|inverter|decorator|reactive|pipeline"
    r"|timeout|rate|force|subtree|recovery|keep running|delay|oneshot|eternal|task|mission)",
    re.IGNORECASE,
)
_HEADER = re.compile(r"-{3,}.*?(?:tick|run)\s*(\d+)", re.IGNORECASE)


def fits(text: str) -> bool:
    """Whether most lines are transitions or ticks."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = sum(bool(_ARROW.match(line) or _TICK.match(line) or _HEADER.match(line)) for line in lines)
    return found >= 2 and found >= 0.4 * len(lines)


def read(text: str, where: str) -> RawTrace:
    """A trace from the text of such a log: the ends of leaves that act."""
    events, unread, tick, result = list[TraceEvent](), list[str](), 0, StepResult.UNKNOWN
    goal, last = "", dict[str, StepResult]()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            tick = int(header[1])
            continue
        if said := re.match(r"^\W*goal\s*[:=]\s*(.+)$", line, re.IGNORECASE):
            goal = said[1]
            continue
        arrow, leaf = _ARROW.match(line), _TICK.match(line)
        if arrow:
            time, name, _, now, message = arrow.groups()
            found = result_of(now)
            if _CONTROL.match(name):
                result = found or result
                events += [TraceEvent(seconds_of(time, number))] if not events else []
            elif now == "RUNNING":
                events.append(TraceEvent(seconds_of(time, number), action_of(name), EventPhase.BEGUN))
            elif found is not StepResult.UNKNOWN:
                events.append(ended(action_of(name), found, seconds_of(time, number), message or ""))
        elif leaf:
            indent, kind, name, mark, message = leaf.groups()
            found = _MARKS.get(mark, StepResult.UNKNOWN)
            if "->" not in kind and kind not in ("--", "→"):
                result = found if not indent else result
            elif found is not StepResult.UNKNOWN and last.get(name) is not found:
                events.append(ended(action_of(name), found, seconds_of("", tick or number), message or ""))
            last[name] = found
        elif line.strip():
            unread.append(f"line {number}: expected a transition or a tick, found {line.strip()[:60]!r}")

    return RawTrace(events=timed(events), goal=goal_of(goal), result=result, unread=tuple(unread))

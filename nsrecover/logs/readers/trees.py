"""Behaviour trees: transitions of BehaviorTree.CPP's loggers, and ticks of py_trees as text.

[1700000000.412]: PickCube                  RUNNING -> FAILURE
--> Pick cube [x] -- gripper is empty
"""

from __future__ import annotations

import re

from nsrecover.core.actions import Action
from nsrecover.logs.readers.common import action_of, checked, ended, goal_of, result_of, seconds_of, timed
from nsrecover.logs.trace import EventPhase, RawTrace, StepResult, TraceEvent

NAME = "behaviour trees (BehaviorTree.CPP, py_trees)"
NEEDS = "lines such as `[12.3]: PickCube RUNNING -> FAILURE` or `--> Pick cube [x] -- why`"
_STATUS = r"(?:Status\.)?(IDLE|INVALID|RUNNING|SUCCESS|FAILURE|SKIPPED)"
_ARROW = re.compile(
    rf"^(?:.*?\[?(\d[\d.:]*)\]?:?\s+)?(?:\[?DEBUG\]?\s*)?(\S.*?)\s*[:.\[(]*\s*(?:terminate\()?\[?{_STATUS}\]?\s*->\s*\[?{_STATUS}"
    r"\]?\)?(?:\s*(?:--|:|\|)\s*(.*))?$"
)
_TICK = re.compile(r"^(\s*)(\S+)\s+(.+?)\s+\[([✓✕xo*-])\](?:\s*--\s*(.*))?\s*$")
_MARKS = {"✓": "success", "o": "success", "✕": "failure", "x": "failure"}
_CONTROL = re.compile(
    r"^(?:sequence|fallback|selector|parallel|root|main|retry|repeat|inverter|decorator|reactive|pipeline"
    r"|timeout|rate|force|subtree|recover|keep ?running|delay|oneshot|eternal|task|mission)", re.IGNORECASE,
)  # fmt: skip
_HEADER = re.compile(r"-{3,}.*?(?:tick|run)\s*(\d+)", re.IGNORECASE)
_GOAL = re.compile(r"^\W*goal\s*[:=]\s*(.+)$", re.IGNORECASE)


def fits(text: str) -> bool:
    """Whether most lines are transitions or ticks."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = sum(bool(_ARROW.match(line) or _TICK.match(line) or _HEADER.match(line)) for line in lines)
    return found >= 2 and found >= 0.4 * len(lines)


def _inner(arrows: list[re.Match[str]]) -> set[str]:
    """Nodes that have others inside: something else begins while they run."""
    found, under_way = set[str](), list[str]()
    for _, name, before, now, _ in (each.groups() for each in arrows):
        if now == "RUNNING":
            found |= set(under_way) - {name}
            under_way.append(name)
        elif before == "RUNNING" and name in under_way:
            under_way.remove(name)
    return found


def read(text: str, where: str) -> RawTrace:
    """A trace from the text of such a log: the ends of leaves that act, and what leaves that look find."""
    events, unread, tick, result = list[TraceEvent](), list[str](), 0, StepResult.UNKNOWN
    goal, last, plan = "", dict[str, StepResult](), list[Action]()
    inner = _inner([arrow for line in text.splitlines() if (arrow := _ARROW.match(line))])
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            tick = int(header[1])
        elif said := _GOAL.match(line):
            goal = said[1]
        elif arrow := _ARROW.match(line):
            time, name, _, now, message = arrow.groups()
            found = result_of(now)
            if _CONTROL.match(name) or name in inner:
                result = found or result
                events += [TraceEvent(seconds_of(time, number))] if not events else []
            elif now == "RUNNING":
                events.append(TraceEvent(seconds_of(time, number), action_of(name), EventPhase.BEGUN))
            elif found is not StepResult.UNKNOWN:
                events.append(_end(name, found, seconds_of(time, number), message))
            elif now == "SKIPPED":
                plan = [
                    *(plan or (event.action for event in events if event.phase is EventPhase.ENDED)),
                    action_of(name),
                ]
        elif leaf := _TICK.match(line):
            indent, marker, name, mark, message = leaf.groups()
            found = result_of(_MARKS.get(mark, ""))
            if "->" not in marker and marker not in ("--", "→"):
                result = found if not indent else result
            elif found is not StepResult.UNKNOWN and last.get(name) is not found:
                events.append(_end(name, found, seconds_of("", tick or number), message))
            last[name] = found
        elif line.strip():
            unread.append(f"line {number}: expected a transition or a tick, found {line.strip()[:60]!r}")
    return RawTrace(
        plan=tuple(filter(None, plan)), events=timed(events), goal=goal_of(goal), result=result, unread=tuple(unread)
    )


def _end(name: str, result: StepResult, time: str, message: str | None) -> TraceEvent:
    claim = checked(name, result)
    return ended(action_of(name), result, time, message or "") if claim is None else TraceEvent(time, claims=(claim,))

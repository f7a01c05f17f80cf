"""Tables of facts: CSV with a time and an action, a fact, or both in each row.

time,action,result,fact,holds,certainty
1.0,pick(cube),succeeded,,,
1.0,,,holding(cube),true,0.9
"""

from __future__ import annotations

import csv
import io

from nsrecover.logs.readers.common import action_of, claims_of, ended, name_of, result_of, seconds_of, timed
from nsrecover.logs.readers.steps import goal_of
from nsrecover.logs.trace import FactClaim, RawTrace, TraceEvent

NAME, NEEDS = "tables of facts (CSV)", "a header with `time` and `action` or `fact`"
_COLUMNS = {
    "time": ("time", "t", "timestamp", "stamp"),
    "action": ("action", "step", "skill", "event"),
    "result": ("result", "status", "outcome", "success"),
    "fact": ("fact", "predicate", "state", "proposition", "variable"),
    "holds": ("holds", "value", "truth", "true"),
    "sure": ("certainty", "confidence", "probability", "sure"),
    "message": ("message", "error", "reason"),
    "goal": ("goal",),
}
_OBJECTS = ("subject", "object", "object1", "object2", "arg1", "arg2", "arg3", "args")


def _header(text: str) -> dict[str, str]:
    names = next(csv.reader(io.StringIO(text)), [])
    low = {name.strip().lower(): name for name in names}
    return {key: low[word] for key, words in _COLUMNS.items() for word in reversed(words) if word in low}


def fits(text: str) -> bool:
    """Whether the first line names a time, and actions or facts."""
    found = _header(text.strip().splitlines()[0] + "\n") if text.strip() else {}
    return "time" in found and bool({"action", "fact"} & found.keys())


def read(text: str, where: str) -> RawTrace:
    """A trace from such a table."""
    columns, events, unread, goal = _header(text), list[TraceEvent](), list[str](), ""
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        cell = {key: (row.get(name) or "").strip() for key, name in columns.items()}
        terms = [name_of(value) for name, value in row.items() if name and value and name.strip().lower() in _OBJECTS]
        time, goal = seconds_of(cell.get("time"), number), goal or cell.get("goal", "")
        claims, said = list[FactClaim](), cell.get("fact", "")
        if said:
            holds = cell.get("holds", "").lower() not in ("false", "0", "no", "f")
            sure = float(cell["sure"]) if cell.get("sure") else 1.0
            found = [FactClaim(((said, *terms),))] if terms and "(" not in said else list(claims_of(said))
            claims = [FactClaim(each.facts, each.holds == holds, sure) for each in found]
            unread += [] if found else [f"line {number}: expected a fact such as in(ball, crate), found {said[:60]!r}"]
        if cell.get("action"):
            step = action_of(cell["action"], () if said else terms)
            events.append(ended(step, result_of(cell.get("result", "")), time, cell.get("message", ""), claims))
        elif claims and events and events[-1].time == time:
            events[-1] = TraceEvent(time, events[-1].action, events[-1].phase, events[-1].result, events[-1].message,
                                    (*events[-1].claims, *claims))  # fmt: skip
        elif claims:
            events.append(TraceEvent(time, claims=tuple(claims)))
    return RawTrace(events=timed(events), goal=goal_of(goal), unread=tuple(unread))

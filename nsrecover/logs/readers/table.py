"""Tables of facts: CSV with a time and an action, a fact, or both in each row.

time,action,result,fact,holds,certainty
1.0,pick(cube),succeeded,,,
1.0,,,holding(cube),true,0.9
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from nsrecover.logs.readers.common import (
    action_of,
    claims_of,
    ended,
    goal_of,
    name_of,
    result_of,
    seconds_of,
    timed,
    words,
)
from nsrecover.logs.trace import FactClaim, RawTrace, StepResult, TraceEvent

NAME, NEEDS = "tables of facts (CSV)", "a header with `time` and `action` or `fact`"
_COLUMNS = {
    "time": "time t timestamp stamp",
    "action": "action step skill event",
    "result": "result status outcome success",
    "fact": "fact predicate state proposition variable",
    "holds": "holds value truth true",
    "sure": "certainty confidence probability sure",
    "message": "message error reason",
    "goal": "goal",
}
_OBJECTS = words("subject object object1 object2 arg1 arg2 arg3 args")


def _rows(text: str) -> csv.DictReader[str]:
    head = text.lstrip().partition("\n")[0]
    return csv.DictReader(io.StringIO(text.lstrip()), delimiter=max(",;\t|", key=head.count))


def _header(rows: csv.DictReader[str]) -> dict[str, str]:
    low = {name.strip().lower(): name for name in rows.fieldnames or ()}
    return {key: low[word] for key, words in _COLUMNS.items() for word in reversed(words.split()) if word in low}


def fits(text: str) -> bool:
    """Whether the first line names a time, and actions or facts."""
    found = _header(_rows(text))
    return "time" in found and bool({"action", "fact"} & found.keys())


def read(text: str, where: str) -> RawTrace:
    """A trace from such a table."""
    rows, events, unread, goal = _rows(text), list[TraceEvent](), list[str](), ""
    columns = _header(rows)
    for number, row in enumerate(rows, start=2):
        cell = {key: (row.get(name) or "").strip() for key, name in columns.items()}
        terms = [name_of(value) for name, value in row.items() if name and value and name.strip().lower() in _OBJECTS]
        time, goal, said = seconds_of(cell.get("time"), number), goal or cell.get("goal", ""), cell.get("fact", "")
        claims = tuple(_claims(said, terms, cell)) if said else ()
        if said and not claims and "=" not in said:  # numbers are no facts
            unread.append(f"line {number}: expected a fact such as in(a, b), found {said[:60]!r}")
        if cell.get("action"):
            step = action_of(cell["action"], () if said else terms)
            events.append(ended(step, result_of(cell.get("result", "")), time, cell.get("message", ""), claims))
        elif claims and events and events[-1].time == time:
            events[-1] = replace(events[-1], claims=(*events[-1].claims, *claims))
        elif claims:
            events.append(TraceEvent(time, claims=claims))
    return RawTrace(events=timed(events), goal=goal_of(goal), unread=tuple(unread))


def _claims(said: str, terms: list[str], cell: dict[str, str]) -> list[FactClaim]:
    holds = result_of(cell.get("holds") or "true") is not StepResult.FAILED
    sure = float(cell["sure"]) if cell.get("sure", "").replace(".", "").isdigit() else 1.0
    found = [FactClaim(((said, *terms),))] if terms and "(" not in said else list(claims_of(said))
    return [FactClaim(each.facts, each.holds == holds, sure) for each in found]

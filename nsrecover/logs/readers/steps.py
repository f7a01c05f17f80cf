"""Results of steps as JSON: an object with a list of steps, a list of steps, or a step a line; and TEACh's episodes.

{"task": "…", "goal": ["in(ball, crate)"], "steps": [{"action": "pick(ball)", "status": "succeeded", "time": 4.1,
"error": "", "state": {"in(ball, crate)": false}}]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nsrecover.core.facts import StateFact
from nsrecover.logs.readers.common import action_of, claims_of, ended, fact_of, result_of, seconds_of, timed
from nsrecover.logs.trace import RawTrace, StepResult, TraceEvent
from nsrecover.util.untrusted_json import Parsed

NAME, NEEDS = "results of steps (JSON)", "a list `steps` (or `actions`, `events`), each with an action and a status"
_LISTS = (
    "steps",
    "actions",
    "events",
    "trace",
    "log",
    "results",
    "execution",
    "interactions",
    "transitions",
    "history",
)
_ACTION = ("action", "skill", "step", "name", "node", "behavior", "behaviour", "operator", "action_name", "task")
_ARGUMENTS = ("args", "arguments", "parameters", "params", "objects", "object", "target", "oid", "obj")
_STATUS = (
    "status",
    "result",
    "success",
    "outcome",
    "succeeded",
    "current",
    "new_status",
    "goal_status",
    "lastActionSuccess",
)
_MESSAGE = (
    "error",
    "message",
    "reason",
    "feedback",
    "error_message",
    "feedback_message",
    "detail",
    "errorMessage",
    "info",
)
_TIME = ("end", "end_time", "t_end", "time", "timestamp", "t", "stamp", "finished_at", "time_start")
_STATE = ("state", "facts", "observation", "observations", "state_after", "after", "world", "predicates", "perception")


def _first(given: Mapping[str, Parsed], keys: Sequence[str]) -> Parsed:
    return next((given[key] for key in keys if key in given and given[key] is not None), None)


def fits(document: Parsed) -> bool:
    """Whether a document has steps with actions."""
    steps = _steps(document)
    return bool(steps) and all(isinstance(each, Mapping) and _first(each, _ACTION) is not None for each in steps[:3])


def _steps(document: Parsed) -> list[Parsed]:
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        return []
    if document.get("tasks"):  # an episode of TEACh
        episodes = document["tasks"][0].get("episodes", [{}])
        return [each for each in episodes[0].get("interactions", []) if each.get("agent_id", 1) == 1]
    return next((document[key] for key in _LISTS if isinstance(document.get(key), list)), [])


def goal_of(given: Parsed) -> tuple[StateFact, ...] | str:
    """A goal: facts if all of it are facts, else a text."""
    parts = given if isinstance(given, list) else str(given or "").replace(" and ", ";").replace("&", ";").split(";")
    facts = [(tuple(map(str, each)), True) if isinstance(each, list) else fact_of(str(each)) for each in parts if each]
    if facts and all(fact is not None for fact in facts):
        return tuple(fact[0] if fact[1] else ("not", *fact[0]) for fact in facts if fact is not None)
    return " and ".join(map(str, given)) if isinstance(given, list) else str(given or "")


def read(document: Parsed, where: str) -> RawTrace:
    """A trace from such a document."""
    head: Mapping[str, Parsed] = document if isinstance(document, Mapping) else {}
    events, unread = [], []
    for number, step in enumerate(_steps(document), start=1):
        given = _first(step, _ACTION) if isinstance(step, Mapping) else None
        if given is None:
            unread.append(f"event {number}: expected an action, found {str(step)[:60]!r}")
            continue
        if str(_first(step, _STATUS)).lower().rpartition(".")[2] in (
            "running",
            "idle",
            "started",
            "executing",
            "begun",
        ):
            continue
        names = _first(step, _ARGUMENTS)
        names = (
            list(names.values())
            if isinstance(names, Mapping)
            else names
            if isinstance(names, list)
            else [names]
            if names
            else []
        )
        message, said = _first(step, _MESSAGE), _first(step, _STATUS)
        result = result_of(said if not isinstance(said, Mapping) else _first(said, _STATUS))
        message = message if message is not None else _first(said, _MESSAGE) if isinstance(said, Mapping) else ""
        events.append(
            ended(action_of(given, names), result, seconds_of(_first(step, _TIME), 1.0 * number), str(message or ""),
                  list(claims_of(_first(step, _STATE))))
        )  # fmt: skip
    plan = tuple(map(action_of, head.get("plan", ()) or ()))
    initial = list(claims_of(_first(head, ("initial_state", "init", "initial", "start_state")) or ()))
    if initial and events:
        events.insert(0, TraceEvent("00:00", claims=tuple(initial)))
    final = list(claims_of(_first(head, ("final_state", "end_state")) or ()))
    last = TraceEvent(events[-1].time, claims=tuple(final)) if final and events else None
    goal = goal_of(_first(head, ("goal", "success_condition", "success_state", "goal_state", "goals")))
    known = {*_LISTS, "task", "plan", "goal"}
    whole = _first(head, ("outcome", "status", "success", "result"))
    return RawTrace(
        str(head.get("task", head.get("instruction", ""))),
        plan,
        timed(events),
        goal,
        final=last,
        result=result_of(whole) if not isinstance(whole, Mapping) else StepResult.UNKNOWN,
        unread=tuple(unread),
        extra={key: value for key, value in head.items() if key not in known},
    )

"""Results of steps as JSON: an object with a list of steps, a list of steps, or a step a line; and TEACh's episodes.

{"task": "…", "goal": ["in(ball, crate)"], "steps": [{"action": "pick(ball)", "status": "succeeded", "time": 4.1,
"error": "", "state": {"in(ball, crate)": false}}]}
"""

from __future__ import annotations

from collections.abc import Mapping

from nsrecover.logs.readers.common import (
    ACTION,
    ARGUMENTS,
    action_of,
    claims_of,
    ended,
    first_of,
    goal_of,
    result_of,
    seconds_of,
    timed,
    values_of,
    words,
)
from nsrecover.logs.trace import RawTrace, StepResult, TraceEvent
from nsrecover.util.untrusted_json import Parsed

NAME, NEEDS = "results of steps (JSON)", "a list `steps` (or `actions`, `events`), each with an action and a status"
_LISTS = words("steps actions events trace log results execution interactions transitions history")
_STATUS = words("status result success outcome succeeded current new_status goal_status lastActionSuccess")
_MESSAGE = words("error message reason feedback error_message feedback_message detail errorMessage info")
_TIME = words("end end_time t_end time timestamp t stamp finished_at time_start")
_STATE = words("state facts observation observations state_after after world predicates perception")
_FIRST, _LAST = words("initial_state init initial start_state"), ["final_state", "end_state"]
_GOAL = words("goal success_condition success_state goal_state goals")
_UNDER_WAY = words("running idle started executing begun")


def fits(document: Parsed) -> bool:
    """Whether a document has steps with actions."""
    steps = _steps(document)
    return bool(steps) and all(isinstance(each, Mapping) and first_of(each, ACTION) is not None for each in steps[:3])


def _steps(document: Parsed) -> list[Parsed]:
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        return []
    if document.get("tasks"):  # an episode of TEACh
        episodes = document["tasks"][0].get("episodes", [{}])
        return [each for each in episodes[0].get("interactions", []) if each.get("agent_id", 1) == 1]
    return next((document[key] for key in _LISTS if isinstance(document.get(key), list)), [])


def _event(step: Mapping[str, Parsed], number: int) -> TraceEvent | None:
    """The end of a step; None if it is still under way."""
    said, message = first_of(step, _STATUS), first_of(step, _MESSAGE)
    if str(said).lower().rpartition(".")[2] in _UNDER_WAY:
        return None
    if isinstance(said, Mapping):
        message = first_of(said, _MESSAGE) if message is None else message
        said = first_of(said, _STATUS)
    return ended(
        action_of(first_of(step, ACTION), values_of(first_of(step, ARGUMENTS))), result_of(said),
        seconds_of(first_of(step, _TIME), 1.0 * number), str(message or ""), list(claims_of(first_of(step, _STATE))),
    )  # fmt: skip


def read(document: Parsed, where: str) -> RawTrace:
    """A trace from such a document."""
    head: Mapping[str, Parsed] = document if isinstance(document, Mapping) else {}
    events, unread = list[TraceEvent](), list[str]()
    for number, step in enumerate(_steps(document), start=1):
        if not isinstance(step, Mapping) or first_of(step, ACTION) is None:
            unread.append(f"event {number}: expected an action, found {str(step)[:60]!r}")
        elif event := _event(step, number):
            events.append(event)
    initial, final = (list(claims_of(first_of(head, keys) or ())) for keys in (_FIRST, _LAST))
    if initial and events:
        events.insert(0, TraceEvent("00:00", claims=tuple(initial)))
    whole = first_of(head, ["outcome", "status", "success", "result"])
    return RawTrace(
        str(head.get("task", head.get("instruction", ""))), tuple(map(action_of, head.get("plan", ()) or ())),
        timed(events), goal_of(first_of(head, _GOAL)),
        final=TraceEvent(events[-1].time, claims=tuple(final)) if final and events else None,
        result=result_of(whole) if not isinstance(whole, Mapping) else StepResult.UNKNOWN, unread=tuple(unread),
        extra={key: value for key, value in head.items() if key not in (*_LISTS, "task", "plan", "goal")},
    )  # fmt: skip

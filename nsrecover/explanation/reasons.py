"""The reason of a recovery in words."""

from __future__ import annotations

from nsrecover.core.recovery import ReasonCode, Recovery
from nsrecover.planning.symbolic.repair import Repair
from nsrecover.util.english import objects

STOPPED = {
    ReasonCode.NODE_BUDGET: "the node budget was used up",
    ReasonCode.TIME_BUDGET: "the time was used up",
    ReasonCode.CANCELLED: "it was cancelled",
}

_SCENE = {
    ReasonCode.MISSING_OBJECTS: "{objects} cannot be found any more, and the plan needs {it}",
    ReasonCode.OUT_OF_REACH: "{objects} {are} out of the robot's reach",
    ReasonCode.NO_ROOM: "there is no room on the table to put {objects} down",
    ReasonCode.BLOCKED_OUT_OF_REACH: "{objects} {are} in the way and out of the robot's reach",
    ReasonCode.BLOCKED_BY_NEWCOMER: "{objects} {are} in the way and {have} appeared only during the run",
    ReasonCode.PRECONDITION_UNMET: "everything is where the plan has it, and still its next action cannot be run",
    ReasonCode.NO_SEQUENCE: "no sequence of moves brings {objects} back to where the plan has {it}",
    ReasonCode.UNACHIEVABLE: "no action brings {objects} into the state that the goal needs any more",
}

_SYMBOLIC = {
    ReasonCode.UNACHIEVABLE: "no action can bring about {facts} any more",
    ReasonCode.CONFLICTING_GOALS: "these facts of the goal exclude each other: {conflicts}",
    ReasonCode.NO_SEQUENCE: "every state that can be reached was searched, and none leads to the goal",
}


def reason_text(found: Recovery[object] | Repair) -> str:
    """Return why there is no way back, or why the search stopped; empty if neither applies.

    Args:
        found: the answer of the recovery planner or of symbolic repair.
    """
    code, blamed, symbolic = found.reason_code, found.blamed, isinstance(found, Repair)
    if isinstance(found, Recovery) and found.note:
        return found.note
    if code is None:
        return ""
    if code in STOPPED:
        way = "no way to the goal" if symbolic else "no way back"
        start = "the search stopped because" if found.found else f"{way} was found before the search stopped:"
        return f"{start} {STOPPED[code]}"
    it, are, have = ("it", "is", "has") if len(blamed) == 1 else ("them", "are", "have")
    template = (_SYMBOLIC if symbolic else _SCENE)[code]
    conflicts = "; ".join(f"{a} and {b}" for a, b in found.conflicts) if isinstance(found, Repair) else ""
    facts = ", ".join(blamed)
    return template.format(objects=objects(blamed), it=it, are=are, have=have, facts=facts, conflicts=conflicts)

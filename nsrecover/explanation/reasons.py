"""The reason of a recovery in words."""

from __future__ import annotations

from nsrecover.core.recovery import ReasonCode, Recovery
from nsrecover.planning.symbolic.repair import Repair
from nsrecover.util.english import Forms, objects

STOPPED = {
    ReasonCode.NODE_BUDGET: "the node limit was reached",
    ReasonCode.TIME_BUDGET: "the time limit was reached",
    ReasonCode.CANCELLED: "it was cancelled",
}

_SCENE = {
    ReasonCode.MISSING_OBJECTS: "{objects} cannot be found, and the plan needs [them]",
    ReasonCode.OUT_OF_REACH: "{objects} [is] out of the robot's reach",
    ReasonCode.NO_ROOM: "there is no room on the table to put {objects} down",
    ReasonCode.BLOCKED_OUT_OF_REACH: "{objects} [is] in the way and out of the robot's reach",
    ReasonCode.BLOCKED_BY_NEWCOMER: "{objects} [is] in the way and appeared only during the run",
    ReasonCode.PRECONDITION_UNMET: "every object is in its place, but the next action cannot be executed",
    ReasonCode.NO_SEQUENCE: "no sequence of actions brings {objects} back to where the plan needs [them]",
    ReasonCode.CONFLICTING_GOALS: "the goals for {objects} exclude each other",
    ReasonCode.UNACHIEVABLE: "no action can bring {objects} into the state that the goal needs",
}

_SYMBOLIC = {
    ReasonCode.UNACHIEVABLE: "no action can achieve {facts}",
    ReasonCode.CONFLICTING_GOALS: "these facts of the goal exclude each other: {conflicts}",
    ReasonCode.NO_SEQUENCE: "every reachable state was searched, and none reaches the goal",
}


def reason_text(found: Recovery[object] | Repair) -> str:
    """Return why there is no recovery, or why the search stopped; empty if neither applies.

    Args:
        found: from the recovery planner or from symbolic repair.
    """
    code, blamed, symbolic = found.reason_code, found.blamed, isinstance(found, Repair)
    if isinstance(found, Recovery) and found.note:
        return found.note
    if code is None:
        return ""
    if code in STOPPED:
        what = "plan to the goal" if symbolic else "recovery"
        start = "the search stopped because" if found.found else f"no {what} was found before the search stopped:"
        return f"{start} {STOPPED[code]}"
    template = Forms.of(blamed or ("",)).agree((_SYMBOLIC if symbolic else _SCENE)[code])
    conflicts = "; ".join(f"{a} and {b}" for a, b in found.conflicts) if isinstance(found, Repair) else ""
    return template.format(objects=objects(blamed), facts=", ".join(blamed), conflicts=conflicts)

"""Plans in PDDL with states, and the output of the validator VAL.

Checking next happening (time 2)
Deleting (holding a)
Adding (on a b)
Plan failed because of unsatisfied precondition in: (stack a b)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from nsrecover.logs.readers.common import action_of, claims_of, ended, fact_of, goal_of
from nsrecover.logs.trace import FactClaim, RawTrace, StepResult, TraceEvent, clock

NAME, NEEDS = "plans in PDDL, output of VAL", "steps such as `1: (stack a b)`, with states or VAL's happenings"
_FACT = r"\([\w-]+(?:\s+[\w.-]+)*\)"
_STEP = re.compile(rf"^\s*(?:\d+(?:\.\d+)?\s*[:.]\s*)?({_FACT})(?:\s*\[[\d.]+\])?\s*(?:[;#].*)?$")
_VAL = re.compile(r"Plan (?:executed|failed|valid|invalid)|next happening|Plan Repair")
_HAPPENS = re.compile(
    r"^\s*(?:(?P<next>Checking next happening)|Plan (?:executed|valid|(?P<failed>failed|invalid|goal not satisfied)))"
)
_CHANGE = re.compile(rf"^\s*(Adding|Deleting)\s+({_FACT})")
_STATE = re.compile(r"^\W*(?:state|init|initial state)\s*\d*\s*[:=]\s*(.+)$", re.IGNORECASE)
_GOAL = re.compile(r"^\W*goal\W*?(?:is|:)?\s*:?\s*(.*\(.*)$", re.IGNORECASE | re.MULTILINE)
_FAILED = re.compile(rf"(?:unsatisfied precondition in|failed[^:]*):?\s*(?:at time [\d.]+)?\s*({_FACT})")
_ADVICE = re.compile(rf"(?:Set|should be|Follow each of)\D*?({_FACT})\s*(?:to )?(true|false)")


def fits(text: str) -> bool:
    """Whether it has steps in brackets, or VAL's words."""
    return bool(_VAL.search(text)) or len([line for line in text.splitlines() if _STEP.match(line)]) >= 2


def read(text: str, where: str) -> RawTrace:
    """A trace from such a text."""
    planned_in = text.partition("Plan Validation details")[0]
    steps = [action_of(found[1]) for line in planned_in.splitlines() if (found := _STEP.match(line))]
    events, happened, before = list[TraceEvent](), list[FactClaim](), set[str]()
    first, planned, under_way = list[TraceEvent](), "next happening" not in text, False

    def end(claims: Iterable[FactClaim], result: StepResult = StepResult.SUCCEEDED) -> TraceEvent:
        return ended(steps[len(events)], result, clock(len(events) + 1), "", list(claims))

    for line in text.splitlines():
        if said := _CHANGE.match(line):
            fact = fact_of(said[2])
            happened += [FactClaim((fact[0],), said[1] == "Adding")] if fact else []
        elif now := _HAPPENS.match(line):
            # What happens without a change is an action, too, unless the plan failed there.
            if (happened or (under_way and not now["failed"])) and len(events) < len(steps):
                events.append(end(happened))
                happened = []
            under_way = now["next"] is not None
        elif state := _STATE.match(line):
            # A state is complete: what it does not have any more does not hold.
            facts = re.findall(_FACT, state[1])
            claims = [*claims_of(facts), *claims_of([f"not {fact}" for fact in sorted(before - set(facts))])]
            before = set(facts)
            if events:
                step = events.pop()
                events.append(ended(step.action or steps[0], StepResult.SUCCEEDED, step.time, "", claims))
            else:
                first = [TraceEvent("00:00", claims=tuple(claims))]
        elif planned and _STEP.match(line):
            events.append(end((), StepResult.UNKNOWN))
    failed, goal = _FAILED.search(text), _GOAL.search(text)
    if failed and len(events) < len(steps) + planned:
        why = "; ".join(f"{fact} should be {value}" for fact, value in _ADVICE.findall(text))
        number = next((n for n, step in enumerate(steps) if step == action_of(failed[1])), len(events))
        events = events[:number]
        events.append(ended(action_of(failed[1]), StepResult.FAILED, clock(len(events) + 1), why or failed[0]))
    lost = re.search(r"Plan (?:failed|invalid)|Goal not satisfied", text)
    won = re.search(r"Plan valid|Successful plans", text)
    result = StepResult.FAILED if lost else StepResult.SUCCEEDED if won else StepResult.UNKNOWN
    wanted = goal_of(re.findall(_FACT, goal[1])) if goal else ""
    return RawTrace("", tuple(steps), (*first, *events), wanted, result=result)

"""Plans in PDDL with states, and the output of the validator VAL.

Checking next happening (time 2)
Deleting (holding a)
Adding (on a b)
Plan failed because of unsatisfied precondition in: (stack a b)
"""

from __future__ import annotations

import re

from nsrecover.core.facts import StateFact
from nsrecover.logs.readers.common import action_of, claims_of, ended, fact_of
from nsrecover.logs.readers.steps import goal_of
from nsrecover.logs.trace import FactClaim, RawTrace, StepResult, TraceEvent, clock

NAME, NEEDS = "plans in PDDL, output of VAL", "steps such as `1: (stack a b)`, with states or VAL's happenings"
_STEP = re.compile(
    r"^\s*(?:\d+(?:\.\d+)?\s*[:.]\s*)?(\([a-zA-Z][\w-]*(?:\s+[\w.-]+)*\))(?:\s*\[[\d.]+\])?\s*(?:[;#].*)?$"
)
_FACT = r"\([\w-]+(?:\s+[\w.-]+)*\)"


def fits(text: str) -> bool:
    """Whether it has steps in brackets, or VAL's words."""
    return (
        bool(re.search(r"Plan (?:executed|failed|valid|invalid)|next happening|Plan Repair", text))
        or len([line for line in text.splitlines() if _STEP.match(line)]) >= 2
    )


def read(text: str, where: str) -> RawTrace:
    """A trace from such a text."""
    steps = [action_of(found[1]) for line in text.splitlines() if (found := _STEP.match(line))]
    goal = re.search(r"^\W*goal\W*?(?:is|:)?\s*:?\s*(.*\(.*)$", text, re.IGNORECASE | re.MULTILINE)
    events, happened, number = list[TraceEvent](), list[FactClaim](), 0
    failed = re.search(rf"(?:unsatisfied precondition in|failed[^:]*):?\s*(?:at time [\d.]+)?\s*({_FACT})", text)
    advice = re.findall(rf"(?:Set|should be|Follow each of)\D*?({_FACT})\s*(?:to )?(true|false)", text)
    start = list[FactClaim]()
    for line in text.splitlines():
        if said := re.match(rf"^\s*(Adding|Deleting)\s+({_FACT})", line):
            fact = fact_of(said[2])
            happened += [FactClaim((fact[0],), said[1] == "Adding")] if fact else []
        elif re.match(r"^\s*(?:Checking next happening|Plan (?:executed|failed|valid|invalid))", line):
            if happened and number < len(steps):
                events.append(ended(steps[number], StepResult.SUCCEEDED, clock(number + 1), "", happened))
                number, happened = number + 1, []
        elif state := re.match(r"^\W*(?:state|init|initial state)\s*\d*\s*[:=]\s*(.+)$", line, re.IGNORECASE):
            claims = list(claims_of(re.findall(_FACT, state[1])))
            if number == 0 and not events:
                start = claims
            elif events:
                events[-1] = ended(steps[len(events) - 1], StepResult.SUCCEEDED, clock(len(events)), "", claims)
        elif not happened and (found := _STEP.match(line)) and "next happening" not in text:
            events.append(ended(action_of(found[1]), StepResult.UNKNOWN, clock(len(events) + 1)))
    if failed and number < len(steps):
        why = "; ".join(f"{fact} should be {value}" for fact, value in advice)
        events = [*events[:number], ended(action_of(failed[1]), StepResult.FAILED, clock(number + 1), why or failed[0])]
    won = re.search(r"Plan valid|Successful plans|Plan executed successfully - checking goal\s*\n\s*Plan valid", text)
    result = (
        StepResult.SUCCEEDED
        if won
        else StepResult.FAILED
        if re.search(r"Plan (?:failed|invalid)|Goal not satisfied", text)
        else StepResult.UNKNOWN
    )
    wanted: tuple[StateFact, ...] | str = goal_of(re.findall(_FACT, goal[1])) if goal else ""
    first = [TraceEvent("00:00", claims=tuple(start))] if start else []
    return RawTrace("", tuple(steps), (*first, *events), wanted, result=result)

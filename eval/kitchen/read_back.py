"""Reader of explanations of household episodes, and their grading by the fault that the simulator injected.

It knows the words only, not the facts behind a text. A text that it cannot read counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from nsrecover.core.actions import Plan
from sim.kitchen.faults import START, Fault, FaultClass
from sim.kitchen.faults.planning import AddedSteps

_STEP = r"(?:S|s)tep \d+, (?P<action>\w+\([^)]*\)),"
_BEFORE = re.compile(
    rf"(?:Before )?{_STEP} (?:something was not as expected|the scene is already ahead|cannot be done|the plan )"
)
_AFTER = re.compile(
    rf"{_STEP} (?:went wrong|worked, but|could not be done)|"
    rf"After {_STEP.replace('action', 'ahead')} the scene is already"
)
_EVENTS = {
    kind: re.compile(rf"(?:.* (?:wrong:|but|expected:) )?[Tt]he (?P<who>.+?) {words}")
    for kind, words in {
        "missing": "(?:is|are) missing",
        "dropped": "(?:was|were) dropped",
        "not_done": "(?:was|were) not changed by the step",
        "misplaced": "(?:was|were) (?:put in the wrong place|not found)",
        "mistaken": "(?:was|were) mistaken for the ",
        "helped": "(?:is|are) already as (?:it|they) should be",
        "blocking": "(?:is|are) in the way",
        "moved": "(?:(?:has|have) moved|(?:is|are) .+), although no action should have moved",
        "changed": "(?:(?:has|have) changed|(?:is|are) .+), although no action should have changed",
    }.items()
}
_PLAN = {
    "wrong_object": re.compile(r"From step (?P<step>\d+) on, the plan names the (?P<what>.+? instead of .+?)[:.]"),
    "wrong_order": re.compile(r"Step (?P<step>\d+) \((?P<what>[^)]*)\) is out of order"),
    "spoils": re.compile(r"Step (?P<step>\d+) would make the goal unreachable and cannot be undone: (?P<what>[^.]*)"),
    "missing_step": re.compile(r"The plan lacks steps before step (?P<step>\d+) \((?P<what>[^)]*)\)"),
}  # fmt: skip
BEFORE = ""
"""Action of what is seen before an action: it has happened since the action before, or was so from the start."""

KNOWN: Mapping[str, Mapping[str, Collection[str]]] = yaml.safe_load(
    Path(__file__).with_name("causes.yaml").read_text("utf-8")
)
CAUSES = KNOWN["said"]
"""Kind of a fault -> what a right text says has happened; a thing in pieces may also be said to be elsewhere."""


@dataclass(frozen=True)
class ParsedText:
    """What a text says.

    Attributes:
        action: after which something happened; `BEFORE` if it was seen before an action.
        kinds: object -> what happened to it.
        plan: what is said to be wrong with the plan; empty if nothing is.
        step: number of the step of the plan that is said to be wrong, from 1.
        about: what the sentence on the plan names.
    """

    action: str = BEFORE
    kinds: Mapping[str, str] = field(default_factory=dict)
    plan: str = ""
    step: int = 0
    about: str = ""


def read(text: str) -> ParsedText | None:
    """Read the text of an explanation; None if it does not say that something was not as expected."""
    head, *rest = re.split(r"(?<=\.) (?=[A-Z])", text)
    before, after = _BEFORE.match(head), _AFTER.match(head)
    if before is None and after is None:
        return None
    kinds = {
        event["who"]: kind for line in (head, *rest) for kind, form in _EVENTS.items() if (event := form.match(line))
    }
    action = BEFORE if after is None else after["action"] or after["ahead"]
    for line in rest:
        for plan, form in _PLAN.items():
            if said := form.match(line):
                return ParsedText(action, kinds, plan, int(said["step"]), said["what"])
    return ParsedText(action, kinds)


def graded(
    text: str, fault: Fault, plan: Plan, last: str = BEFORE, deviating: Collection[str] = ()
) -> tuple[bool, bool, bool]:
    """Whether a text names the cause of an injected fault, its object, and its step.

    Args:
        text: of the first explanation after the fault struck; empty if there was none.
        fault: that the simulator injected.
        plan: the right plan.
        last: the action that was carried out last before the text was written.
        deviating: the objects that truly deviate then; a text may name those that the fault affects as well.
    """
    parsed = read(text)
    if parsed is None:
        return False, False, False
    action = plan[max(fault.at_step, 0)]
    if fault.fault_class is FaultClass.PLANNING:
        named = {getattr(fault, "old", ""), getattr(fault, "new", "")} - {""} or fault.touched(action)
        spread = len(fault.steps) if isinstance(fault, AddedSteps) else int(fault.kind == "wrong_order")
        steps = range(fault.at_step + 1, fault.at_step + 2 + spread)
        return parsed.plan in CAUSES[fault.kind], all(name in parsed.about for name in named), parsed.step in steps
    touched = fault.touched(action)
    own = [kind for name, kind in parsed.kinds.items() if name in touched]
    when = BEFORE if fault.at_step == START else str(action)
    return (
        any(kind in CAUSES[fault.kind] for kind in own),
        bool(own) and set(parsed.kinds) <= {*touched, *deviating},
        when in (parsed.action, parsed.action or last),
    )

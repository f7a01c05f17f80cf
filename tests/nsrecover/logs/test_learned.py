"""Traces of unknown domains: what their actions do is learned from the trace, and facts decide what happened."""

from __future__ import annotations

from typing import Any

import pytest

from nsrecover.logs import LogExplanation, RootCause, explain_log
from nsrecover.logs.readers import pddl, steps
from nsrecover.logs.trace import RawTrace, TraceEvent
from nsrecover.logs.understanding import understood

BOX, THING, OTHER = "wet cell", "glass rod", "steel rod"
GOAL = [f"submerged({THING}, {BOX})", f"not lidless({BOX})", f"bubbling({BOX})"]
RUN: tuple[tuple[str, dict[str, bool]], ...] = (
    ("glide_to(bay 2)", {"at(robot, bay 2)": True}),
    (f"unlid({BOX})", {f"lidless({BOX})": True}),
    (f"pluck({THING}, holder)", {f"holding({THING})": True, f"in({THING}, holder)": False}),
    ("glide_to(bay 5)", {"at(robot, bay 5)": True}),
    (f"dip({THING}, {BOX})", {f"submerged({THING}, {BOX})": True, f"holding({THING})": False}),
    (f"relid({BOX})", {f"lidless({BOX})": False}),
    (f"aerate({BOX})", {f"bubbling({BOX})": True}),
)
"""A run in words that no table has, in which all goes well."""


def explained(run: list[tuple[str, dict[str, bool]]], failed: str = "", goal: list[str] | str = "") -> LogExplanation:
    """The explanation of a run whose steps are said to have succeeded, but one."""
    document: dict[str, Any] = {
        "goal": goal or GOAL,
        "steps": [
            {
                "action": action,
                "status": "failed" if action == failed else "succeeded",
                "time": 5 * number,
                "state": state,
            }
            for number, (action, state) in enumerate(run, start=1)
        ],
    }
    return explain_log(understood(steps.read(document, "log")))


def changed(*others: tuple[int, dict[str, bool]]) -> list[tuple[str, dict[str, bool]]]:
    """The run with other facts after some steps."""
    states = dict(others)
    return [(action, states.get(number, state)) for number, (action, state) in enumerate(RUN)]


def test_a_run_in_unknown_words_is_a_success() -> None:
    assert explained(list(RUN)).finding.cause is RootCause.NONE


@pytest.mark.parametrize(
    ("run", "cause", "step"),
    [
        (changed((6, {f"bubbling({BOX})": False})), RootCause.ACTION_FAILED, "aerate"),
        (changed((5, {f"lidless({BOX})": True})), RootCause.ACTION_FAILED, "relid"),
        (
            changed((2, {f"holding({OTHER})": True, f"in({THING}, holder)": True}),
                    (4, {f"submerged({OTHER}, {BOX})": True, f"submerged({THING}, {BOX})": False})),
            RootCause.MISTAKEN_OBJECT, "pluck",
        ),
        (
            changed((2, {f"holding({THING})": False, f"in({THING}, holder)": True}),
                    (4, {f"submerged({THING}, {BOX})": False})),
            RootCause.MISSED_GRASP, "pluck",
        ),
        (
            changed((3, {f"holding({THING})": False}), (4, {f"submerged({THING}, {BOX})": False})),
            RootCause.DROPPED, "glide_to",
        ),
        (
            changed((6, {f"bubbling({BOX})": True, f"submerged({THING}, {BOX})": False, f"on({THING}, sill)": True})),
            RootCause.MISPLACED, "aerate",
        ),
    ],
    ids=["silent", "silent lid", "another object", "missed", "dropped on the way", "taken out by somebody"],
)  # fmt: skip
def test_facts_decide_although_every_step_is_said_to_have_succeeded(
    run: list[tuple[str, dict[str, bool]]], cause: RootCause, step: str
) -> None:
    finding = explained(run).finding
    assert (finding.cause, finding.step and finding.step.operator) == (cause, step)


def test_a_step_that_only_works_after_the_next_one_comes_too_early() -> None:
    run = [RUN[0], RUN[2], RUN[3], (RUN[4][0], {f"holding({THING})": True}), RUN[1]]
    finding = explained(run, failed=RUN[4][0]).finding
    assert finding.cause is RootCause.WRONG_ORDER
    assert finding.times[0] == "00:20"


def test_a_further_step_that_undoes_the_goal_is_named() -> None:
    back = (f"pluck({THING}, {BOX})", {f"holding({THING})": True, f"submerged({THING}, {BOX})": False})
    found = explained([*RUN, back])
    assert (found.finding.cause, found.finding.times) == (RootCause.UNDONE_BY_PLAN, ("00:40",))


def test_what_no_step_can_bring_about_is_a_missing_step() -> None:
    assert explained(list(RUN[:-1])).finding.cause is RootCause.MISSING_STEP


def test_an_object_of_the_goal_that_nothing_names_leaves_the_verdict_open() -> None:
    found = explained(list(RUN), goal="the copper rod is in the wet cell")
    assert found.finding.cause is RootCause.UNKNOWN
    assert found.confidence == 0.0
    assert "copper rod" in found.open_question


def test_a_trace_in_which_nothing_ended_is_read() -> None:
    raw = RawTrace(goal=f"the {THING} is in the {BOX}", events=(TraceEvent("00:01", seen=frozenset((THING, BOX))),))
    assert explain_log(understood(raw)).finding.cause is RootCause.UNKNOWN


def test_an_action_that_changes_nothing_is_still_a_step_of_the_plan() -> None:
    text = """Plan to validate:
1:
(ping)
2:
(grip a tray)
3:
(seat a slot)
Checking next happening (time 1)
Checking next happening (time 2)
Adding (holding a)
Checking next happening (time 3)
Deleting (holding a)
Adding (in a slot)
Plan executed successfully - checking goal
"""
    events = pddl.read(text, "plan").events
    assert [event.action and event.action.operator for event in events] == ["ping", "grip", "seat"]

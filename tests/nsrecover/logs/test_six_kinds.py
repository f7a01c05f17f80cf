"""Six kinds of logs by others that led an earlier reader astray, each in two households."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nsrecover.logs import FailureKind, Finding, RootCause, explain_log, log_of

LOGS = Path(__file__).with_name("six_kinds.json")


def explained(kind: str, names: dict[str, str]) -> Finding:
    """The finding for a log with other names; its reason is why it is only a guess."""
    text = json.dumps(json.loads(LOGS.read_text(encoding="utf-8"))[kind])
    for before, after in names.items():
        text = text.replace(before, after)
    explanation = explain_log(log_of(json.loads(text)))
    return replace(explanation.finding, reason=explanation.open_question)


@pytest.mark.parametrize("names", [{}, {"orange": "apple", "lemon": "tomato"}])
def test_a_missed_grasp_after_a_put_without_a_line(names: dict[str, str]) -> None:
    found = explained("LOST_PUT", names)
    assert (found.cause, found.times) == (RootCause.MISSED_GRASP, ("00:24",))
    assert found.objects[0] == names.get("lemon", "lemon")


@pytest.mark.parametrize("names", [{}, {"bread slice": "potato slice"}])
def test_a_running_machine_takes_nothing(names: dict[str, str]) -> None:
    found = explained("RUNNING", names)
    assert found.cause is RootCause.WRONG_ORDER
    assert found.times == ("00:03", "00:11")


@pytest.mark.parametrize("names", [{}, {"tomato": "potato"}])
def test_what_lies_in_the_pan_does_not_belong_to_the_meal(names: dict[str, str]) -> None:
    found = explained("OCCUPIED_PAN", names)
    assert found.kind is FailureKind.PLANNING
    assert found.objects == ("pan", names.get("tomato", "tomato"))


@pytest.mark.parametrize("names", [{}, {"plate": "bowl"}])
def test_what_lies_on_a_dish_is_in_the_way(names: dict[str, str]) -> None:
    found = explained("BLOCKED", names)
    assert (found.cause, found.times[0]) == (RootCause.BLOCKED, "00:05")
    assert found.objects == ("pot", names.get("plate", "plate"))


@pytest.mark.parametrize("names", [{}, {"tomato": "apple"}])
def test_a_hand_that_holds_the_knife_takes_nothing_else(names: dict[str, str]) -> None:
    found = explained("HAND_OCCUPIED", names)
    assert (found.cause, found.times) == (RootCause.MISSING_STEP, ("00:11",))
    assert "knife" in found.objects


@pytest.mark.parametrize("names", [{}, {"pear": "ball"}])
def test_doubled_boxes_are_no_further_things(names: dict[str, str]) -> None:
    found = explained("DOUBLED", names)
    assert (found.cause is RootCause.NEVER_OPENED and found.objects[0] == "drawer") or found.reason

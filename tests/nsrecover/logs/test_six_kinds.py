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


KINDS = {
    "LOST_PUT": ({"orange": "apple", "lemon": "tomato"}, RootCause.MISSED_GRASP, ("00:24",), ("lemon",)),
    "RUNNING": ({"bread slice": "potato slice"}, RootCause.WRONG_ORDER, ("00:03", "00:11"), ("toaster", "bread slice")),
    "BLOCKED": ({"plate": "bowl"}, RootCause.BLOCKED, ("00:05",), ("pot", "plate")),
    "HAND_OCCUPIED": ({"tomato": "apple"}, RootCause.MISSING_STEP, ("00:11",), ("knife", "coffee machine")),
    "OCCUPIED_PAN": ({"tomato": "potato"}, RootCause.OCCUPIED, ("00:05",), ("pan", "tomato")),
}
"""Kind -> other names, and what is found: a grasp that is missed after a put without a line, a machine that runs and
takes nothing, what lies on a dish and in the way, a hand that holds the knife, what is left in the pan.
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("renamed", [False, True])
def test_the_cause_is_found_whatever_things_are_called(kind: str, renamed: bool) -> None:
    others, cause, times, objects = KINDS[kind]
    names = others if renamed else {}
    found = explained(kind, names)
    assert (found.cause, found.times) == (cause, times)
    assert found.objects == tuple(names.get(each, each) for each in objects)
    assert (found.kind is FailureKind.PLANNING) == (kind in ("BLOCKED", "OCCUPIED_PAN"))


@pytest.mark.parametrize("names", [{}, {"pear": "ball"}])
def test_doubled_boxes_are_no_further_things(names: dict[str, str]) -> None:
    found = explained("DOUBLED", names)
    assert (found.cause is RootCause.NEVER_OPENED and found.objects[0] == "drawer") or found.reason

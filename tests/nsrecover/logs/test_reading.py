"""Reading and writing the text format."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from nsrecover.core.actions import Action
from nsrecover.domains.base import Operator
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import normal, same
from nsrecover.errors import InvalidRecording
from nsrecover.language.goals import read_goal
from nsrecover.logs import is_log, log_of, read_logs
from nsrecover.logs.readers.reflect import observation
from nsrecover.logs.readers.words import HouseholdWords, action_in
from nsrecover.logs.trace import FactClaim
from tests.nsrecover.logs.household_logs import told_logs


@pytest.fixture
def document() -> dict[str, Any]:
    return copy.deepcopy(told_logs("tomato")[0].document) | {"id": "run 7"}


def test_unknown_words_are_told() -> None:
    text = "teapot (shiny and turned on), gizmo. teapot is leaning on gizmo. the light flickers. gizmo is near teapot."
    claims, seen, heard, unknown = observation(
        f"Visual observation: {text} Auditory observation: humming.", HouseholdWords()
    )
    assert FactClaim((("running", "teapot"),)) in claims
    assert "shiny" in unknown
    assert "the light flickers" in unknown
    assert (seen, heard) == ({"teapot", "gizmo"}, ("humming",))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("TVStand", "tv stand"),
        ("StoveBurner-2", "second stove burner"),
        ("BreadSliced", "bread slice"),
        ("sliced onion", "onion slice"),
        ("cracked egg", "egg"),
        ("the Coffee Machine", "coffee machine"),
        ("CounterTop-3", "third countertop"),
    ],
)
def test_names_are_written_in_one_way(written: str, meant: str) -> None:
    assert normal(written) == meant


def test_an_ordinal_may_be_left_out_but_not_be_another() -> None:
    assert same("stove burner", "second stove burner")
    assert not same("first stove burner", "second stove burner")


def test_steps_may_be_numbered_or_written_as_calls(document: dict[str, Any]) -> None:
    wanted = Action("put_in", ("jug", "sink"))
    plan = log_of(document | {"plan": ["3. (put_in, jug, sink)", "put_in (Jug, SinkBasin)"]}).plan
    assert plan == (wanted, wanted)
    assert action_in("Put jug inside sink") == wanted
    assert action_in("Polish jug") is None


@pytest.mark.parametrize("operator", HOUSEHOLD.operators.values(), ids=lambda operator: operator.name)
def test_every_operator_of_the_domain_is_read(operator: Operator) -> None:
    words, arguments = operator.words, ("mug", "sink")[: len(operator.parameters)]
    text = (words.logged[1] or words.imperative).format(**dict(zip(("thing", "place"), arguments, strict=False)))
    assert action_in(text.capitalize()) == Action(operator.name, arguments)


def test_one_object_many_lines_or_one_a_line(tmp_path: Path, document: dict[str, Any]) -> None:
    path = tmp_path / "log.txt"
    path.write_text(json.dumps(document, indent=1))
    assert is_log(path)
    (one,) = read_logs(path)
    path.write_text(f"{json.dumps(document)}\n\n{json.dumps(document)}\n")
    assert [log.plan for log in read_logs(path)] == [one.plan, one.plan]
    path.write_bytes(b"PK\x03\x04\x00\xff")
    assert not is_log(path)


@pytest.mark.parametrize(
    ("change", "told_of"),
    [
        ({"plan": None}, "expected a list of lines in 'plan'"),
        ({"plan": ["put_in jug sink"]}, "plan, entry 1: expected a step such as (put_in, pot, sink)"),
        (
            {"event_summary": ["at noon the robot sang"], "subgoal_summary": []},
            "event_summary, line 1: expected 'mm:ss. Action",
        ),
        ({"subgoal_summary": [3]}, "subgoal_summary, entry 1: expected text, found 'int 3'"),
        ({"task": 5}, "expected text in 'task'"),
    ],
)
def test_malformed_logs_are_refused_with_the_place(
    tmp_path: Path, document: dict[str, Any], change: dict[str, Any], told_of: str
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f"{json.dumps(document)}\n{json.dumps(document | change)}\n")
    with pytest.raises(InvalidRecording) as refused:
        read_logs(path)
    assert "log.jsonl, line 2" in str(refused.value)
    assert told_of in str(refused.value)


def test_a_missing_field_and_broken_json_are_named(tmp_path: Path, document: dict[str, Any]) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({key: value for key, value in document.items() if key not in ("plan", "event_summary")}))
    with pytest.raises(InvalidRecording, match=r"found no 'plan' and no 'event_summary'"):
        read_logs(path)
    path.write_text(json.dumps(document, indent=1)[:-40])
    with pytest.raises(InvalidRecording, match=r"line .*expected JSON"):
        read_logs(path)
    path.write_text(f"{json.dumps({'task': 1})}\n{{oops\n")
    with pytest.raises(InvalidRecording, match=r"line 1: expected the fields|line 2: expected a JSON object"):
        read_logs(path)
    with pytest.raises(InvalidRecording, match="expected a log at"):
        read_logs(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        (
            "a saucepan is filled with milk, the saucepan is on top of a stove burner that is turned on.",
            {("filled", "saucepan", "milk"), ("at", "saucepan", "stove burner"), ("running", "stove burner")},
        ),
        ("A pear is heated in the microwave and then put on the desk", {("hot", "pear"), ("at", "pear", "desk")}),
        ("a cup, a plate and a fork are on the desk", {("at", name, "desk") for name in ("cup", "plate", "fork")}),
        ("a mug with tea in it stands on the desk", {("filled", "mug", "tea"), ("at", "mug", "desk")}),
        ("the fridge door is closed", {("closed", "fridge")}),
        ("the house plant has been watered", {("filled", "house plant", "water")}),
    ],
)  # fmt: skip
def test_success_conditions_become_typed(text: str, conditions: set[tuple[str, ...]]) -> None:
    assert set(read_goal(text).conditions) == conditions


def test_what_cannot_be_read_is_listed_and_the_rest_is_used(document: dict[str, Any]) -> None:
    del document["final_state"]
    document["plan"].append("wipe it all")
    events = document["event_summary"]
    events[1:1] = [
        "der Roboter fährt zum Tisch",
        "Action: Move to sink. Visual observation: sink.",
        "00:01. Action: Mo",
    ]
    log = log_of(document)
    assert len(log.plan) == len(document["plan"]) - 1
    assert log.events[1].time == log.events[0].time
    read = " ".join(log.unread)
    for part in ("no field 'final_state'", "plan, entry", "event_summary, line 2: expected", "line 3: no time"):
        assert part in read
    assert log.final == log.events[-1]


def test_states_are_read_from_names_and_in_other_words() -> None:
    claims, *_ = observation(
        "dirty pan, lamp (switched on), jug (holding milk), oven (shut and not running). pan lies in sink.",
        HouseholdWords(),
    )
    said = {(claim.facts[0], claim.holds) for claim in claims}
    assert {(("dirty", "pan"), True), (("running", "lamp"), True), (("filled", "jug", "milk"), True)} <= said
    assert {(("open", "oven"), False), (("running", "oven"), False), (("at", "pan", "sink"), True)} <= said
    goal = read_goal("there is tea in the mug (e.g. the blue one) and the mug has been washed [by hand].")
    assert set(goal.conditions) == {("filled", "mug", "tea"), ("clean", "mug")}

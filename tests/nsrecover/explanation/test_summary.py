"""The three levels of REFLECT's summary of an episode, and its round trip through the text format."""

import json

import pytest

from nsrecover.domains.tabletop.relations import Edge, Relation
from nsrecover.explanation.answers.numbering import clock
from nsrecover.explanation.logs import document_of, log_of
from nsrecover.explanation.summary import summary_of
from tests.nsrecover.explanation.made_episodes import fallen, flawless


def test_written_and_read_back_it_is_the_same_log() -> None:
    for episode in (fallen(), flawless()):
        log = summary_of(episode, task="build a tower").log
        assert log_of(json.loads(json.dumps(document_of(log)))) == log


def test_the_sensory_level_keeps_what_the_plan_names_and_what_touches_it() -> None:
    frames = summary_of(fallen()).sensory
    assert len(frames) == 6
    assert frames[0].objects == ("red cube", "blue cube", "green die")
    assert "white lego" in frames[2].objects  # it stands on the red cube by then
    assert Edge("white lego", Relation.ON, "red cube") in frames[2].edges
    assert [frame.time_s for frame in frames[:3]] == [0.0, 11.0, 24.0]


def test_events_are_in_the_text_format() -> None:
    document = document_of(summary_of(fallen()).log)
    assert document["event_summary"][1].split(". ") == [
        "00:24", "Action: Put green die on blue cube",
        f"Visual observation: {', '.join(('red cube', 'blue cube', 'green die', 'white lego'))}",
        "red cube is on top of table", "blue cube is on top of table", "green die is on top of table",
        "white lego is on top of red cube.",
    ]  # fmt: skip
    assert document["plan"] == ["put_on(blue cube, red cube)", "put_on(green die, blue cube)"]
    assert document["success_state"].endswith("die is on top of the blue cube.")
    assert "white lego" not in document["final_state"]


def test_every_end_of_a_step_is_a_subgoal() -> None:
    log = summary_of(fallen()).log
    assert [frame.text for frame in log.subgoals] == [
        "Put blue cube on red cube",
        "Put green die on blue cube",
        "Set white lego aside",
        "Bring blue cube back",
        "Put green die on blue cube",
    ]
    assert {frame.label for frame in log.subgoals} == {"Goal"}


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "00:00"), (59.9, "00:59"), (67.0, "01:07"), (3725.0, "62:05"), (-3.0, "00:00")]
)
def test_times_are_minutes_and_seconds(seconds: float, text: str) -> None:
    assert clock(seconds) == text

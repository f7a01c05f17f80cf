"""Questions about a run as a whole, as people put them."""

from dataclasses import replace

import pytest

from nsrecover.core.episode import EpisodeStatus
from nsrecover.explanation.answers.questions import KNOWN, ask
from nsrecover.reports.build import report_of
from tests.nsrecover.explanation.made_episodes import fallen

ASKED = {
    "Is it safe to reach in?": "emergency stop",
    "can I put my hands in there": "emergency stop",
    "is this dangerous?": "emergency stop",
    "what are you holding?": "holds nothing",
    "is anything in the gripper?": "holds nothing",
    "what will you do next?": "every action is done",
    "what comes next?": "every action is done",
    "how many steps are left?": "Nothing is left",
    "how long until you are done?": "Nothing is left",
    "did it work?": "completed",
    "are you finished?": "completed",
    "who stopped it?": "Nobody vetoed",
    "did anybody veto that?": "Nobody vetoed",
    "since when?": "After the second step",
    "when did that happen?": "After the second step",
    "which objects are wrong?": "blue cube",
    "how sure are you?": "probability",
    "what is the plan?": "put the blue cube on the red cube",
    "why did the tower fall?": "second step",
    "what's the problem?": "second step",
}


@pytest.mark.parametrize("question", ASKED)
def test_questions_about_the_run_are_understood(question: str) -> None:
    (answer,) = ask(fallen(), [question])
    assert answer.understood
    assert ASKED[question] in answer.text


def test_what_is_said_to_be_understood_is() -> None:
    for question in KNOWN:
        (answer,) = ask(fallen(), [question.format("blue cube")])
        assert answer.understood, question


def test_for_other_questions_the_nearest_are_named() -> None:
    (answer,) = ask(fallen(), ["wherefore art the blue cube?"])
    assert not answer.understood
    assert "where is the blue cube?" in answer.text


def test_a_run_that_goes_on_is_not_said_to_be_done() -> None:
    running = replace(fallen(), status=EpisodeStatus.RUNNING)
    (answer,) = ask(running, ["did it work?"])
    assert answer.text.startswith("The run goes on.")
    report = report_of(running, "a run")
    told = " ".join([report.summary, report.outcome, *(line.text for each in report.answers for line in each.lines)])
    assert "completed" not in told
    assert "the run goes on" in told

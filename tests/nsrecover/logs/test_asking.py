"""Questions about household logs: reasons from what later steps need, and plans without what is asked about."""

import pytest

from nsrecover.logs import FactTrace, explain_log, log_of
from nsrecover.logs.correction import correct
from nsrecover.logs.questions import ask_log
from nsrecover.logs.run import run_of
from nsrecover.logs.templates import act
from tests.nsrecover.logs.household_logs import told_logs


def dropped() -> FactTrace:
    """A jug that is dropped on the way."""
    return log_of(told_logs("jug")[0].document)


def answer(log: FactTrace, *questions: str) -> str:
    return ask_log(log, questions)[-1].text


def test_why_is_what_a_later_step_needs_it_for() -> None:
    told = answer(dropped(), "why did you pick up the jug?")
    assert "pick up the jug" in told
    assert "Without it the robot could not" in told


def test_what_if_not_follows_the_question_before() -> None:
    told = answer(dropped(), "why did you pick up the jug?", "what if you had not?")
    assert told.startswith("Had the robot not come to pick up")
    assert "jug" not in told.split("instead.")[-1] or "no way" in told


def test_what_went_wrong_is_the_explanation() -> None:
    assert "dropped the jug" in answer(dropped(), "what went wrong?")


@pytest.mark.parametrize("question", ["sing me a song", "why did you fly the kite?"])
def test_what_is_not_understood_says_what_can_be_asked(question: str) -> None:
    (found,) = ask_log(dropped(), [question])
    assert not found.understood
    assert "pick up the jug" in found.text


def test_every_step_of_every_task_can_be_asked_about() -> None:
    for told in told_logs("success")[:3]:
        log = log_of(told.document)
        run = run_of(log)
        for item in run.subgoals:
            for found in ask_log(log, [f"why did you {act(item.step)}?", "what if you had not?"]):
                assert found.understood, found
                assert set(found.objects) <= set(item.step.arguments) | {
                    o for s in run.subgoals for o in s.step.arguments
                }


def test_a_plan_without_an_action_does_not_have_it() -> None:
    log = dropped()
    run, way = run_of(log), explain_log(log).correction
    assert way
    for step in way:
        other = correct(run.final, run.wanted, run.home, forbidden={step})
        assert other is None or step not in other

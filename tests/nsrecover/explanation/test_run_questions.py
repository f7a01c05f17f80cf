"""Questions about a run, as people put them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

import nsrecover
from nsrecover.core.discrepancy import Cause
from nsrecover.core.episode import Decided, Episode, EpisodeStatus, Fate, StopCode
from nsrecover.core.sessions.requests import Answer
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers.questions import EXAMPLES, AnswerValue, QuestionAnswer, ask
from nsrecover.serving.reports.build import report_of
from tests.case_files import cases_of
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED, WINE, FactWorld, after

CASES = cases_of(__file__)


@cache
def tower() -> Episode:
    return fallen()


@cache
def kitchen(broken: bool) -> Episode:
    world = FactWorld(hook=after(3, ("broken", "pan")) if broken else after(1, WINE))
    system = nsrecover.symbolic(HOME, FRIED if broken else WATERED)
    return nsrecover.RecoveryAgent(system, world, budget_s=60.0).run(FRY if broken else WATER)


def asked(episode: Episode, question: str) -> QuestionAnswer:
    facts = episode.start is not tower().start
    return ask(episode, [question], domain=HOME.domain if facts else TABLETOP)[0]


def check(episode: Episode, expected: Mapping[str, str]) -> None:
    answers = {question: asked(episode, question) for question in expected}
    lost = {q: a.text for q, a in answers.items() if not a.understood or expected[q] not in a.text}
    assert not lost


def test_questions_about_boxes_are_answered() -> None:
    check(tower(), CASES["tower"])


def test_questions_about_facts_are_answered() -> None:
    check(kitchen(broken=False), CASES["wine"])


def test_questions_about_a_run_that_stopped_are_answered() -> None:
    check(kitchen(broken=True), CASES["pan"])


def test_every_question_that_is_offered_is_answered() -> None:
    for question in EXAMPLES:
        assert asked(tower(), question.format("blue cube")).understood, question


@pytest.mark.parametrize("question", CASES["strange"])
def test_what_the_run_does_not_have_is_not_answered_by_something_else(question: str) -> None:
    answer = asked(tower(), question)
    assert not answer.understood
    assert answer.text.count("?") == 3


def test_another_word_for_an_object_is_its_name() -> None:
    assert asked(kitchen(broken=False), "is the tap on?").text == asked(kitchen(broken=False), "is the faucet on?").text
    assert asked(tower(), "where is the lego?").text == asked(tower(), "where is the white lego?").text
    assert asked(tower(), "where is the cube?").text.startswith("Which cube is meant:")


def test_a_question_with_not_is_answered_without_yes_and_no() -> None:
    """English answers "isn't it there?" either way."""
    assert asked(tower(), "isn't the blue cube on the white lego?").text.startswith("When I last looked")


def test_safety_is_never_promised_and_danger_never_denied() -> None:
    running = replace(fallen(), status=EpisodeStatus.RUNNING)
    safe = ("is it safe to come closer?", "can I touch the table?", "may I take the red cube?")
    danger = (
        "is it dangerous?",
        "is anything dangerous?",
        "is it dangerous to touch the table now?",
        "is there any danger?",
    )
    for waits in ("", "Take this way back?"):
        told = {each: ask(running, [each], waits_for=waits)[0].text for each in (*safe, *danger)}
        assert all(told[each].startswith("No: It is not safe") for each in safe), told
        assert all(told[each].startswith("Yes: It is not safe") for each in danger), told
    for question in (*safe, *danger):
        assert asked(tower(), question).text.startswith("It is not known whether it is safe")


def test_a_deed_that_failed_is_no_deed_and_looking_moves_nothing() -> None:
    """ "I picked it up" is said only of what was lifted."""
    missed = FactWorld(hook=lambda number, state: START if number == 1 else state)
    episode = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), missed, budget_s=60.0).run(WATER)
    told = asked(episode, "did you pick up the pot?")
    assert told.value is AnswerValue.YES
    assert told.text.count("I tried to pick up the pot") == 1


def test_the_value_of_an_answer_is_typed_and_unknown_is_no_no() -> None:
    """What is not recorded is neither yes nor no, and a time bound cuts the run."""
    values = {question: asked(tower(), question).value for question in CASES["values"]}
    assert values == {question: value and AnswerValue(value) for question, value in CASES["values"].items()}


def test_no_yes_and_no_no_without_a_record() -> None:
    """What was believed is no place, and what another agent may have undone is no failure."""
    seen = kitchen(broken=False)
    assert asked(seen, "was the pot empty before you picked it up?").value is AnswerValue.YES
    assert asked(seen, "what was in the pot?").text.count("filled with wine") == 1
    assert asked(seen, "is anybody near you?").value is AnswerValue.UNKNOWN
    for question in ("did you break the pan?", "you didn't break anything, did you?", "did somebody break the pan?"):
        assert asked(kitchen(broken=True), question).value is AnswerValue.UNKNOWN
    assert asked(seen, "how sure are you that the faucet is on?").value is AnswerValue.NO
    missed = fallen().records[1].discrepancy
    moved = tuple(replace(each, cause=Cause.MISPLACED) for each in missed.deviations)
    episode = replace(fallen(), records=(fallen().records[0], replace(fallen().records[1], discrepancy=replace(
        missed, deviations=moved))))  # fmt: skip
    assert ask(episode, ["did you put the green die on the blue cube?"])[0].value is AnswerValue.UNKNOWN


def test_a_request_that_is_open_is_answered_about_and_what_comes_of_each_answer() -> None:
    whole = fallen()
    undecided = replace(whole.records[1], fate=Fate.PROPOSED)
    running = replace(whole, status=EpisodeStatus.RUNNING, records=(whole.records[0], undecided))
    told = {
        "what if I say no?": "another way",
        "what will you do if I say yes?": "three actions",
        "what happens if I do nothing?": "the run ends",
        "what will you do?": "Nothing before a person has answered",
        "what should I do now?": "waits for your answer: Take this way back?",
        "are you moving?": "No: I wait for a person",
        "how much is left?": "Three actions",
        "are you done?": "No",
    }
    for question, part in told.items():
        assert part in ask(running, [question], waits_for="Take this way back?")[0].text, question
    assert ask(whole, ["what if I say no?"])[0].text.startswith("No question is open")


def test_who_did_it_is_said_only_if_it_is_recorded() -> None:
    assert asked(tower(), "did you move the blue cube?").text.startswith("Yes")
    assert "who or what did it is not recorded" in asked(tower(), "who moved the blue cube?").text
    assert asked(tower(), "did a person move the blue cube?").text.startswith("That is not known.")
    assert asked(tower(), "did I move the red cube?").text.startswith("No: It was not noticed")


def test_what_would_be_if_it_had_not_happened() -> None:
    whole = fallen()
    moved = [each for each in whole.records[1].discrepancy.deviations if each.name == "blue cube"]
    found = replace(
        whole.records[1].discrepancy, deviations=tuple(replace(each, cause=Cause.MISSING) for each in moved)
    )
    stopped = replace(
        whole, status=EpisodeStatus.ASKED_FOR_HELP, reason="no way back", why=StopCode.NO_WAY_BACK,
        records=(whole.records[0], replace(whole.records[1], discrepancy=found, recovery=None, fate=Fate.PROPOSED)),
    )  # fmt: skip
    told = ask(stopped, ["what if the blue cube had not been taken?"])[0].text
    assert "the plan would have been complete" in told
    assert "would not have stopped there" in told


def test_an_error_that_is_judged_again_counts_once_and_waiting_is_no_repetition() -> None:
    whole = fallen()
    first, bad, *rest = whole.records
    vetoed = replace(bad, decided=(Decided(Answer.LOOK_AGAIN, "Ann"),), fate=Fate.PROPOSED)
    again = replace(bad, action=None, time_s=bad.time_s + 60.0)
    later = [replace(each, time_s=each.time_s + 60.0) for each in rest]
    episode = replace(whole, records=(first, vetoed, again, *later))
    assert "One error was noticed" in ask(episode, ["how many errors were there?"])[0].text
    assert "at 00:24" in ask(episode, ["when did it happen?"])[0].text
    assert "1 min 0 s of it people worked by hand. 15 s" in ask(episode, ["how long did it take?"])[0].text


def test_a_run_that_goes_on_is_not_said_to_be_done() -> None:
    running = replace(fallen(), status=EpisodeStatus.RUNNING)
    (answer,) = ask(running, ["did it work?"])
    assert answer.text.startswith("No: The run goes on.")
    report = report_of(running, "a run")
    told = " ".join([report.summary, report.outcome, *(line.text for each in report.answers for line in each.lines)])
    assert "completed" not in told
    assert "the run goes on" in told

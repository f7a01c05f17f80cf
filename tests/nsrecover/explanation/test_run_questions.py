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
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED, WINE, FactWorld, after

TOWER = {
    "What task were you doing?": "put the blue cube on the red cube",
    "how long did this take?": "39 s",
    "Why did it take so long?": "15 s",
    "Were there any technical hitches during the task?": "second step",
    "Was anything dropped or damaged?": "not read",
    "Why did you put the blue cube first?": "first step of the plan",
    "Why did you set the white lego aside?": "So I had to set the white lego aside",
    "Which object did you move first?": ": the blue cube",
    "How many objects did you move?": "Three objects",
    "What did you put on the red cube?": "put the blue cube on the red cube",
    "Did you miss anything?": "Nothing is left",
    "Did you do a good job?": "completed",
    "How did you know that the blue cube had moved?": "was compared",
    "Where did you put the white lego?": "on the table",
    "Is the blue cube where it should be?": "Yes: As far as it was seen",
    "is the blue cube on the red cube?": "stood on the red cube",
    "what's on top of the red cube?": "blue cube is on",
    "What were you doing when it went wrong?": "put the green die on the blue cube",
    "Who moved the white lego?": "set the white lego aside",
    "can I put my hands in there": "emergency stop",
    "is anything in the gripper?": "holds nothing",
    "how long until you are done?": "Nothing is left",
    "who stopped it?": "did not stop",
    "Do you need any help?": "No help is needed",
    "How was the error corrected?": "carried out",
    "what was the last thing you did?": "I put the green die on the blue cube",
    "How many mistakes did you make?": "One error",
    "can you stop now please?": "The run is over",
    "and the white lego?": "white lego",
    "at what step did things start going south?": "second step",
    "are you sure?": "Yes: The scene was compared",
    "how often did you try to put the green die on the blue cube?": "two times",
    "what was the first thing you did?": "I put the blue cube on the red cube",
    "what did you do after you set the white lego aside?": "I put the blue cube back",
    "why did you move the white lego before the blue cube?": "part of a way back",
    "which objects did you not move?": ": the red cube",
    "how far was the blue cube from its place?": "29 cm",
    "what was step 2 of the plan?": "put the green die on the blue cube",
    "how long did step 1 take?": "11 s",
    "which actions were not in the plan?": "Three actions",
    "what was on the red cube after step 2?": "the white lego was on the red cube",
}
WINE_IN_THE_POT = {
    "is the faucet on?": "No: The faucet",
    "is the pot empty?": "Yes: The pot is empty",
    "why did you pour the pot out?": "filled with wine",
    "why did you turn off the faucet?": "fourth step of the plan",
    "when did you pick up the pot?": "fifth step",
    "why did you not use the mug?": "did not move the mug",
    "is it ok to go near the robot?": "emergency stop",
    "Did you remember to turn off the faucet afterwards?": "I turned off the faucet",
    "did you switch on the faucet?": "third step",
    "Did you come across anything unexpected?": "filled with wine",
    "Can you show me step by step what you did?": "Seven actions",
    "Have you finished your jobs?": "completed",
}
PAN_IS_BROKEN = {
    "is the pan broken?": "Yes: The pan is broken",
    "what is broken?": "pan is broken",
    "What did you do with the cracked egg?": "picked up the egg",
    "Did you put any egg in the pan?": "No: I did not",
    "How did you know the egg was cracked?": "the egg was as expected",
    "why did you break the pan?": "the pan was broken",
    "Have you encountered anything that I should be aware of?": "the pan is broken",
    "did anything else happen that you did not tell me": "the pan is broken",
    "is something still on or hot?": "That is not known. What was read: the pan is broken",
    "what do I have to do?": "A person is needed",
    "can you still finish?": "No: The robot stopped",
    "why have you stopped?": "asked for help",
    "what's next": "the run is over",
    "what are you holding?": "holds the egg",
    "did a person say no?": "no (without a name)",
}
STRANGE = (
    "Why did you water the white lego?",
    "Why did you not mix the salad?",
    "What did you pack in the lunch box?",
    "Did you check if the bag was closed?",
    "how many calories does it have?",
    "Can you do that faster?",
    "How many times has this happened in the past month?",
    "Could this happen again?",
    "What happens if you drop the green die?",
    "why did you turn off the faucet?",
    "is the stove still on?",
    "sing me a song",
)


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
    check(tower(), TOWER)


def test_questions_about_facts_are_answered() -> None:
    check(kitchen(broken=False), WINE_IN_THE_POT)


def test_questions_about_a_run_that_stopped_are_answered() -> None:
    check(kitchen(broken=True), PAN_IS_BROKEN)


def test_every_question_that_is_offered_is_answered() -> None:
    for question in EXAMPLES:
        assert asked(tower(), question.format("blue cube")).understood, question


@pytest.mark.parametrize("question", STRANGE)
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


YES, NO, UNKNOWN = AnswerValue.YES, AnswerValue.NO, AnswerValue.UNKNOWN
VALUES = {
    "did you move the white lego?": YES,
    "did you not move the white lego?": NO,
    "did a person move the blue cube?": UNKNOWN,
    "is it safe to reach in?": UNKNOWN,
    "was there a way back?": YES,
    "was there a shorter way?": NO,
    "was there no shorter way?": YES,
    "was there another way?": UNKNOWN,
    "where is the white lego?": None,
    "is it finished?": YES,
    "is it not finished?": NO,
    "did you drop something?": NO,
    "did you drop nothing?": YES,
    "are you moving?": NO,
    "are you standing still?": YES,
    "do you need help?": NO,
    "do you not need any help?": YES,
    "is it my fault?": UNKNOWN,
    "so it's my mistake, is it?": UNKNOWN,
    "was the blue cube on the red cube after step 1?": YES,
    "was the blue cube on the red cube after step 2?": NO,
    "did you move the white lego before you moved the blue cube?": NO,
    "did you move the white lego before the error?": NO,
    "did you move the white lego after the error?": YES,
    "did the second step work at the first attempt?": NO,
    "did the first step work?": YES,
    "did you move the blue cube more than once?": YES,
    "did you move the blue cube after step 7?": UNKNOWN,
}
"""Questions about the tower -> yes or no; what is not recorded is neither, and a time bound cuts the run."""


def test_the_value_of_an_answer_is_typed_and_unknown_is_no_no() -> None:
    assert {question: asked(tower(), question).value for question in VALUES} == VALUES


def test_no_yes_and_no_no_without_a_record() -> None:
    """What was believed is no place, and what another agent may have undone is no failure."""
    seen = kitchen(broken=False)
    assert asked(seen, "was the pot empty before you picked it up?").value is AnswerValue.YES
    assert asked(seen, "what was in the pot?").text.count("filled with wine") == 1
    assert asked(seen, "is anybody near you?").value is UNKNOWN
    for question in ("did you break the pan?", "you didn't break anything, did you?", "did somebody break the pan?"):
        assert asked(kitchen(broken=True), question).value is UNKNOWN
    assert asked(seen, "how sure are you that the faucet is on?").value is AnswerValue.NO
    missed = fallen().records[1].discrepancy
    moved = tuple(replace(each, cause=Cause.MISPLACED) for each in missed.deviations)
    episode = replace(fallen(), records=(fallen().records[0], replace(fallen().records[1], discrepancy=replace(
        missed, deviations=moved))))  # fmt: skip
    assert ask(episode, ["did you put the green die on the blue cube?"])[0].value is UNKNOWN


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

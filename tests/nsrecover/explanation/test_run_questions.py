"""Questions about a run, as people put them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest

import nsrecover
from nsrecover.core.episode import Episode, EpisodeStatus
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers.asked import in_own_words
from nsrecover.explanation.answers.questions import KINDS, QuestionAnswer, ask
from nsrecover.serving.reports.build import report_of
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, WATER, WATERED, WINE, FactWorld, after

TOWER = {
    "What task were you doing?": "put the blue cube on the red cube",
    "how long did this take?": "39 s",
    "Why did it take so long?": "15 s",
    "Were there any technical hitches during the task?": "second step",
    "Was anything dropped or damaged?": "not lifted",
    "Why did you put the blue cube first?": "had moved",
    "Why did you set the white lego aside?": "So I had to set the white lego aside",
    "Which object did you move first?": ": the blue cube",
    "How many objects did you move?": "Three objects",
    "What did you put on the red cube?": "put the blue cube on the red cube",
    "Did you miss anything?": "Nothing is left",
    "Did you do a good job?": "completed",
    "How did you know that the blue cube had moved?": "was compared",
    "Where did you put the white lego?": "on the table",
    "Is the blue cube where it should be?": "Yes, as far as it was seen",
    "is the blue cube on the red cube?": "stood on the red cube",
    "what's on top of the red cube?": "blue cube stands on",
    "What were you doing when it went wrong?": "put the green die on the blue cube",
    "Who moved the white lego?": "set the white lego aside",
    "can I put my hands in there": "emergency stop",
    "is anything in the gripper?": "holds nothing",
    "how long until you are done?": "Nothing is left",
    "who stopped it?": "Nobody vetoed",
    "Do you need any help?": "No help is needed",
    "How was the error corrected?": "carried out",
    "what was the last thing you did?": "Five actions",
    "How many mistakes did you make?": "One error",
}
WINE_IN_THE_POT = {
    "is the faucet on?": "No: the faucet",
    "is the pot empty?": "Yes: the pot is empty",
    "why did you pour the pot out?": "filled with wine",
    "why did you turn off the faucet?": "fourth step of the plan",
    "when did you pick up the pot?": "fifth step",
    "why did you not use the mug?": "did not move the mug",
    "is it ok to go near the robot?": "emergency stop",
    "Did you remember to turn off the faucet afterwards?": "turn off the faucet",
    "did you switch on the faucet?": "third step",
    "Did you come across anything unexpected?": "filled with wine",
    "Can you show me step by step what you did?": "Seven actions",
    "Have you finished your jobs?": "completed",
}
PAN_IS_BROKEN = {
    "is the pan broken?": "Yes: the pan is broken",
    "what is broken?": "pan is broken",
    "did you check the fridge was closed before you started?": "No: the fridge is open",
    "What did you do with the cracked egg?": "crack the egg",
    "Did you put any egg in the pan?": "No such action",
    "How did you know the egg was cracked?": "the egg was as expected",
    "why did you break the pan?": "the pan was broken",
    "Have you encountered anything that I should be aware of?": "the pan is broken",
    "did anything else happen that you did not tell me": "the pan is broken",
    "How much time do you expect to take?": "actions are left",
    "is something still on or hot?": "not safe to reach in: the pan is broken",
    "what do I have to do?": "A person is needed",
    "can you still finish?": "A person is needed",
    "why have you stopped?": "asked for help",
    "what's next": "the robot has stopped",
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
    return nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, FRIED if broken else WATERED), world).run(
        FRY if broken else WATER
    )


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


def test_every_example_of_a_kind_is_answered_by_its_kind() -> None:
    for kind in KINDS:
        for question in kind.examples:
            if kind.name != "state":  # boxes have none
                assert asked(tower(), question.format("blue cube")).understood, question


@pytest.mark.parametrize("question", STRANGE)
def test_what_the_run_does_not_have_is_not_answered_by_something_else(question: str) -> None:
    answer = asked(tower(), question)
    assert not answer.understood
    assert answer.text.count("?") == 3


def test_another_word_for_an_object_is_its_name_only_if_the_run_has_no_other() -> None:
    assert asked(kitchen(broken=False), "is the tap on?").text == asked(kitchen(broken=False), "is the faucet on?").text
    assert in_own_words("where is the brick?", ["red brick"]) == "where is the brick?"
    assert in_own_words("where is the brick?", ["red cube"]) == "where is the brick?"
    assert in_own_words("Where is the Brick?", ["red lego"]) == "Where is the lego?"


def test_the_nearest_known_questions_are_named() -> None:
    assert "what is in the blue cube?" in asked(tower(), "wherein is the blue cube?").text
    assert "how long did it take?" in asked(tower(), "duration long to take, tell o robot the hours!").text


def test_a_run_that_goes_on_is_not_said_to_be_done() -> None:
    running = replace(fallen(), status=EpisodeStatus.RUNNING)
    (answer,) = ask(running, ["did it work?"])
    assert answer.text.startswith("The run goes on.")
    report = report_of(running, "a run")
    told = " ".join([report.summary, report.outcome, *(line.text for each in report.answers for line in each.lines)])
    assert "completed" not in told
    assert "the run goes on" in told

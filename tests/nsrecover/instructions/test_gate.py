"""No sentence of which a word is left out leads to a plan: the robot says which word it cannot take into account."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.feedback import corrected
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import Refusal, Task
from nsrecover.instructions.understanding import Understanding
from nsrecover.language.answers import Attitude, read_reply
from nsrecover.testing.simulated_home import drawn_world

HOME = load_home("apartment")
UNDERSTANDING = Understanding(HOME)
WORDS = re.findall(
    r"\S+",
    "no yes , . not the a my banana apple mug red blue one other desk sofa table to on from in ashley charlie me it "
    "put bring wrong I meant too forgot near left stapler instead is that was here ! ? 3 ' two wait actually",
)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("bring me the thing on top of the bowl", "bowl"),
        ("bring me an apple but not the green one", "not the green one"),
        ("fetch the apple on the newspaper", "newspaper"),
        ("bring the banana to the teddy bear", "teddy bear"),
        ("tell ashley why the sky is blue", "why the sky is blue"),
        ("tell me the colour of the mug", "colour"),
        ("bring me the apple if it is ripe", "if it is ripe"),
        ("tell me which door is open", "which door is open"),
        ("fetch the apple and toss it on the sofa", "toss"),
        ("give the banana to charlie and the apple", "apple"),
        ("bring me an apple except the one in the fridge", "except"),
        ("there is a banana on the desk. bring me the milk", "banana"),
        ("bring a pear to each person in the kitchen", "several people"),
        ("how many clean spoons are on the desk?", "clean"),
        ("move the desk lamp", "desk lamp"),
        ("put all cookies on the desk", "all cookies"),
    ],
)
def test_words_that_no_skill_serves_are_named(sentence: str, word: str) -> None:
    found = UNDERSTANDING.plan(sentence)
    assert isinstance(found, Refusal), found
    assert word in found.text


@pytest.mark.parametrize(
    "sentence",
    [
        "tell ashley in the kitchen that the biggest parcel is hers",
        "ask charlie whether the other train is late",
        "the kids left the jump rope on the sofa, put it on the dresser",
        "say what day is today to the person sitting in the kitchen",
        "follow the person raising their left arm in the kitchen to the sofa",
        "go to the fridge and open it",
        "bring me the red mug",
    ],
)
def test_words_that_are_told_or_tell_nothing_do_not_stop_a_plan(sentence: str) -> None:
    assert isinstance(UNDERSTANDING.plan(sentence), TaskPlan), UNDERSTANDING.plan(sentence)


def test_the_two_sides_of_a_gesture_are_two_poses() -> None:
    stages = []
    for side in ("left", "right"):
        plan = UNDERSTANDING.plan(f"follow the person pointing to the {side} in the kitchen")
        assert isinstance(plan, TaskPlan)
        stages.append(plan.task.stages)
    assert stages[0] != stages[1]


@pytest.mark.parametrize("answer", ["I meant charlie", "no, to charlie"])
def test_what_was_given_to_another_person_is_asked_back(answer: str) -> None:
    status, places = _after("bring the banana to ashley", answer, "yes")
    assert (status, places["banana"]) == (OutcomeStatus.DONE, "charlie")


def _after(sentence: str, *answers: str) -> tuple[OutcomeStatus, dict[str, str]]:
    world = drawn_world(HOME, 3, None, ["banana", "apple"], {"banana": "sofa", "apple": "desk"})
    outcome = ServiceAgent(UNDERSTANDING, world, ScriptedOperator(answers), feedback=True).run(sentence)
    return outcome.status, {name: world.objects[name] for name in ("banana", "apple")}


@pytest.mark.parametrize(
    ("answer", "thing", "place"),
    [
        ("No, I meant the dresser", "banana", "dresser"),
        ("no, the apple", "apple", "coffee table"),
        ("nope, the apple", "apple", "coffee table"),
        ("on the dresser", "banana", "dresser"),
        ("not the banana, the apple", "apple", "coffee table"),
        ("no, put it in the sink, please. I mean put the banana in the sink", "banana", "sink"),
        ("wrong, put the apple on the dresser", "apple", "dresser"),
    ],
)
def test_a_correction_changes_what_it_names(answer: str, thing: str, place: str) -> None:
    status, places = _after("put the banana on the coffee table", answer, "yes")
    assert (status, places[thing]) == (OutcomeStatus.DONE, place)


@pytest.mark.parametrize(
    ("sentence", "goals"),
    [
        ("bring me the red mug. no, the other one", ("at", "blue mug", "operator")),
        ("take the apple to charlie, actually no, to ashley", ("at", "apple", "ashley")),
        ("put the apple on the desk, I mean the dresser", ("at", "apple", "dresser")),
    ],
)
def test_a_correction_within_the_sentence_counts(sentence: str, goals: tuple[str, ...]) -> None:
    task = UNDERSTANDING.task(sentence)
    assert isinstance(task, Task), task
    assert [stage.goal[0] for stage in task.stages] == [goals]


@given(st.lists(st.sampled_from(WORDS), max_size=8))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_no_feedback_raises_and_none_but_a_yes_agrees(words: list[str]) -> None:
    task = UNDERSTANDING.task("put the banana on the coffee table")
    assert isinstance(task, Task)
    answer = " ".join(words)
    corrected(UNDERSTANDING, task, answer, {})
    reply = read_reply(answer)
    agrees = reply.attitude is Attitude.YES and not reply.rest
    assert not agrees or not {"not", "wrong"} & set(answer.replace(",", " ").split())


@pytest.mark.parametrize(
    "answer", ["no", "nope", "that is bad", "wrong table", "mine is green", "why did you do that?"]
)
def test_an_objection_that_is_not_understood_never_ends_in_done(answer: str) -> None:
    status, places = _after("put the banana on the coffee table", answer)
    assert status is OutcomeStatus.ASKED_FOR_HELP
    assert places["banana"] == "coffee table"


def test_an_objection_is_asked_about() -> None:
    status, places = _after("put the banana on the coffee table", "that is bad", "put the banana on the dresser", "yes")
    assert (status, places["banana"]) == (OutcomeStatus.DONE, "dresser")

"""Plain commands: every word has a role, unknown nouns are looked for, and what no skill serves is refused by name."""

from __future__ import annotations

import pytest

from nsrecover.domains.service.home_file import home_of, load_home
from nsrecover.instructions.task import Refusal, RefusalCode, Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding
from nsrecover.language.commands import readings
from nsrecover.language.meaning import Reading

UNDERSTANDING = Understanding(load_home("apartment"))


@pytest.mark.parametrize(
    ("sentence", "goals"),
    [
        ("fetch me the remote control that is on the desk", [("at", "remote control", "operator")]),
        ("grab the apple lanyard", [("holding", "apple lanyard")]),
        ("go next to the sofa", [("at", "robot", "sofa")]),
        ("walk to the kitchen and then into the bedroom", [("at", "robot", "kitchen"), ("at", "robot", "bedroom")]),
        ("let 's go to the kitchen", [("at", "robot", "kitchen")]),
        ("go up to the desk lamp and switch it on", [("running", "desk lamp")]),
        ("search the study for the stapler", [("found", "stapler")]),
        ("get the stapler it should be on the desk", [("at", "stapler", "operator")]),
        ("there is a stapler on the desk can you take it to the kitchen table", [("at", "stapler", "kitchen table")]),
        ("take the stapler and place it in the drawer of the bedroom", None),
        ("john follow me to the kitchen", [("followed", "operator")]),
        ("first greet alex, and after that open the fridge", [("beside", "alex"), ("open", "fridge")]),
        ("robin is in the study, follow him to the kitchen", [("followed", "robin")]),
        ("i'm thirsty. my watch, please", [("at", "watch", "operator")]),
        ("pick up robin in the study and lead him to the entrance", [("guided", "robin")]),
        ("do not put my watch on the desk, put it on the dresser", [("at", "watch", "dresser")]),
    ],
)
def test_it_leads_to_its_goals(sentence: str, goals: list[tuple[str, ...]] | None) -> None:
    found = UNDERSTANDING.task(sentence)
    if goals is None:
        assert isinstance(found, Refusal | TaskQuestion)
        return
    assert isinstance(found, Task), found
    told = [stage.goal[0] for stage in found.stages if not stage.reports]
    assert [goal for goal in told if goal in goals] == goals


@pytest.mark.parametrize(
    ("sentence", "word", "code"),
    [
        ("inspect the kitchen", "inspect the kitchen", RefusalCode.NO_SKILL),
        ("turn left", "turn left", RefusalCode.NO_SKILL),
        ("move a bit to the left", "a bit", RefusalCode.NO_SKILL),
        ("connect the stapler to the lamp", "connect", RefusalCode.NO_SKILL),
        ("check if the fridge is cold", "cold", RefusalCode.NO_SKILL),
        ("go to the left of the sofa", "left of the sofa", RefusalCode.NO_SKILL),
        ("bring me the second apple", "second", RefusalCode.NO_SKILL),
        ("open the jam jar", "jam jar", RefusalCode.NO_SKILL),
        ("carry the sofa to the kitchen", "sofa", RefusalCode.NO_SKILL),
        ("the fridge is in the corner", "nothing to do", RefusalCode.NO_SKILL),
        ("follow dave to the kitchen", "dave", RefusalCode.UNKNOWN_NAME),
        ("bring me a guide", "guide", RefusalCode.UNKNOWN_NAME),
    ],
)
def test_what_no_skill_serves_is_refused_by_name(sentence: str, word: str, code: RefusalCode) -> None:
    found = UNDERSTANDING.plan(sentence)
    assert isinstance(found, Refusal), found
    assert (word in found.text, found.code) == (True, code), found.text


def test_where_something_is_or_goes_is_asked_if_it_may_be_both() -> None:
    question = UNDERSTANDING.task("take the stapler on the desk")
    assert isinstance(question, TaskQuestion)
    chosen = UNDERSTANDING.task(
        question_sentence := "take the stapler on the desk", {question.phrase: question.options[1]}
    )
    assert isinstance(chosen, Task)
    assert chosen.stages[0].goal == (("at", "stapler", "desk"),)
    clear = UNDERSTANDING.task(f"{question_sentence} and bring it to me")
    assert isinstance(clear, Task)
    assert clear.stages[-1].goal == (("at", "stapler", "operator"),)


def test_a_quality_is_no_constraint_where_only_one_thing_can_be_meant() -> None:
    home = home_of({"rooms": {"hall": {}}, "places": {"shelf": {"room": "hall"}}, "objects": {"vase": {"also": "jug"}}})
    task = Understanding(home).task("bring me the white jug")
    assert isinstance(task, Task)
    assert task.stages[0].goal == (("at", "vase", "operator"),)
    assert any("white" in note for note in task.notes)


def test_a_reason_is_noted_and_changes_nothing() -> None:
    found = UNDERSTANDING.task("alex overslept, open the fridge")
    assert isinstance(found, Task)
    assert any("alex overslept" in note for note in found.notes)
    assert not isinstance(UNDERSTANDING.task("never mind what alex said, open nothing"), Task)


@pytest.mark.parametrize(
    ("sentence", "said", "answer", "goal"),
    [
        ("put it on the desk", "it", "the red mug", ("at", "red mug", "desk")),
        ("take her to the sofa", "her", "Ashley", ("guided", "ashley")),
        ("set the apple down over there", "there", "on the desk", None),
    ],
)
def test_a_pronoun_for_nothing_said_is_asked_about(sentence, said, answer, goal) -> None:
    question = UNDERSTANDING.task(sentence)
    assert isinstance(question, TaskQuestion)
    assert f"'{said}'" in question.text
    (meant,) = UNDERSTANDING.chosen(question, answer).names
    found = UNDERSTANDING.task(sentence, {question.phrase: meant})
    if goal is not None:
        assert isinstance(found, Task)
        assert goal in found.stages[0].goal


@pytest.mark.parametrize("sentence", ["bring me three boots", "look for the boots", "take the shell"])
def test_a_known_word_that_is_alike_is_not_taken_for_another(sentence: str) -> None:
    _, read = next(readings(sentence, UNDERSTANDING.lexicon, UNDERSTANDING.vocabulary))
    assert isinstance(read, Reading)
    assert not read.corrected


def test_a_certain_thing_of_a_category_is_asked_for_where_several_are_known() -> None:
    objects = {"cola": {"place": "shelf"}, "milk": {"place": "shelf"}}
    home = home_of({"rooms": {"hall": {}}, "places": {"shelf": {"room": "hall"}}, "objects": objects})
    question = Understanding(home).task("bring me that drink")
    assert isinstance(question, TaskQuestion)
    assert set(question.options) == {"cola", "milk"}
    assert isinstance(Understanding(home).task("bring me a drink"), Task)

import pytest

from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import Failures, FastHome, Someone

HOME = load_home("apartment")
UNDERSTANDING = Understanding(HOME)
OBJECTS = {
    "apple": "countertop",
    "red mug": "desk",
    "blue mug": "kitchen table",
    "banana": "side table",
    "cola": "fridge",
}


NEVER = Failures()


def home(failures=NEVER, seed=0, **more):
    people = {
        "operator": Someone("living room"),
        "ashley": Someone("dining table", "sitting", knows={"apple": "countertop"}),
        "charlie": Someone("kitchen", "waving"),
    }
    return FastHome(HOME, OBJECTS, people, failures, seed, **more)


def told(sentence, world, *answers, **more):
    return ServiceAgent(UNDERSTANDING, world, ScriptedOperator(answers), **more).run(sentence)


def codes(outcome):
    return {code for code, _ in outcome.log}


def test_m1_a_missing_place_is_found_by_search():
    world = home()
    outcome = told("put an apple on the desk", world)
    assert world.objects["apple"] == "desk"
    assert codes(outcome) == {"M1", "M3"}
    assert not world.open["fridge"]


def test_m1_a_person_is_asked_and_the_answer_is_used():
    world = home()
    outcome = told("I need the apple. Ashley might know where it is, so ask her where it is and bring it to me", world)
    assert world.objects["apple"] == "operator"
    searched = [str(action) for action in world.executed if action.operator == "find_concrete_name_objects"]
    assert searched == ["find_concrete_name_objects(apple, countertop)"]
    assert any(code == "M1" and "ashley said that" in text and "countertop" in text for code, text in outcome.log)


def test_m3_help_when_the_gripper_does_not_get_hold_of_it():
    world = home(ungraspable=frozenset({"banana"}))
    outcome = told("put the banana from the side table on the desk", world)
    assert world.objects["banana"] == "desk"
    operators = [action.operator for action in world.executed]
    assert operators.count("pick") == 2
    assert "ask_person_to_hand_over" in operators
    assert outcome.status is OutcomeStatus.DONE


@pytest.mark.parametrize("seed", range(4))
def test_m3_skills_that_fail_now_and_then_are_repeated(seed):
    world = home(Failures(0.15, 0.2, 0.1, 0.15, 0.1), seed)
    outcome = told("take the cola from the fridge and give it to charlie in the kitchen", world)
    assert outcome.status is OutcomeStatus.DONE, outcome.log
    assert world.objects["cola"] == "charlie"

"""Several things in one sentence, reported wishes, and people who are brought."""

import pytest

from eval.instructions.wanted import wanted
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.task import Refusal, Task
from nsrecover.instructions.understanding import Understanding

UNDERSTANDING = Understanding(load_home("apartment"))


@pytest.mark.parametrize(
    ("sentence", "goals"),
    [
        ("put both mugs in the dishwasher", ("at red mug dishwasher", "at blue mug dishwasher")),
        ("take the bread from the cabinet and a knife to the desk", ("at bread desk @cabinet", "at knife desk")),
        ("there are a cup and a plate on the desk, put both in the sink", ("at cup sink @desk", "at plate sink @desk")),
        ("the apple and the banana, bring them to me", ("at apple operator", "at banana operator")),
        ("charlie wants you to bring him the newspaper from the armchair", ("at newspaper charlie @armchair",)),
        ("I was asked to count the cups on the sideboard", ("counted cup at the sideboard", "told operator")),
        ("bring jordan to me", ("at robot living room; guided jordan",)),
        ("it has to be quick: the sponge has no business on the desk, put it in the sink", ("at sponge sink @desk",)),
    ],
)
def test_it_is_understood(sentence: str, goals: tuple[str, ...]) -> None:
    task = UNDERSTANDING.task(sentence)
    assert isinstance(task, Task), task
    assert wanted(task) == goals


@pytest.mark.parametrize("sentence", ["bring me two apples", "bring me 5 apples", "put all cookies on the desk"])
def test_things_without_a_name_of_their_own_are_not_several(sentence: str) -> None:
    assert isinstance(UNDERSTANDING.task(sentence), Refusal)


def test_common_words_are_not_taken_for_one_misspelt_noun() -> None:
    reading = UNDERSTANDING.read("I want to make coffee, put the cup on the desk")
    assert [clause.thing.name for clause in reading.clauses if clause.thing is not None] == ["cup"]

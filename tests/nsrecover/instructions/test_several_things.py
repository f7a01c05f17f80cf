"""Several things and people in one sentence."""

import pytest

from eval.instructions.understood import wanted
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.task import Refusal, Task
from nsrecover.instructions.understanding import Understanding

UNDERSTANDING = Understanding(load_home("apartment"))


@pytest.mark.parametrize(
    ("sentence", "goals"),
    [
        ("put both mugs in the dishwasher", ("at red mug dishwasher", "at blue mug dishwasher")),
        ("give the banana to charlie and the apple to robin", ("at banana charlie", "at apple robin")),
        ("put the bread and the knife on the desk", ("at bread desk", "at knife desk")),
        ("tell ashley and charlie that dinner is ready", ("told ashley", "told charlie")),
    ],
)
def test_it_is_understood(sentence: str, goals: tuple[str, ...]) -> None:
    task = UNDERSTANDING.task(sentence)
    assert isinstance(task, Task), task
    assert wanted(task) == goals


@pytest.mark.parametrize("sentence", ["bring me two apples", "bring me 5 apples", "put all cookies on the desk"])
def test_things_without_a_name_of_their_own_are_not_several(sentence: str) -> None:
    assert isinstance(UNDERSTANDING.task(sentence), Refusal)

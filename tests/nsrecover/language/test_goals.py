"""Goals of logs: the same condition in other words, objects that nothing names, and what no condition says."""

from __future__ import annotations

import pytest

from nsrecover.language.goals import read_goal
from tests.case_files import cases_of

CASES = cases_of(__file__)
NAMES = ("spoon", "drawer", "basket", "first towel", "second towel", "lamp", "jar")


@pytest.mark.parametrize("text", CASES["the same"])
def test_the_same_condition_in_other_words(text: str) -> None:
    assert read_goal(text, NAMES).conditions == (("at", "spoon", "drawer"),)


@pytest.mark.parametrize(("text", "conditions"), CASES["meant"])
def test_negation_number_and_pronouns(text: str, conditions: list[list[str]]) -> None:
    found = read_goal(text, NAMES)
    assert (set(found.conditions), found.unread) == (set(map(tuple, conditions)), ())


@pytest.mark.parametrize(("text", "named"), CASES["no condition"])
def test_what_is_no_condition_is_named_and_nothing_takes_its_place(text: str, named: str) -> None:
    found = read_goal(text, NAMES)
    assert (found.conditions, found.unread) == ((), (named,))


def test_a_pronoun_that_may_be_either_place_is_not_guessed() -> None:
    found = read_goal("the jar is in the drawer, and the spoon is in it", ("jar", "drawer", "spoon"))
    assert found.unread == ("it",)


def test_the_head_of_a_name_is_that_object_if_only_one_has_it() -> None:
    assert read_goal("the ball is in the box", ("red ball", "box")).conditions == (("at", "red ball", "box"),)
    assert read_goal("the ball is in the box", ("red ball", "blue ball", "box")).unread == ("ball",)
    assert read_goal("the red one is in the box", ("red ball", "box")).conditions == (("at", "red ball", "box"),)

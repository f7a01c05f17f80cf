"""Answers: which options are named or denied, and what a reply to a report says; polarity counts."""

from __future__ import annotations

import pytest

from nsrecover.language.answers import Attitude, Choice, Reply, read_choice, read_reply
from tests.case_files import cases_of

CASES = cases_of(__file__)
JARS = {"green jar": ("mint jar",), "brown jar": ("bought in march",)}
PLACES: dict[str, tuple[str, ...]] = {"bench": ("seat",), "tall shelf": (), "low shelf": (), "hall": ()}
BOXES: dict[str, tuple[str, ...]] = {"old box": (), "new box": (), "tin box": ()}


@pytest.mark.parametrize(("answer", "names"), CASES["choices"])
def test_which_option_is_meant(answer: str, names: list[str]) -> None:
    assert list(read_choice(answer, JARS).names) == names


def test_a_denial_among_three_leaves_two_and_is_no_choice() -> None:
    assert read_choice("not the old one", BOXES) == Choice((), ("old box",))
    assert read_choice("not the old one and not the new one, the other one", BOXES).names == ("tin box",)


@pytest.mark.parametrize(("answer", "attitude"), CASES["attitudes"])
def test_answers_that_name_nothing(answer: str, attitude: str) -> None:
    assert read_choice(answer, JARS) == Choice((), (), Attitude[attitude.upper()])


@pytest.mark.parametrize(("answer", "names", "denied"), CASES["places"])
def test_where_something_is_and_is_not(answer: str, names: list[str], denied: list[str]) -> None:
    found = read_choice(answer, PLACES)
    assert (list(found.names), list(found.denied)) == (names, denied)


@pytest.mark.parametrize(("answer", "reply"), CASES["replies"])
def test_what_a_reply_says(answer: str, reply: list[str]) -> None:
    attitude, *rest = reply
    assert read_reply(answer, ("jar",)) == Reply(Attitude[attitude.upper()], *rest)

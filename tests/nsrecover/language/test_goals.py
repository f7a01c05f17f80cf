"""Goals of logs: the same condition in other words, objects that nothing names, and what no condition says."""

from __future__ import annotations

import pytest

from nsrecover.language.goals import read_goal

NAMES = ("spoon", "drawer", "basket", "first towel", "second towel", "lamp", "jar")


@pytest.mark.parametrize(
    "text",
    [
        "the spoon is in the drawer",
        "my spoon should lie inside the drawer.",
        "finally, the spoon has to be in the drawer",
        "the robot has put the spoon into the drawer",
        "put the spoon in the drawer",
        "in(spoon, drawer)",
        "spoon in drawer",
        "inside the drawer is the spoon",
        "the drawer contains the spoon",
        "make sure that the spoon is in the drawer",
        "there is a spoon in the drawer",
    ],
)
def test_the_same_condition_in_other_words(text: str) -> None:
    assert read_goal(text, NAMES).conditions == (("at", "spoon", "drawer"),)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("the spoon is not in the drawer", {("away_from", "spoon", "drawer")}),
        ("the lamp is not on", {("off", "lamp")}),
        ("the spoon is neither dirty nor in the jar", {("clean", "spoon"), ("away_from", "spoon", "jar")}),
        ("two towels are in the basket", {("at", "first towel", "basket"), ("at", "second towel", "basket")}),
        ("the towels are in the basket", {("at", "first towel", "basket"), ("at", "second towel", "basket")}),
        ("the jar is in the drawer and the drawer is closed", {("at", "jar", "drawer"), ("closed", "drawer")}),
        ("the spoon is in the drawer and it is closed", {("at", "spoon", "drawer"), ("closed", "drawer")}),
        ("a jar of tea is in the drawer", {("filled", "jar", "tea"), ("at", "jar", "drawer")}),
        ("the spoon was washed in the basket", {("clean", "spoon")}),
    ],
)
def test_negation_number_and_pronouns(text: str, conditions: set[tuple[str, ...]]) -> None:
    found = read_goal(text, NAMES)
    assert (set(found.conditions), found.unread) == (conditions, ())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("the zorp is in the drawer", "zorp"),
        ("three towels are in the basket", "three towel"),
        ("two spoons are in the drawer", "two spoon"),
        ("nothing is in the drawer", "nothing"),
        ("the spoon is cold", "cold"),
        ("the spoon is in the drawer or in the jar", "the whole text"),
        ("unless the lamp is on the spoon is in the drawer", "the whole text"),
    ],
)
def test_what_is_no_condition_is_named_and_nothing_takes_its_place(text: str, named: str) -> None:
    found = read_goal(text, NAMES)
    assert (found.conditions, found.unread) == ((), (named,))

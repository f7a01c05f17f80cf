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
        "the drawer has the spoon in it",
        "get the spoon into the drawer, please",
        "could you put the spoon in the drawer?",
        "your task is to put the spoon in the drawer",
        "it is in the drawer that the spoon should be",
        "spoon: in the drawer",
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
        ("the spoon is off the jar and in the drawer", {("away_from", "spoon", "jar"), ("at", "spoon", "drawer")}),
        (
            "the spoon is in the drawer rather than in the jar",
            {("at", "spoon", "drawer"), ("away_from", "spoon", "jar")},
        ),
        (
            "no towel is in the basket",
            {("away_from", "first towel", "basket"), ("away_from", "second towel", "basket")},
        ),
        ("the jar is in the drawer and so is the spoon", {("at", "jar", "drawer"), ("at", "spoon", "drawer")}),
        ("the jar is in the drawer and the spoon is not", {("at", "jar", "drawer"), ("away_from", "spoon", "drawer")}),
        ("the spoon is in the jar, which is in the drawer", {("at", "spoon", "jar"), ("at", "jar", "drawer")}),
        ("the jar is in the drawer with the spoon in it", {("at", "jar", "drawer"), ("at", "spoon", "jar")}),
        ("I want the spoon in the jar and the lamp off", {("at", "spoon", "jar"), ("off", "lamp")}),
        ("the spoon is in the drawer with the lamp turned off", {("at", "spoon", "drawer"), ("off", "lamp")}),
        (
            "the lamp is attached to the drawer and under the jar",
            {("attached", "lamp", "drawer"), ("under", "lamp", "jar")},
        ),
        ("wash the spoon and put it in the drawer", {("clean", "spoon"), ("at", "spoon", "drawer")}),
        ("the robot holds the spoon", {("holding", "spoon")}),
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
        ("an appliance is in the drawer", "appliance"),
        ("the drawer is closed with the zorp", "the whole text"),
        ("the spoon is in the drawer or in the jar", "the whole text"),
        ("unless the lamp is on the spoon is in the drawer", "the whole text"),
    ],
)
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

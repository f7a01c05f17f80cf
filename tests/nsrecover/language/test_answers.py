"""Answers: which options are named or denied, and what a reply to a report says; polarity counts."""

from __future__ import annotations

import pytest

from nsrecover.language.answers import Attitude, Choice, Reply, read_choice, read_reply

JARS = {"green jar": ("mint jar",), "brown jar": ("bought in march",)}
PLACES: dict[str, tuple[str, ...]] = {"bench": ("seat",), "tall shelf": (), "low shelf": (), "hall": ()}
BOXES: dict[str, tuple[str, ...]] = {"old box": (), "new box": (), "tin box": ()}


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("the green one", ["green jar"]),
        ("not the green one", ["brown jar"]),
        ("not the green one, the brown one", ["brown jar"]),
        ("the brown jar, not the green one", ["brown jar"]),
        ("anything but the brown one", ["green jar"]),
        ("green. no, brown", ["brown jar"]),
        ("I mean the mint jar", ["green jar"]),
        ("the gren one please", ["green jar"]),
        ("both", ["green jar", "brown jar"]),
        ("the green one and the brown one", ["green jar", "brown jar"]),
        ("either", ["green jar"]),
        ("I don't care", ["green jar"]),
        ("the second one", ["brown jar"]),
        ("the green one or the brown one", []),
        ("not both", []),
        ("the jar", []),
        ("the blue one", []),
        ("not the blue one", []),
        ("the other one", []),
        ("why do you ask?", []),
    ],
)
def test_which_option_is_meant(answer: str, names: list[str]) -> None:
    assert list(read_choice(answer, JARS).names) == names


def test_a_denial_among_three_leaves_two_and_is_no_choice() -> None:
    assert read_choice("not the old one", BOXES) == Choice((), ("old box",))
    assert read_choice("not the old one and not the new one, the other one", BOXES).names == ("tin box",)


@pytest.mark.parametrize(
    ("answer", "attitude"),
    [
        ("neither", Attitude.NONE),
        ("none of them", Attitude.NONE),
        ("we don't have any", Attitude.NONE),
        ("never mind", Attitude.CANCEL),
        ("stop!", Attitude.CANCEL),
        ("no idea", Attitude.UNSURE),
        ("no", Attitude.NO),
    ],
)
def test_answers_that_name_nothing(answer: str, attitude: Attitude) -> None:
    assert read_choice(answer, JARS) == Choice((), (), attitude)


@pytest.mark.parametrize(
    ("answer", "names", "denied"),
    [
        ("It's on the seat.", ["bench"], []),
        ("it is not on the bench", [], ["bench"]),
        ("not on the bench, on the low shelf", ["low shelf"], ["bench"]),
        ("I put it on the tall shelf", ["tall shelf"], []),
        ("on the shelf", [], []),
    ],
)
def test_where_something_is_and_is_not(answer: str, names: list[str], denied: list[str]) -> None:
    found = read_choice(answer, PLACES)
    assert (list(found.names), list(found.denied)) == (names, denied)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("yes", Reply(Attitude.YES)),
        ("Thanks, well done!", Reply(Attitude.YES)),
        ("no, that's fine", Reply(Attitude.YES)),
        ("no", Reply(Attitude.NO)),
        ("not really", Reply(Attitude.NO)),
        ("nope, the jar", Reply(Attitude.NO, "the jar")),
        ("good, and now shut the hatch", Reply(Attitude.YES, "shut the hatch")),
        ("yes, but I wanted it on the bench", Reply(Attitude.YES, "i wanted it on the bench")),
        ("thanks for nothing", Reply(Attitude.NO)),
        ("stop it", Reply(Attitude.CANCEL)),
        ("never mind", Reply(Attitude.CANCEL)),
        ("put it back", Reply(Attitude.UNDO)),
        ("no, leave the jar where it was and shut the hatch", Reply(Attitude.UNDO, "shut the hatch")),
        ("", Reply(Attitude.UNCLEAR)),
    ],
)
def test_what_a_reply_says(answer: str, reply: Reply) -> None:
    assert read_reply(answer, ("jar",)) == reply

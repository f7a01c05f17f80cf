"""The parser of explanations: every cause for both audiences, and no other statements."""

import itertools

import pytest

from eval.explanations import read_back
from nsrecover.core import Cause, Fact
from nsrecover.explanation import Audience
from nsrecover.explanation.templates import verbalize

NAMES = ("red cube", "dark red cube", "green die")
STEP = Fact("step", ("13", "top(red cube, green die)", "after"))
OTHERS = {
    Cause.SWAPPED: "dark red cube", Cause.BLOCKING: "green die", Cause.MISSING: "nowhere", Cause.MISTAKEN: "green die",
    Cause.REPLACED: "green die",
}  # fmt: skip
DETAILS = {Cause.HELPED: "5", Cause.MISSING: "nowhere", Cause.SWAPPED: "nowhere", Cause.BLOCKING: "nowhere"}


@pytest.mark.parametrize(("cause", "audience"), list(itertools.product(Cause, Audience)))
def test_every_cause_is_parsed_for_every_audience(cause: Cause, audience: Audience) -> None:
    other = OTHERS.get(cause, "table")
    said = {"red cube", "dark red cube"} if cause is Cause.SWAPPED else {"red cube"}
    for distance in range(1, 20):
        detail = DETAILS.get(cause, f"{distance} cm to the left of its place")
        facts = (
            STEP,
            Fact(cause.value, ("red cube", other, detail)),
            Fact("unachieved", ("top(red cube, green die)",)),
        )
        text = " ".join(sentence.text for sentence in verbalize(facts, audience))
        reading = read_back(text, NAMES)
        assert reading.unread == ()
        assert reading.causes == dict.fromkeys(said, cause), text
        assert reading.step == 13


def test_several_objects_share_a_sentence() -> None:
    reading = read_back("Step 2, top(a, b), went wrong: x. The red cube and the green die toppled.", NAMES)
    assert reading.step == 2
    assert reading.causes == {"red cube": Cause.TOPPLED, "green die": Cause.TOPPLED}


@pytest.mark.parametrize(
    "sentence",
    [
        "The red cube did not topple.",
        "The red cube may have toppled.",
        "The red cube toppled onto the purple cube.",
        "It was the red cube that was dropped.",
    ],
)
def test_unknown_sentences_do_not_count_as_right(sentence: str) -> None:
    reading = read_back(f"Step 2, top(a, b), went wrong: x. {sentence}", NAMES)
    assert reading.causes == {}
    assert reading.unread


def test_two_stories_about_one_object_are_noticed() -> None:
    text = "The first step, putting the a on the b, went wrong: x. The red cube toppled. The red cube is in the way."
    reading = read_back(text, NAMES)
    assert reading.step == 1
    assert reading.unread

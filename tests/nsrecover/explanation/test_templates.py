"""The sentences of the templates: every cause and every status of a recovery, and their verification."""

import pytest

from nsrecover.core import Action, Cause, Fact, Phase, Recovery, RecoveryStatus
from nsrecover.explanation import GroundedExplainer, claims, disagreements, facts_of
from tests.nsrecover.explanation.made_failures import (
    BACK,
    COLLAPSE,
    ONE_OF_EACH,
    PLACES,
    SIZE,
    culprit,
    discrepancy,
    graph,
)

STEP = "tep 4, top(red cube, blue cube),"


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (Cause.TOPPLED, f"S{STEP} went wrong: the blue cube toppled. The blue cube is now on the table."),
        (Cause.DROPPED, "is now on the table, 32 cm to the right of its place. So the red cube is not on the blue"),
        (Cause.NOT_LIFTED, "the red cube was not lifted. The red cube is still on the table. So the red cube is not"),
        (Cause.MISPLACED, "is now on the blue cube, 3 cm nearer to the robot than its place."),
        (Cause.MISSING, f"S{STEP} worked, but the dark red cube is missing."),
        (Cause.SWAPPED, "worked, but the white lego and the dark red cube have swapped places."),
        (Cause.MOVED, "although no action should have moved it. The dark red cube is now 7 cm to the left of its"),
        (Cause.BLOCKING, f"Before s{STEP} something was not as expected: the dark red cube is in the way of the red"),
        (Cause.HELPED, f"Before s{STEP} the scene is already ahead of the plan. The red cube is already as it should"),
    ],
)
def test_every_cause_has_its_sentences_and_is_read_back(cause: Cause, text: str) -> None:
    case = ONE_OF_EACH[cause]
    explanation = GroundedExplainer()(case, None)
    assert text in explanation.text
    assert explanation.step == 4
    assert explanation.verified
    assert claims(explanation.text, case.observed.names) == {(c.cause, c.name) for c in case.deviations}


def test_several_causes_are_summed_up_first() -> None:
    assert GroundedExplainer()(COLLAPSE, BACK).text == (
        "Step 4, top(red cube, blue cube), went wrong: the green die and the blue cube toppled, and the red cube was "
        "dropped. "
        "The green die and the blue cube are now on the table. "
        "The red cube is now on the table, 25 cm nearer to the robot than its place. "
        "So the red cube is not on the blue cube. "
        "The green die should be on the white lego and the blue cube on the green die. "
        "The recovery takes three actions, and there is no shorter one: first put the green die back on the "
        "white lego, then put the blue cube back on the green die and finally put the red cube on the blue cube. "
        "Then what the plan needs is as it should be after step 4."
    )


RECOVERED, ALREADY = RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL
FREE = Action.parse("free(dark red cube)")


@pytest.mark.parametrize(
    ("recovery", "ending"),
    [
        (Recovery(RECOVERED, (FREE,), subgoal=6), "set the dark red cube aside. This also completes steps 5 and 6."),
        (Recovery(RECOVERED, (FREE, FREE), subgoal=1), "be after step 1, and the plan repeats steps 2 to 4."),
        (Recovery(ALREADY, subgoal=6), "as it should be after step 6, so steps 5 and 6 can be skipped."),
        (Recovery(ALREADY, subgoal=3), "as it should be after step 3, so step 4 can be repeated."),
        (Recovery(ALREADY, subgoal=0), "as it was at the start, so steps 1 to 4 can be repeated."),
        (
            Recovery(RecoveryStatus.IMPOSSIBLE, note="the white lego is missing", blamed=("white lego", "blue cube")),
            "No recovery exists: the white lego is missing. The blue cube makes it impossible.",
        ),
        (
            Recovery(RecoveryStatus.BUDGET_EXHAUSTED, seconds=1.04, expansions=1),
            "No recovery was found in 1.0 seconds, after looking at one scene.",
        ),
        (
            Recovery(RECOVERED, (FREE,), subgoal=4, staying=("red cube", "b")),
            "The red cube and the b may stay where they are: no later step needs them elsewhere. "
            "Then what the plan needs is as it should be after step 4.",
        ),
    ],
)
def test_every_end_of_a_search_is_told(recovery: Recovery, ending: str) -> None:
    explanation = GroundedExplainer()(COLLAPSE, recovery)
    assert explanation.text.endswith(ending)
    assert explanation.verified


def test_every_sentence_rests_on_facts_of_the_failure() -> None:
    recovery = Recovery(RecoveryStatus.RECOVERED, (Action.parse("restore(blue cube)"),), (graph(),), subgoal=4)
    facts = set(facts_of(COLLAPSE, recovery))
    explanation = GroundedExplainer()(COLLAPSE, recovery)
    assert all(sentence.facts for sentence in explanation.sentences)
    assert set(explanation.facts) == facts


def test_a_failed_precondition_is_the_headline() -> None:
    case = discrepancy(
        culprit("dark red cube", Cause.BLOCKING, (0.5, 0.0, 0.18, SIZE, SIZE, SIZE), "red cube"),
        phase=Phase.BEFORE,
        unmet=(Fact("covered", ("dark red cube", "red cube")),),
    )
    assert GroundedExplainer()(case, None).sentences[0].text == (
        "Step 4, top(red cube, blue cube), cannot be done: the dark red cube stands on the red cube."
    )


def test_three_objects_that_changed_places_are_told_once() -> None:
    places = [PLACES[name] for name in ("white lego", "green die", "dark red cube")]
    case = discrepancy(
        culprit("white lego", Cause.SWAPPED, places[1], "green die"),
        culprit("green die", Cause.SWAPPED, places[2], "dark red cube"),
        culprit("dark red cube", Cause.SWAPPED, places[0], "white lego"),
    )
    text = GroundedExplainer()(case, None).text
    assert text.endswith("the white lego, the green die and the dark red cube have swapped places with one another.")
    assert text.count("swapped places") == 1


def test_a_name_inside_another_name_is_not_confused() -> None:
    assert claims("The dark red cube toppled.", ("red cube", "dark red cube")) == {(Cause.TOPPLED, "dark red cube")}


def test_a_text_that_blames_the_wrong_object_is_caught() -> None:
    facts = facts_of(COLLAPSE, None)
    text = GroundedExplainer()(COLLAPSE, None).text.replace(
        "the green die and the blue cube toppled", "the white lego toppled"
    )
    problems = disagreements(text, facts, COLLAPSE.observed.names)
    assert "the text says toppled(white lego), the facts do not" in problems
    assert "the facts say toppled(green die), the text does not" in problems


def test_a_reason_that_quotes_a_cause_does_not_count_as_a_claim() -> None:
    recovery = Recovery(RecoveryStatus.IMPOSSIBLE, note="the white lego is missing and was dropped")
    assert GroundedExplainer()(COLLAPSE, recovery).verified

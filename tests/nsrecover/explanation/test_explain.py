"""Explanations for every cause and every status of a recovery, and their verification."""

from __future__ import annotations

import numpy as np
import pytest

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.protocols import Explainer
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.explanation import GroundedExplainer, claims, disagreements, facts_of

SIZE = 0.04
PLACES: dict[str, Box] = {
    "white lego": (0.5, 0.0, 0.02, SIZE, SIZE, SIZE),
    "green die": (0.5, 0.0, 0.06, SIZE, SIZE, SIZE),
    "blue cube": (0.5, 0.0, 0.10, SIZE, SIZE, SIZE),
    "red cube": (0.5, 0.0, 0.14, SIZE, SIZE, SIZE),
    "dark red cube": (0.6, 0.2, 0.02, SIZE, SIZE, SIZE),
}
"""A tower of four, and one cube next to it."""


def graph(**moved: Box) -> SceneGraph:
    """Return the tower with moved objects; keyword names have underscores for spaces."""
    boxes = {**PLACES, **{name.replace("_", " "): box for name, box in moved.items()}}
    return SceneGraph(
        tuple(boxes),
        np.eye(len(boxes), dtype=np.float32),
        np.asarray(list(boxes.values()), np.float32),
        np.ones(len(boxes), np.bool_),
    )


def on_table(x: float, y: float) -> Box:
    return (x, y, 0.02, SIZE, SIZE, SIZE)


def culprit(
    name: str, cause: Cause, observed: Box | None, other: str | None = None, subgoal: int | None = None
) -> Deviation:
    expected = PLACES[name]
    distance = float("inf") if observed is None else float(np.linalg.norm(np.subtract(observed[:3], expected[:3])))
    return Deviation(name, cause, 0.02, distance, expected, observed, other, subgoal)


def discrepancy(
    *culprits: Deviation,
    action: str = "top(red cube, blue cube)",
    phase: Phase = Phase.AFTER,
    unmet: tuple[Fact, ...] = (),
) -> Discrepancy:
    expected = graph()
    observed = graph(**{c.name.replace(" ", "_"): c.observed for c in culprits if c.observed is not None})
    wrong = {c.name for c in culprits}
    probabilities = np.asarray([0.02 if name in wrong else 0.99 for name in expected.names], np.float32)
    return Discrepancy(
        3,
        phase,
        Action.parse(action),
        expected,
        observed,
        culprits,
        unmet,
        probabilities=probabilities,
    )


COLLAPSE = discrepancy(
    culprit("green die", Cause.TOPPLED, on_table(0.4, 0.1), "table"),
    culprit("blue cube", Cause.TOPPLED, on_table(0.35, 0.0), "table"),
    culprit("red cube", Cause.DROPPED, on_table(0.3, -0.1), "table"),
)

ONE_OF_EACH = {
    Cause.TOPPLED: (
        discrepancy(culprit("blue cube", Cause.TOPPLED, on_table(0.4, 0.1), "table")),
        "The blue cube toppled onto the table.",
    ),
    Cause.DROPPED: (
        discrepancy(culprit("red cube", Cause.DROPPED, on_table(0.5, -0.3), "table")),
        "The red cube was dropped on the way and now lies on the table, 32 cm to the right of its place.",
    ),
    Cause.NOT_LIFTED: (
        discrepancy(culprit("red cube", Cause.NOT_LIFTED, on_table(0.3, -0.3), "table")),
        "The red cube was not lifted: it still stands on the table.",
    ),
    Cause.MISPLACED: (
        discrepancy(culprit("red cube", Cause.MISPLACED, (0.47, 0.0, 0.14, SIZE, SIZE, SIZE))),
        "The red cube was misplaced: it stands on the blue cube, 3 cm nearer to the robot than its place.",
    ),
    Cause.MISSING: (
        discrepancy(culprit("dark red cube", Cause.MISSING, None)),
        "The dark red cube is nowhere to be seen.",
    ),
    Cause.SWAPPED: (
        discrepancy(
            culprit("white lego", Cause.SWAPPED, PLACES["dark red cube"], "dark red cube"),
            culprit("dark red cube", Cause.SWAPPED, PLACES["white lego"], "white lego"),
        ),
        "The white lego and the dark red cube have changed places.",
    ),
    Cause.MOVED: (
        discrepancy(culprit("dark red cube", Cause.MOVED, on_table(0.6, 0.27))),
        "The dark red cube has moved, though nothing was to touch it: it is now 7 cm to the left of its place.",
    ),
    Cause.BLOCKING: (
        discrepancy(
            culprit("dark red cube", Cause.BLOCKING, (0.5, 0, 0.18, SIZE, SIZE, SIZE), "red cube"), phase=Phase.BEFORE
        ),
        "The dark red cube is in the way of the red cube.",
    ),
    Cause.HELPED: (
        discrepancy(culprit("red cube", Cause.HELPED, PLACES["red cube"], None, 5), phase=Phase.BEFORE),
        "The red cube is already where it should be after step 5.",
    ),
}


BACK = Recovery(
    RecoveryStatus.RECOVERED,
    tuple(map(Action.parse, ("restore(green die)", "restore(blue cube)", "top(red cube, blue cube)"))),
    (
        graph(blue_cube=on_table(0.35, 0.0), red_cube=on_table(0.3, -0.1)),
        graph(red_cube=on_table(0.3, -0.1)),
        graph(),
    ),
    subgoal=4,
    cost=3,
    proven_optimal=True,
)


@pytest.mark.parametrize("cause", list(Cause))
def test_every_cause_has_its_sentence_and_is_read_back(cause: Cause) -> None:
    case, sentence = ONE_OF_EACH[cause]
    explanation = GroundedExplainer()(case, None)
    assert sentence in explanation.text
    assert explanation.step == 4
    assert explanation.verified
    assert claims(explanation.text, case.observed.names) == {(c.cause, c.name) for c in case.deviations}


def test_a_collapse_reads_like_a_person_wrote_it() -> None:
    assert GroundedExplainer()(COLLAPSE, BACK).text == (
        "Step 4, top(red cube, blue cube), went wrong: the tower fell and the gripper lost the red cube. "
        "The green die and the blue cube toppled onto the table. "
        "The red cube was dropped on the way and now lies on the table, 25 cm nearer to the robot than its place. "
        "So the red cube is not on the blue cube, as the step was to bring about. "
        "The green die should be on the white lego and the blue cube on the green die. "
        "The way back takes three actions, and there is no shorter way: first put the green die back on the "
        "white lego, then put the blue cube back on the green die and finally put the red cube on the blue cube. "
        "Then the scene is as it should be after step 4, and the plan goes on from there."
    )


@pytest.mark.parametrize(
    ("recovery", "ending"),
    [
        (
            Recovery(RecoveryStatus.RECOVERED, (Action.parse("free(dark red cube)"),), subgoal=6),
            "The way back takes one action: set the dark red cube aside. "
            "This also takes care of steps 5 and 6, and the plan goes on from there.",
        ),
        (
            Recovery(RecoveryStatus.RECOVERED, tuple(map(Action.parse, ("free(a)", "left(b, a)"))), subgoal=1),
            "The way back takes two actions: set the a aside, then put the b to the left of the a. "
            "Then the scene is as it should be after step 1, and the plan goes on with steps 2 to 4 again.",
        ),
        (
            Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=6),
            "Nothing has to be put right: the scene is as it should be after step 6, so steps 5 and 6 can be skipped.",
        ),
        (
            Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=3),
            "Nothing has to be put right: the scene is as it should be after step 3, "
            "so step 4 can simply be done again.",
        ),
        (
            Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=0),
            "Nothing has to be put right: the scene is as it was at the start, "
            "so steps 1 to 4 can simply be done again.",
        ),
        (
            Recovery(RecoveryStatus.IMPOSSIBLE, note="the white lego is missing", blamed=("white lego", "blue cube")),
            "There is no way back onto the plan: the white lego is missing. What makes it impossible is the blue cube.",
        ),
        (
            Recovery(RecoveryStatus.BUDGET_EXHAUSTED, seconds=1.04, expansions=321),
            "No way back was found in 1.0 seconds, after looking at 321 scenes.",
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


def test_what_may_stay_displaced_is_said() -> None:
    action, names = Action.parse("restore(blue cube)"), ("dark red cube", "red cube")
    recovery = Recovery(RecoveryStatus.RECOVERED, (action,), (graph(),), subgoal=4, staying=names)
    text = GroundedExplainer()(COLLAPSE, recovery).text
    assert "The dark red cube and the red cube may stay where they are: nothing that follows needs them" in text
    done = Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=4, staying=names[:1])
    assert (
        "The dark red cube may stay where it is: nothing that follows needs it"
        in GroundedExplainer()(COLLAPSE, done).text
    )


def test_a_failed_precondition_is_the_headline() -> None:
    case = discrepancy(
        culprit("dark red cube", Cause.BLOCKING, (0.5, 0.0, 0.18, SIZE, SIZE, SIZE), "red cube"),
        phase=Phase.BEFORE,
        unmet=(Fact("covered", ("dark red cube", "red cube")),),
    )
    assert GroundedExplainer()(case, None).sentences[0].text == (
        "Step 4, top(red cube, blue cube), cannot be done as things are: the dark red cube stands on the red cube."
    )


def test_a_step_that_worked_is_not_said_to_have_failed() -> None:
    text = GroundedExplainer()(ONE_OF_EACH[Cause.MOVED][0], None).text
    assert text.startswith("Step 4, top(red cube, blue cube), did what it should, but the dark red cube was shifted.")
    assert "went wrong" not in text


def test_a_helping_hand_is_no_failure() -> None:
    text = GroundedExplainer()(
        ONE_OF_EACH[Cause.HELPED][0], Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=5)
    ).text
    assert "wrong" not in text
    assert text.endswith("so steps 4 and 5 can be skipped.")


def test_three_objects_that_changed_places_are_told_once() -> None:
    places = [PLACES[name] for name in ("white lego", "green die", "dark red cube")]
    case = discrepancy(
        culprit("white lego", Cause.SWAPPED, places[1], "green die"),
        culprit("green die", Cause.SWAPPED, places[2], "dark red cube"),
        culprit("dark red cube", Cause.SWAPPED, places[0], "white lego"),
    )
    text = GroundedExplainer()(case, None).text
    assert "The white lego, the green die and the dark red cube have changed places with one another." in text
    assert text.count("changed places") == 1


def test_a_name_inside_another_name_is_not_confused() -> None:
    assert claims("The dark red cube toppled.", ("red cube", "dark red cube")) == {(Cause.TOPPLED, "dark red cube")}


def test_a_text_that_blames_the_wrong_object_is_caught() -> None:
    facts = facts_of(COLLAPSE, None)
    text = GroundedExplainer()(COLLAPSE, None).text.replace(
        "The green die and the blue cube toppled", "The white lego toppled"
    )
    problems = disagreements(text, facts, COLLAPSE.observed.names)
    assert "the text says toppled(white lego), the facts do not" in problems
    assert "the facts say toppled(green die), the text does not" in problems


def test_a_reason_that_quotes_a_cause_does_not_count_as_a_claim() -> None:
    recovery = Recovery(RecoveryStatus.IMPOSSIBLE, note="the white lego is missing and was dropped")
    assert GroundedExplainer()(COLLAPSE, recovery).verified


def test_an_operator_without_wording_is_quoted() -> None:
    recovery = Recovery(RecoveryStatus.RECOVERED, (Action("pour", ("red cube", "blue cube")),), subgoal=4)
    assert "do pour(red cube, blue cube)" in GroundedExplainer()(COLLAPSE, recovery).text


def test_it_meets_the_protocol() -> None:
    explainer: Explainer = GroundedExplainer()
    assert isinstance(explainer(COLLAPSE, None).facts[0], Fact)

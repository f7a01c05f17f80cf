"""Typed causes of deviating facts."""

import re
from pathlib import Path

import pytest

from nsrecover.core import Action, Cause, FactScene, PlanFault, StateFact
from nsrecover.monitoring.facts.causes import FactSituation, deviations
from nsrecover.monitoring.facts.outlook import counterfactual_cause, imagine
from tests.nsrecover.kitchen_facts import HOME, START, WATER, WATERED, WINE


def situation(done: int, *more: StateFact, less: tuple[StateFact, ...] = ()) -> FactSituation:
    """After some actions of the plan, with other facts than expected."""
    before = START
    for action in WATER.actions[: done - 1]:
        before = imagine(HOME, before, action)
    action = WATER[done - 1]
    expected = imagine(HOME, before, action)
    observed = (expected - frozenset(less)) | frozenset(more)
    rest = WATER.actions[done:]
    return FactSituation(HOME, action, before, FactScene(expected), FactScene(observed), rest, WATERED, done)


HELD, IN_SINK = ("holding", "pot"), ("at", "pot", "sink")


@pytest.mark.parametrize(
    ("done", "more", "less", "found"),
    [
        (1, [("at", "pot", "countertop")], [HELD], {"pot": Cause.NOT_DONE}),
        (2, [("at", "pot", "floor")], [IN_SINK], {"pot": Cause.DROPPED}),
        (2, [("at", "pot", "dining table")], [IN_SINK], {"pot": Cause.MISPLACED}),
        (2, [HELD], [IN_SINK], {"pot": Cause.NOT_DONE}),
        (2, [], [("at", "mug", "countertop")], {"mug": Cause.MISSING}),
        (2, [("covers", "mug", "pot")], [], {"mug": Cause.BLOCKING}),
        (2, [("at", "mug", "dining table")], [("at", "mug", "countertop")], {"mug": Cause.MOVED}),
        (2, [("open", "fridge")], [], {"fridge": Cause.CHANGED}),
        (2, [("running", "faucet")], [], {"faucet": Cause.HELPED}),
        (
            1,
            [("at", "pot", "countertop"), ("holding", "mug")],
            [HELD, ("at", "mug", "countertop")],
            {"mug": Cause.MISTAKEN, "pot": Cause.NOT_DONE},
        ),
    ],
)
def test_causes(done: int, more: list[StateFact], less: list[StateFact], found: dict[str, Cause]) -> None:
    assert {each.name: each.cause for each in deviations(situation(done, *more, less=tuple(less)))} == found


def test_the_page_lists_the_codes_and_their_meanings() -> None:
    page = (Path(__file__).parents[3] / "docs" / "household_monitoring.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, flags=re.MULTILINE))
    assert rows == {code.value: code.meaning for code in PlanFault}


def test_the_cause_is_the_smallest_change_without_which_the_goal_is_reached() -> None:
    now = situation(1, WINE, ("open", "fridge"), ("at", "mug", "dining table"), less=(("at", "mug", "countertop"),))
    assert len(deviations(now)) == 3
    found = counterfactual_cause(
        HOME, now.observed.facts, now.expected.facts, now.deviating, now.rest, WATERED
    )  # fmt: skip
    assert found == ("pot",)
    assert not counterfactual_cause(HOME, now.expected.facts, now.expected.facts, (), now.rest, WATERED)


def test_two_needed_changes_are_both_causes() -> None:
    lost = ("filled", "house plant", "wine")
    now = situation(1, WINE, lost)
    assert counterfactual_cause(HOME, now.observed.facts, now.expected.facts, now.deviating, now.rest, WATERED) == (
        "house plant",
        "pot",
    )
    assert now.action == Action("pick_up", ("pot",))

"""Typed causes of deviating facts."""

import re
from pathlib import Path

import pytest

import nsrecover
from nsrecover import Act, Look, Plan, Verdict, geometric
from nsrecover.core import Cause, EpisodeStatus, FactScene, Phase, PlanFault, StateFact
from nsrecover.domains import (
    Derived,
    Domain,
    Effect,
    Exists,
    Kind,
    Not,
    Operator,
    Parameter,
    StateVariable,
    absent,
    fact,
    scene_of,
)  # fmt: skip
from nsrecover.monitoring.fact_causes import FactSituation, deviations
from nsrecover.monitoring.outlook import imagine
from tests.nsrecover.kitchen_facts import HOME, START, WATER, WATERED


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


# -- a precondition that does not hold is a deviation, though every object is in its place


SIZE = (0.05, 0.05, 0.05)


def test_an_unmet_precondition_alone_is_a_deviation() -> None:
    boxes = {"a": (0.5, 0.0, 0.025, *SIZE), "on it": (0.5, 0.0, 0.075, *SIZE), "b": (0.5, 0.2, 0.025, *SIZE)}
    found = geometric().monitor(Plan.parse("top(a, b)"), boxes).check(boxes)
    assert found.deviations == ()
    assert found.unmet
    assert found.verdict is Verdict.DEVIATING
    assert found.deviates
    assert not found.as_expected


# -- a goal that is derived of a reading that never changes is not taken to be reached


DOORS = Domain.of(
    "doors",
    Kind("door"),
    StateVariable("ajar", ("shut", "ajar"), "door"),
    Operator("close", (Parameter("?door", "door"),), (fact("ajar", "?door"),), (Effect(deletes=(("ajar", "?door"),)),)),
    Derived("is_shut", ("?door",), absent("ajar", "?door")),
    Derived("all_shut", (), Not(Exists("?door", fact("ajar", "?door")))),
)


def _run(goal: StateFact, works_after: int) -> tuple[EpisodeStatus, set[StateFact]]:
    """Close two doors, of which the first one stays ajar for some tries."""
    facts: set[StateFact] = {("ajar", "first"), ("ajar", "second")}
    system = nsrecover.symbolic(scene_of(DOORS, {"first": "door", "second": "door"}), [goal])
    session = system.session(nsrecover.Plan.parse("close(first); close(second)"), facts)
    tries = 0
    while not session.request.final:
        request = session.request
        assert isinstance(request, Act | Look)
        if isinstance(request, Act):
            name = request.action.arguments[0]
            tries += name == "first"
            if name == "second" or tries > works_after:
                facts = facts - {("ajar", name)}
        session.observed(facts)
    return session.episode.status, facts


@pytest.mark.parametrize("goal", [("all_shut",), ("is_shut", "first")])
def test_a_goal_that_is_seen_not_to_hold_is_never_completed(goal: StateFact) -> None:
    status, facts = _run(goal, 1000)
    assert status is EpisodeStatus.ASKED_FOR_HELP
    assert ("ajar", "first") in facts


@pytest.mark.parametrize("goal", [("all_shut",), ("is_shut", "first")])
def test_it_is_completed_once_it_holds(goal: StateFact) -> None:
    assert _run(goal, 1) == (EpisodeStatus.COMPLETED, set())


def test_a_stopped_action_that_has_changed_nothing_is_explained_by_what_stopped_it() -> None:
    system = nsrecover.symbolic(HOME, WATERED)
    spoilt = START | {("filled", "pot", "wine")}
    held = (START - {("at", "pot", "countertop")}) | {("holding", "pot")}
    for seen, step, causes in (
        (spoilt, 0, {"pot": Cause.CHANGED}),
        (START, 0, {}),
        (held, 1, {}),
        (held | {("open", "fridge")}, 1, {"fridge": Cause.CHANGED}),
    ):
        monitor = system.monitor(WATER, FactScene(START))
        monitor.step(WATER[0], FactScene(frozenset(seen)))
        found = monitor.stopped()
        assert (monitor.num_executed, found.phase) == (step, Phase.AFTER if step else Phase.BEFORE)
        assert {each.name: each.cause for each in found.deviations} == causes

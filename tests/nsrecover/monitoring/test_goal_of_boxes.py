"""A plan of boxes is done once each object was seen often enough as the plan's own last scene has it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover import Act, Done, Plan, Stopped
from nsrecover.core import Fact, StopCode, Visibility
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.monitoring.box_goal import GoalScene
from nsrecover.monitoring.resting_places import RestingPlaces

CUBE, BRICK, UPRIGHT = (0.04, 0.04, 0.04), (0.062, 0.037, 0.037), (0.037, 0.037, 0.062)
RED, FREE, GREY = (0.4, 0.0, 0.02, *CUBE), (0.5, 0.15, 0.02, *CUBE), (0.3, -0.2, 0.02, *CUBE)
ON_RED, ON_BLUE = (0.4, 0.0, 0.06, *CUBE), (0.4, 0.0, 0.10, *CUBE)
Scene = dict[str, tuple[float, ...] | None]
START: Scene = {"red": RED, "blue": FREE, "grey": GREY}


def _run(plan: str, start: Scene, see: Callable[[int, int], Scene], most: int = 40) -> tuple[object, list[str]]:
    """The last request, and what was asked for; `see` has the number of actions and of looks since the last one."""
    session = nsrecover.geometric().session(Plan.parse(plan), start)
    acts, looks, asked = 0, 0, list[str]()
    while not session.request.final and len(asked) < most:
        acting = isinstance(session.request, Act)
        acts, looks = (acts + 1, 0) if acting else (acts, looks + 1)
        asked.append("act" if acting else "look")
        session.observed(see(acts, looks))
    return session.request, asked


def test_one_look_that_shows_the_goal_is_not_enough() -> None:
    last, asked = _run(
        "top(blue, red)", START, lambda acts, looks: {**START, "blue": START["blue"] if looks else ON_RED}
    )
    assert isinstance(last, Stopped)
    assert asked.count("look") > asked.count("act") > 1


def test_what_only_one_look_has_shown_is_named() -> None:
    last, _ = _run("top(blue, red)", START, lambda acts, looks: {**START, "blue": None if looks else ON_RED})
    assert isinstance(last, Stopped)
    assert last.why is StopCode.GOAL_UNSEEN
    assert "blue" in last.reason


@pytest.mark.parametrize("off", [(0.425, 0.0), (0.4, 0.025), (0.38, -0.02)])
def test_an_object_that_was_misplaced_and_then_vanishes_is_not_accepted_where_it_was(off: tuple[float, float]) -> None:
    last, _ = _run(
        "top(blue, red)",
        {"red": RED, "blue": FREE},
        lambda acts, _: {"red": RED, **({"blue": (*off, *ON_RED[2:])} if acts < 2 else {})},
    )
    assert isinstance(last, Stopped)
    assert "blue" in last.reason


@pytest.mark.parametrize("stranger", [True, False])
def test_a_support_in_whose_place_a_newcomer_is_seen_is_not_confirmed_by_what_it_bears(stranger: bool) -> None:
    stacked = {**START, "blue": None, "grey": ON_BLUE, **({"stranger": ON_RED} if stranger else {})}
    last, asked = _run(
        "top(blue, red); top(grey, blue)", START, lambda acts, _: {**START, "blue": ON_RED} if acts < 2 else stacked
    )
    assert asked.count("act") >= 2
    assert isinstance(last, Stopped if stranger else Done)
    assert not stranger or "blue" in last.reason


@pytest.mark.parametrize(
    ("plan", "start", "seen", "unmet"),
    [
        ("top(blue, red)", START, {**START, "blue": ON_RED}, None),
        ("top(blue, red)", START, {**START, "red": GREY, "grey": RED, "blue": ON_RED}, Fact("on", ("blue", "red"))),
        ("top(blue, red)", START, {**START, "blue": (0.4, 0.0, 0.076, *CUBE)}, Fact("on", ("blue", "red"))),
        ("left(blue, red)", START, {**START, "blue": (0.4, 0.3, 0.02, *CUBE)}, Fact("left", ("blue", "red"))),
        (
            "top(blue, red)",
            {**START, "blue": (0.5, 0.15, 0.0185, *BRICK)},
            {**START, "blue": (0.4, 0.0, 0.071, *UPRIGHT)},
            Fact("upright", ("blue",)),
        ),
        (
            "top(blue, red)",
            {**START, "blue": (0.5, 0.15, 0.0185, *BRICK)},
            {**START, "red": (0.6, 0.1, 0.02, *CUBE), "blue": (0.6, 0.1, 0.0585, *BRICK)},
            None,
        ),
    ],
)
def test_the_goal_is_relations_and_heights_over_supports(
    plan: str, start: Scene, seen: Scene, unmet: Fact | None
) -> None:
    system = nsrecover.geometric()
    monitor = system.monitor(Plan.parse(plan), start)
    goal = GoalScene.of(monitor.trace, system.domain)
    assert goal.unmet(nsrecover.scene_of_boxes(seen), "blue") == unmet
    assert goal.unmet(nsrecover.scene_of_boxes(seen), "red") is None


def test_what_a_person_gave_up_is_no_part_of_the_goal() -> None:
    system = nsrecover.geometric()
    goal = GoalScene.of(system.monitor(Plan.parse("left(blue, red)"), START).trace, system.domain)
    away = nsrecover.scene_of_boxes({**START, "blue": (0.4, 0.3, 0.02, *CUBE)})
    assert goal.unmet(away, "blue") == Fact("left", ("blue", "red"))
    assert goal.without([("left", "blue", "red")]).unmet(away, "blue") is None


def test_a_brick_that_fell_on_its_end_half_hidden_is_laid_down_and_not_put_upright_onto_its_place() -> None:
    system = nsrecover.geometric()
    brick, die = (0.38, -0.15, 0.0185, *BRICK), (0.635, -0.03, 0.02, *CUBE)
    monitor = system.monitor(Plan.parse("top(brick, die)"), {"brick": brick, "die": die})
    found = monitor.step(monitor.next_action, {"brick": (0.635, 0.055, 0.048, 0.037, 0.037, 0.032), "die": die})
    (action,) = system.planner.recover(found.observed, monitor.trace, found).actions
    assert (action.operator, action.arguments) == ("restore", ("brick",))
    assert action.target is not None
    assert action.target[5] == pytest.approx(BRICK[2])


def test_an_object_that_may_be_there_without_a_mask_confirms_nothing() -> None:
    monitor = nsrecover.geometric().monitor(Plan.parse("top(blue, red)"), START)
    goal, seen = (
        GoalScene.of(monitor.trace, nsrecover.geometric().domain),
        nsrecover.scene_of_boxes({**START, "blue": ON_RED}),
    )
    row = seen.index("blue")
    hidden = np.arange(len(seen)) == row
    unknown = replace(seen, seen=~hidden, unknown=hidden)
    assert unknown.visibility(row) is Visibility.UNKNOWN
    doubts = [goal.believed({"blue": 0.1}, ["blue"], looks, ())["blue"] for looks in ([], [unknown] * 3, [seen] * 3)]
    assert doubts[1] == doubts[0] > doubts[2]


def test_an_object_as_probable_as_the_threshold_is_as_expected() -> None:
    system = nsrecover.geometric()
    plan, shifted = Plan.parse("top(blue, red)"), {**START, "blue": (0.4, 0.014, 0.06, *CUBE)}
    monitor = system.monitor(plan, START)
    found = monitor.step(plan[0], shifted)
    chance = np.float32(found.probabilities[found.observed.index("blue")])
    assert 0.0 < chance < 1.0
    above = np.nextafter(chance, np.float32(1.0))
    for threshold, deviating in ((float(chance), ()), (float(above), ("blue",))):
        models = system.model.models.with_threshold(threshold)
        assert nsrecover.Comparison(models).after(found.observed, monitor.trace, 0).deviating == deviating


def test_drift_is_measured_in_height_too() -> None:
    places = RestingPlaces(nsrecover.scene_of_boxes(START))
    raised = nsrecover.scene_of_boxes({**START, "blue": (*FREE[:2], FREE[2] + 0.03, *CUBE)})
    assert list(places.drifted(raised, 0.02)) == ["blue"]
    assert list(places.drifted(raised, 0.04)) == []


def test_an_object_that_was_seen_in_part_before_a_step_does_not_lean_when_all_of_it_is_seen() -> None:
    system, size, less = nsrecover.geometric(), (0.048, 0.048, 0.048), (0.039, 0.053, 0.038)
    start = nsrecover.scene_of_boxes({"red": (0.4, 0.0, size[2] / 2, *size), "blue": FREE})
    trace = system.imagination.trace(start, Plan.parse("left(blue, red)"))
    before, after = (graph.with_node(0, (0.4, 0.0, less[2] / 2, *less)) for graph in trace.graphs)
    for first, deviates in ((start, False), (before, True)):
        seen_in_part = replace(trace, graphs=(first, after))
        assert system.comparison.after(trace.graphs[1], seen_in_part, 0).deviates is deviates


@pytest.mark.parametrize(("lower", "upright"), [(0.010, True), (0.0, False)])
def test_an_object_that_reaches_into_what_bears_it_is_not_turned(lower: float, upright: bool) -> None:
    flat, tall = (0.032, 0.048, 0.041), (0.032, 0.043, 0.051)
    start = nsrecover.scene_of_boxes({"red": RED, "blue": (0.5, 0.15, 0.0205, *flat)})
    trace = nsrecover.geometric().imagination.trace(start, Plan.parse("top(blue, red)"))
    seen = trace.graphs[-1].with_node(1, (0.4, 0.0, 0.04 + tall[2] / 2 - lower, *tall))
    assert (GoalScene.of(trace, TABLETOP).unmet(seen, "blue") is None) is upright

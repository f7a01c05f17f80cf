"""Verdicts from several observations: alarms that the next looks do not confirm, and objects that nobody has seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import nsrecover
from nsrecover import Monitor, SceneGraph, System
from nsrecover.core import Cause, Discrepancy, Unseen, UnseenReason, Verdict
from nsrecover.core.protocols import Reported
from tests.nsrecover.monitoring.cubes import PLAN, SIDE, Boxes, on, table

DONE = table(green=on("red"))
SHIFTED = table(green=on("red"), grey=(0.6, -0.2, SIDE / 2))
FALLEN = table(green=(0.5, -0.05, SIDE / 2))


@pytest.fixture
def system() -> System:
    return nsrecover.geometric()


@pytest.fixture(params=["fork", "no fork"])
def monitor(system: System, request: pytest.FixtureRequest) -> Monitor[Any]:
    ordered = nsrecover.BoxesPerceiver()

    def plain(boxes: Boxes, expected: SceneGraph | None = None) -> SceneGraph:
        """A perceiver of a user, which cannot be forked."""
        return ordered(boxes, expected)

    return system.monitor(PLAN, table(), perceiver=ordered if request.param == "fork" else plain)


def judged(monitor: Monitor[Any], *looks: Boxes) -> Discrepancy:
    found = monitor.step(PLAN[0], looks[0])
    for look in looks[1:]:
        found = monitor.look_again(look)
    return found


@pytest.mark.parametrize(
    ("looks", "verdict"),
    [
        ((DONE,), Verdict.AS_EXPECTED),
        ((SHIFTED,), Verdict.DEVIATING),
        ((SHIFTED, SHIFTED), Verdict.DEVIATING),
        ((SHIFTED, DONE), Verdict.CANNOT_TELL),
        ((SHIFTED, DONE, DONE), Verdict.AS_EXPECTED),
        ((SHIFTED, DONE, SHIFTED), Verdict.CANNOT_TELL),
        ((SHIFTED, DONE, SHIFTED, SHIFTED, SHIFTED), Verdict.DEVIATING),
        ((SHIFTED, table(green=on("red"), grey=None)), Verdict.CANNOT_TELL),
        ((SHIFTED, SHIFTED, DONE, DONE), Verdict.CANNOT_TELL),
        ((SHIFTED, SHIFTED, DONE, DONE, DONE), Verdict.AS_EXPECTED),
    ],
)
def test_what_the_looks_together_say_surely_enough_is_so(
    monitor: Monitor[Any], looks: tuple[Boxes, ...], verdict: Verdict
) -> None:
    found = judged(monitor, *looks)
    assert found.verdict is verdict
    assert found.looks == len(looks)
    assert found.deviating == (("grey",) if verdict is Verdict.DEVIATING else ())
    if verdict is Verdict.CANNOT_TELL:
        assert found.missing_to_tell == (Unseen("grey", UnseenReason.LOOKS_DISAGREE),)
    assert found.deviates is (verdict is Verdict.DEVIATING)
    assert found.as_expected is (verdict is Verdict.AS_EXPECTED)
    assert monitor.num_executed == 1
    assert monitor.next_action == PLAN[1]


def test_what_was_moved_and_is_not_seen_is_never_as_expected(monitor: Monitor[Any]) -> None:
    found = judged(monitor, table(green=None))
    assert not found.deviates
    assert found.verdict is Verdict.CANNOT_TELL
    assert found.missing_to_tell == (Unseen("green", UnseenReason.OCCLUDED, moved=True),)
    assert found.unseen == found.missing_to_tell
    assert monitor.unconfirmed == ("green",)
    # the next action uses it
    assert monitor.check().verdict is Verdict.CANNOT_TELL
    # it stays unconfirmed until it is seen, whatever else happens
    assert monitor.step(PLAN[1], table(green=None, blue=on("red", 2))).verdict is Verdict.CANNOT_TELL
    assert monitor.look_again(table(green=on("red"), blue=on("red", 2))).as_expected
    assert monitor.unconfirmed == ()


def test_a_bystander_out_of_sight_is_listed_and_taken_to_be_where_it_was(monitor: Monitor[Any]) -> None:
    found = judged(monitor, table(green=on("red"), grey=None))
    assert found.as_expected
    assert found.unseen == (Unseen("grey", UnseenReason.OCCLUDED),)
    assert monitor.check().as_expected


def test_it_looks_again_until_the_verdict_is_settled_and_no_longer(monitor: Monitor[Any]) -> None:
    unusable: Boxes = {"red": (float("nan"),) * 6}

    def confirmed(first: Boxes, *scenes: Boxes) -> tuple[Discrepancy, int]:
        monitor.set_plan(PLAN, observation=table())
        monitor.step(PLAN[0], first)
        waiting = iter(scenes)
        return monitor.confirm(waiting.__next__), len(scenes) - len([*waiting])

    found, made = confirmed(DONE, DONE)
    assert (found.as_expected, made) == (True, 0)
    found, made = confirmed(SHIFTED, SHIFTED, SHIFTED)
    assert (found.deviating, made) == (("grey",), 1)
    found, made = confirmed(SHIFTED, unusable, DONE, unusable, unusable, unusable)
    assert (found.verdict, made, found.looks) == (Verdict.CANNOT_TELL, 5, 2), "an unusable observation counts as made"


def test_a_newcomer_never_deviates_and_is_forgotten_when_it_leaves(monitor: Monitor[Any], system: System) -> None:
    hand = {"hand": (0.6, 0.0, 0.05, 0.08, 0.08, 0.1)}
    found = monitor.step(PLAN[0], DONE | hand)
    assert (found.as_expected, found.newcomers) == (True, ("hand",))
    elsewhere = {"hand": (0.6, 0.25, 0.05, 0.08, 0.08, 0.1)}
    assert monitor.check(DONE | elsewhere).as_expected
    found = monitor.step(PLAN[1], table(green=on("red"), blue=on("red", 2)))
    assert (found.as_expected, found.newcomers) == (True, ())
    assert "hand" not in monitor.graph.names
    assert all("hand" not in graph.names for graph in monitor.trace.graphs)


def test_what_the_detector_does_not_name_at_first_is_not_missed_when_it_is_gone(system: System) -> None:
    class Naming(nsrecover.BoxesPerceiver):
        reported = Reported(unnamed=frozenset({"new object", "blue"}))

    phantom = {"new object": (0.4, 0.3, 0.01, 0.02, 0.02, 0.02)}
    monitor = system.monitor(PLAN, table() | phantom, perceiver=Naming())
    found = monitor.step(PLAN[0], DONE)
    assert (found.as_expected, found.newcomers) == (True, ())
    assert monitor.check(table(green=on("red"), blue=(0.6, 0.2, SIDE / 2))).deviating == ("blue",), "the plan names it"


@pytest.mark.parametrize(
    ("shown", "looks", "cause"),
    [
        ((True, False, True), 3, Cause.DROPPED),
        ((False, True, True), 3, Cause.DROPPED),
        ((True, False, False), 3, Cause.MISSING),
        ((False, False), 2, Cause.MISSING),
        ((True, True), 2, Cause.DROPPED),
    ],
)
def test_what_one_look_shows_elsewhere_and_another_misses_is_looked_for_once_more(
    system: System, shown: tuple[bool, ...], looks: int, cause: Cause
) -> None:
    def perceive(boxes: Mapping[str, Any], expected: SceneGraph | None = None) -> SceneGraph:
        return nsrecover.scene_of_boxes(boxes)

    lost = {name: box for name, box in FALLEN.items() if name != "green"}
    first, *more = (FALLEN if each else lost for each in shown)
    monitor = system.monitor(PLAN, table(), perceiver=perceive)
    monitor.step(PLAN[0], first)
    found = monitor.confirm(iter(more).__next__)
    assert found.looks == looks
    assert [(each.name, each.cause) for each in found.deviations] == [("green", cause)]

"""The monitor in loops of other people: a recorded episode with the shipped checkpoint, and boxes without pixels."""

from collections.abc import Mapping

import numpy as np
import pytest

import nsrecover
from nsrecover import Action, Cause, Discrepancy, Plan, RecoveryStatus, System
from nsrecover.errors import InvalidAction, InvalidObservation, InvalidPlan, UnknownObject
from nsrecover.records import recording
from tests.nsrecover.monitoring.cubes import PLACES, PLAN, SIDE, Boxes, on, table

GOOD = (table(), table(green=on("red")), table(green=on("red"), blue=on("red", 2)))


@pytest.fixture
def system() -> System:
    return nsrecover.geometric()


def test_what_creeps_away_is_told_once_it_is_no_longer_where_it_was(system: System) -> None:
    plan = Plan.parse("top(green, red); top(blue, green); left(blue, red); top(blue, green); right(blue, red)")
    monitor = system.monitor(plan, GOOD[0])
    scene: Boxes = dict(GOOD[0])
    told = []
    for step, action in enumerate(plan):
        monitor.check()
        expected = monitor.trace.graphs[step + 1]
        scene["blue"], scene["green"] = (tuple(expected.boxes[expected.index(name)]) for name in ("blue", "green"))
        scene["grey"] = table(grey=(PLACES["grey"][0] + 0.007 * (step + 1), PLACES["grey"][1], SIDE / 2))["grey"]
        told.append(monitor.step(action, scene))
    assert [found.deviating for found in told] == [(), (), ("grey",), (), ()]
    belongs = told[2].expected.boxes[told[2].expected.index("grey"), :2]
    np.testing.assert_allclose(belongs, PLACES["grey"], atol=1e-6)


def test_a_reset_begins_a_new_episode_with_another_plan_and_other_objects(system: System) -> None:
    monitor = system.monitor(PLAN, GOOD[0])
    assert monitor.step(PLAN[0], table(green=(0.6, 0.2, SIDE / 2))).deviates
    plan = Plan.parse("top(cup, jar)")
    before = {"cup": (0.5, 0.0, 0.02, SIDE, SIDE, SIDE), "jar": (0.5, 0.2, 0.02, SIDE, SIDE, SIDE)}
    monitor.reset(plan, before)
    assert (monitor.graph.names, monitor.num_executed, monitor.plan) == (("cup", "jar"), 0, plan)
    assert not monitor.step(plan[0], before | {"cup": (0.5, 0.2, 0.06, SIDE, SIDE, SIDE)}).deviates
    assert monitor.next_action is None


def test_after_an_error_the_loop_goes_on_with_the_plan_of_another_planner(system: System) -> None:
    monitor = system.monitor(PLAN, GOOD[0])
    fallen = (0.5, -0.05, SIDE / 2)
    assert monitor.step(PLAN[0], table(green=fallen)).deviating == ("green",)
    new = Plan.parse("top(red, green); top(blue, red)")
    monitor.set_plan(new)
    assert monitor.plan == new
    low = table(green=fallen, red=(*fallen[:2], 1.5 * SIDE))
    assert not monitor.step(new[0], low).deviates
    assert monitor.step(new[1], low).deviations[0].cause is Cause.NOT_LIFTED


def test_the_last_action_can_be_tried_again(system: System) -> None:
    monitor = system.monitor(PLAN, GOOD[0])
    assert monitor.step(PLAN[0], GOOD[0]).deviations[0].cause is Cause.NOT_LIFTED
    with pytest.raises(InvalidPlan, match=r"monitor\.set_plan\(monitor\.plan, num_executed=0\)"):
        monitor.step(PLAN[0], GOOD[1])
    monitor.set_plan(monitor.plan, num_executed=0)
    assert not monitor.step(PLAN[0], GOOD[1]).deviates
    assert monitor.step(PLAN[1], GOOD[1]).deviations[0].cause is Cause.NOT_LIFTED
    monitor.set_plan(monitor.plan, num_executed=1)
    again = monitor.step(PLAN[1], GOOD[2])
    assert not again.deviates
    assert again.step == 1


def test_by_way_of_a_recovery_it_goes_on_to_the_end(system: System) -> None:
    monitor = system.monitor(PLAN, GOOD[0])
    fallen = table(green=on("red"), blue=(0.45, 0.1, SIDE / 2), grey=(0.6, -0.2, SIDE / 2))
    monitor.step(PLAN[0], GOOD[1])
    found = monitor.step(PLAN[1], fallen)
    assert found.deviating == ("blue", "grey")
    recovery = system.planner.recover(found.observed, monitor.trace, found)
    plan = monitor.rejoin(recovery)
    assert sorted(str(action) for action in plan) == ["restore(grey)", "top(blue, green)"]
    scene: Mapping[str, tuple[float, ...]] = fallen
    for action in plan:
        assert not monitor.check().deviates
        name = action.arguments[0]
        scene = {**scene, name: GOOD[2][name]}
        assert not monitor.step(action, scene).deviates
    assert monitor.next_action is None


def test_a_recovery_that_found_no_way_cannot_be_followed(system: System) -> None:
    monitor = system.monitor(PLAN, GOOD[0])
    found = monitor.step(PLAN[0], {name: box for name, box in GOOD[1].items() if name != "blue"})
    assert [(culprit.name, culprit.cause) for culprit in found.deviations] == [("blue", Cause.MISSING)]
    recovery = system.planner.recover(found.observed, monitor.trace, found)
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    with pytest.raises(InvalidPlan, match="missing_objects: blue"):
        monitor.rejoin(recovery)


def test_an_action_that_says_where_it_leads_is_taken_at_its_word(system: System) -> None:
    plan = Plan.parse("free(grey); top(green, red)")
    monitor = system.monitor(plan, GOOD[0])
    (x, y, *_) = monitor.plan[0].target or ()
    elsewhere = (0.7, 0.25, SIDE / 2)
    assert np.hypot(x - elsewhere[0], y - elsewhere[1]) > 0.05
    after = table(grey=elsewhere)
    assert system.monitor(plan, GOOD[0]).step(plan[0], after).deviating == ("grey",)
    assert not monitor.step(Action("free", ("grey",), target=(*elsewhere, SIDE, SIDE, SIDE)), after).deviates
    assert not monitor.step(plan[1], table(grey=elsewhere, green=on("red"))).deviates


@pytest.mark.parametrize(
    ("plan", "error"),
    [("top(geen, red)", UnknownObject), ("topp(green, red)", InvalidAction), ("top(green)", InvalidAction)],
)
def test_a_plan_that_does_not_fit_is_refused_at_once_with_a_hint(
    system: System, plan: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"Did you mean|arguments"):
        system.monitor(Plan.parse(plan), GOOD[0])
    monitor = system.monitor(PLAN, GOOD[0])
    with pytest.raises(error):
        monitor.set_plan(Plan.parse(plan))
    assert monitor.plan == PLAN
    with pytest.raises(InvalidPlan, match="from 0 to the 2"):
        monitor.set_plan(PLAN, num_executed=3)


def test_features_and_boxes_of_other_perception_go_into_the_learned_system() -> None:
    learned, collapse = nsrecover.load(), recording.example("collapse")
    perceive = learned.perceiver()
    graphs = [perceive(observation) for observation in collapse.observations]
    monitor = learned.monitor(collapse.plan, graphs[0])
    found: list[Discrepancy] = [monitor.step(*seen) for seen in zip(collapse.plan, graphs[1:], strict=True)]
    assert [each.deviates for each in found] == [False, False, False, True]
    assert sorted(found[-1].deviating) == ["blue die", "cyan die", "green cube", "magenta die", "orange cube"]
    with pytest.raises(InvalidObservation, match=r"length 1600.*nsrecover\.geometric\(\)"):
        learned.monitor(PLAN, GOOD[0])

"""A system over a domain with one more operator monitors, imagines, plans and explains with it."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover import Plan, Rejoin, System, geometric
from nsrecover.core import Box
from nsrecover.domains.base import Exists, Not, Parameter, Words, both, fact
from nsrecover.domains.tabletop.operators import OPERATORS, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain, SpatialOperator
from nsrecover.errors import InvalidAction

PLACE: Box = (0.6, 0.25, 0.02, 0.04, 0.04, 0.04)
BOXES: dict[str, Box] = {
    "red cube": (0.5, 0.0, 0.02, 0.04, 0.04, 0.04),
    "blue cube": (0.5, -0.2, 0.02, 0.04, 0.04, 0.04),
}
PARK = SpatialOperator(
    "park",
    (Parameter("?moved", "movable"),),
    preconditions=(Not(Exists("?on", both(fact("on", "?on", "?moved"))), "covered"),),
    words=Words("park {moved} in the corner", unkept="{moved} is not in the corner"),
    promise=lambda _, graph, action: bool(
        np.allclose(graph.boxes[graph.index(action.arguments[0]), :2], PLACE[:2], atol=0.02)
    ),
    place=lambda graph, action: PLACE,
)
PARKING: SpatialDomain = replace(TABLETOP, name="parking", operators={**OPERATORS, "park": PARK})
PLAN = Plan.parse("park(red cube); top(blue cube, red cube)")


def system() -> System:
    return geometric(domain=PARKING)


def test_the_tabletop_does_not_know_the_operator() -> None:
    with pytest.raises(InvalidAction, match="found 'park'"):
        geometric().monitor(PLAN, BOXES)
    assert "park" not in OPERATORS


@pytest.mark.parametrize("rejoin", Rejoin)
def test_it_imagines_monitors_plans_and_explains(rejoin: Rejoin) -> None:
    parking = replace(system(), planner=replace(system().planner, rejoin=rejoin))  # type: ignore[type-var]
    monitor = parking.monitor(PLAN, BOXES)
    assert monitor.trace.graphs[1].boxes[0].tolist() == pytest.approx(PLACE)
    assert not monitor.check().deviates
    found = monitor.step(PLAN[0], {**BOXES, "red cube": (0.5, 0.12, 0.02, 0.04, 0.04, 0.04)})
    assert found.deviating == ("red cube",)
    recovery = parking.planner.recover(found.observed, monitor.trace, found)
    assert [str(action) for action in recovery.actions] == ["park(red cube)"]
    text = parking.explainer(found, recovery).text
    assert "in the corner" in text
    covered = {**BOXES, "blue cube": (0.5, 0.0, 0.06, 0.04, 0.04, 0.04)}
    (fact_,) = parking.monitor(PLAN, covered).check().unmet
    assert tuple(map(PARKING.text, (fact_,))) == ("the blue cube stands on the red cube",)


def test_an_action_that_changes_nothing_is_accepted_by_its_own_promise() -> None:
    parking = system()
    monitor = parking.monitor(PLAN, BOXES)
    beside = {**BOXES, "red cube": (PLACE[0] + 0.018, PLACE[1] + 0.018, *PLACE[2:])}
    for _ in range(2):
        found = monitor.step(PLAN[0], beside)
        assert found.deviates
        monitor.set_plan(PLAN)
        accepted = monitor.accepted()
    assert accepted is not None
    assert accepted.found

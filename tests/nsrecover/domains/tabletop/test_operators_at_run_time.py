"""Operators that are added at run time: usable at once, refused if they cannot be, and known to hints."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import nsrecover
from nsrecover import Action, Plan, SceneGraph
from nsrecover.core import Box, Cause
from nsrecover.domains.tabletop.operators import OPERATORS
from nsrecover.errors import InvalidAction, InvalidCheckpoint, InvalidConfiguration

SIDE = 0.04
BOXES = {
    "red": (0.4, 0.0, SIDE / 2, SIDE, SIDE, SIDE),
    "blue": (0.5, 0.2, SIDE / 2, SIDE, SIDE, SIDE),
}


@dataclass(frozen=True)
class Between:
    """Halfway to another object: without `place`."""

    name: str = "halfway"
    arguments: tuple[str, ...] = ("moved", "reference")

    def violated(self, graph: SceneGraph, action: Action) -> tuple[str, ...]:
        return ()

    def achieved(self, before: SceneGraph, after: SceneGraph, action: Action) -> bool:
        return True


@dataclass(frozen=True)
class Halfway(Between):
    """The same, and it says where it leads."""

    def place(self, graph: SceneGraph, action: Action) -> Box:
        a, b = (graph.boxes[graph.index(name)] for name in action.arguments)
        x, y = ((a[:2] + b[:2]) / 2).tolist()
        return (x, y, *map(float, a[2:]))


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    known = dict(OPERATORS)
    yield
    OPERATORS.clear()
    OPERATORS.update(known)


def test_it_can_be_used_in_plans_at_once_and_recovered_from() -> None:
    plan, system = Plan.parse("halfway(red, blue)"), nsrecover.geometric()
    with pytest.raises(InvalidAction, match="halfway"):
        system.monitor(plan, BOXES)
    nsrecover.register(Halfway())
    monitor = system.monitor(plan, BOXES)
    np.testing.assert_allclose(monitor.trace.graphs[1].boxes[0, :2], (0.45, 0.1), atol=1e-6)
    assert monitor.step(plan[0], {**BOXES, "red": (0.45, 0.1, SIDE / 2, SIDE, SIDE, SIDE)}).as_expected
    monitor.set_plan(plan)
    found = system.monitor(plan, BOXES).step(plan[0], BOXES)
    assert [culprit.cause for culprit in found.deviations] == [Cause.NOT_LIFTED]


def test_a_recovery_can_use_it() -> None:
    nsrecover.register(Halfway())
    plan, system = Plan.parse("halfway(red, blue)"), nsrecover.geometric()
    monitor = system.monitor(plan, BOXES)
    found = monitor.step(plan[0], {**BOXES, "red": (0.6, -0.2, SIDE / 2, SIDE, SIDE, SIDE)})
    recovery = system.planner.recover(found.observed, monitor.trace, found)
    assert recovery.found
    np.testing.assert_allclose(
        monitor.rejoin(recovery) and monitor.trace.graphs[-1].boxes[0, :2], (0.45, 0.1), atol=0.01
    )
    assert system.explainer(found, recovery).text


def test_one_that_says_nowhere_where_it_leads_needs_a_target() -> None:
    nsrecover.register(Between())
    system = nsrecover.geometric()
    with pytest.raises(InvalidCheckpoint, match=r"neither in the checkpoint .*place\(graph, action\)"):
        system.monitor(Plan.parse("halfway(red, blue)"), BOXES)
    action = Action("halfway", ("red", "blue"), target=(0.45, 0.1, SIDE / 2, SIDE, SIDE, SIDE))
    assert system.monitor(Plan((action,)), BOXES).plan == Plan((action,))


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        (Halfway, "register an instance"),
        (object(), "without name, arguments, violated, achieved"),
        (Halfway(name="half way"), "letters, digits"),
        (Halfway(arguments=()), "the moved object first"),
        (Halfway(name="top"), "not taken, found 'top'"),
    ],
)
def test_what_is_no_operator_is_refused(operator: object, reason: str) -> None:
    before = dict(OPERATORS)
    with pytest.raises(InvalidConfiguration, match=reason):
        nsrecover.register(operator)
    assert before == OPERATORS

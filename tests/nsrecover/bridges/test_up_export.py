"""Domains as problems of unified-planning: plans of Fast Downward are executable in the domain and reach the goal."""

import pytest

import nsrecover
from nsrecover.core.actions import Action
from nsrecover.domains.base import Formula, Has, State, absent, both, fact
from nsrecover.domains.household import LASTING, household
from nsrecover.domains.instance import Instance
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidConfiguration, InvalidPlan

pytest.importorskip("up_fast_downward")
from unified_planning.shortcuts import OneshotPlanner, get_environment

from nsrecover.bridges.unified_planning.export import plan_of, steps_of, to_unified_planning

SIDE = 0.04
GRAPH = nsrecover.scene_of_boxes(
    {
        "red cube": (0.4, 0.0, SIDE / 2, SIDE, SIDE, SIDE),
        "blue cube": (0.4, 0.0, SIDE * 1.5, SIDE, SIDE, SIDE),
        "green die": (0.5, 0.2, SIDE / 2, SIDE, SIDE, SIDE),
        "lego": (0.6, -0.2, SIDE / 2, SIDE, SIDE, SIDE),
    }
)


def planned(instance: Instance, state: State, goal: Formula) -> list[Action]:
    get_environment().credits_stream = None
    with OneshotPlanner(name="fast-downward") as planner:
        found = planner.solve(to_unified_planning(instance, state, goal))
    assert found.plan is not None, found.status
    steps = steps_of(instance.domain, found.plan)
    for step in steps:
        assert instance.unmet(state, step.operator, step.arguments) == []
        state = instance.apply(state, step.operator, step.arguments)
    assert instance.holds(state, goal)
    return steps


@pytest.mark.parametrize(
    ("goal", "length"),
    [
        (both(fact("on", "red cube", "green die"), fact("on", "green die", "lego")), 3),
        (both(fact("left", "blue cube", "lego"), fact("front", "red cube", "blue cube")), 2),
        (both(fact("on", "red cube", "blue cube")), 2),
    ],
)
def test_the_tabletop_is_planned_for_by_fast_downward(goal: Formula, length: int) -> None:
    assert len(planned(TABLETOP.instance(GRAPH), TABLETOP.state(GRAPH), goal)) >= length


def test_laws_and_a_predicate_that_refers_to_itself_are_planned_for() -> None:
    instance = household(["mug", "pan", "sink", "faucet", "cabinet"], complete=True, domain=LASTING)
    state = frozenset({("at", "mug", "pan"), ("at", "pan", "cabinet"), ("dirty", "mug")})
    goal = both(fact("filled", "mug", "water"), absent("dirty", "mug"), Has("sink", "basin"))
    steps = planned(instance, state, goal)
    assert Action("open_obj", ("cabinet",)) in steps
    assert Action("toggle_on", ("faucet",)) in steps
    taken = planned(instance, state, absent("inside", "mug", "cabinet"))
    assert [step.operator for step in taken] == ["open_obj", "pick_up"]


def test_what_cannot_be_translated_is_refused() -> None:
    instance, state = TABLETOP.instance(GRAPH), TABLETOP.state(GRAPH)
    with pytest.raises(InvalidConfiguration, match="same number of terms for 'on'"):
        to_unified_planning(instance, state, fact("on", "red cube"))
    problem = to_unified_planning(instance, state, fact("on", "red cube", "lego"))
    with pytest.raises(InvalidPlan, match="found pile"):
        plan_of(problem, [Action("pile", ("red cube", "lego"))])

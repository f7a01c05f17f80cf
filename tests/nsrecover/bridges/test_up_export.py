"""Domains as problems of unified-planning: plans of Fast Downward are executable in the domain and reach the goal."""

import pytest

import nsrecover
from nsrecover.core.actions import Action
from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    ForAll,
    Formula,
    Has,
    Law,
    Operator,
    Parameter,
    Role,
    State,
    StateVariable,
    absent,
    both,
    either,
    fact,
)
from nsrecover.domains.domain import Domain
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

KITCHEN = Domain.of(
    "kitchen",
    StateVariable("closed", ("open", "closed")),
    StateVariable("running", ("off", "running"), "faucet"),
    StateVariable("full", ("empty", "full"), "vessel"),
    StateVariable("dirty", ("clean", "dirty")),
    Operator(
        "take",
        (Parameter("?thing", "movable"),),
        (
            absent("full_hand"),
            # nothing is taken out of a closed thing
            ForAll("?around", either(absent("inside", "?thing", "?around"), absent("closed", "?around"))),
        ),
        (Effect((("holding", "?thing"), ("full_hand",)), (("at", "?thing", "*"),)),),
    ),
    Operator(
        "put",
        (Parameter("?thing", "movable"), Parameter("?place")),
        (fact("holding", "?thing"), absent("closed", "?place")),
        (Effect((("at", "?thing", "?place"),), (("holding", "?thing"), ("full_hand",))),),
        cost=2.0,
    ),
    Operator("open", (Parameter("?door"),), (), (Effect((), (("closed", "?door"),)),)),
    Operator("run", (Parameter("?faucet", "faucet"),), (), (Effect((("running", "?faucet"),)),)),
    Operator("inspect", (Parameter("?thing"),)),
    Derived(
        "inside",
        ("?a", "?b"),
        either(
            fact("at", "?a", "?b"),
            Exists("?between", both(fact("at", "?a", "?between"), fact("inside", "?between", "?b"))),
        ),
    ),
    Derived(
        "under_water",
        ("?a",),
        both(
            Exists("?faucet", fact("running", "?faucet"), "faucet"),
            Exists("?s", fact("inside", "?a", "?s"), "sink"),
        ),
    ),
    Law(
        "water fills", Effect((("full", "?v"),), when=fact("under_water", "?v"), for_each=(Parameter("?v", "vessel"),))
    ),
    Law("full is clean", Effect(deletes=(("dirty", "?v"),), when=fact("full", "?v"), for_each=(Parameter("?v"),))),
    relations={"at": Role.LOCATION, "holding": Role.HELD, "full_hand": Role.PLAIN},
)
OBJECTS = {
    "cup": {"movable", "vessel"},
    "bowl": {"movable", "vessel"},
    "sink": {"sink"},
    "tap": {"faucet"},
    "cupboard": set[str](),
    "shelf": set[str](),
}


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
    instance = Instance(KITCHEN, {name: frozenset(traits) for name, traits in OBJECTS.items()})
    state = frozenset(
        {("at", "cup", "bowl"), ("at", "bowl", "cupboard"), ("closed", "cupboard"), ("dirty", "cup"), ("dirty", "bowl")}
    )
    goal = both(fact("full", "cup"), absent("dirty", "cup"), Has("sink", "sink"))
    steps = planned(instance, state, goal)
    assert Action("open", ("cupboard",)) in steps
    assert Action("run", ("tap",)) in steps
    assert [step.operator for step in planned(instance, state, absent("inside", "cup", "cupboard"))] == ["open", "take"]


def test_what_cannot_be_translated_is_refused() -> None:
    instance, state = TABLETOP.instance(GRAPH), TABLETOP.state(GRAPH)
    with pytest.raises(InvalidConfiguration, match="same number of terms for 'on'"):
        to_unified_planning(instance, state, fact("on", "red cube"))
    problem = to_unified_planning(instance, state, fact("on", "red cube", "lego"))
    with pytest.raises(InvalidPlan, match="found pile"):
        plan_of(problem, [Action("pile", ("red cube", "lego"))])

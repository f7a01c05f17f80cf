"""Repair of unified-planning problems, checked by its validator."""

from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("unified_planning")

import unified_planning as up
from unified_planning.engines import ValidationResultStatus
from unified_planning.io import PDDLReader
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import (
    Always,
    Fluent,
    InstantaneousAction,
    Int,
    MinimizeActionCosts,
    Not,
    Object,
    Or,
    PlanValidator,
    Problem,
    RealType,
    Sometime,
    get_environment,
)
from unified_planning.test.examples import get_example_problems

from nsrecover.bridges.unified_planning import PlanRepair, repair
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.errors import InvalidConfiguration, InvalidPlan

get_environment().credits_stream = None

RING = str(Path(__file__).parent / "pddl" / "ring.pddl")


class Delivery:
    """A robot on a ring of places with a parcel; the door between two places can be closed."""

    def __init__(self, places: int = 4) -> None:
        self.problem = PDDLReader().parse_problem(RING)
        self.at, self.lies, self.has, self.busy, self.next = self.problem.fluents
        self.go, self.take, self.drop = self.problem.actions
        location, parcel = map(self.problem.user_type, ("location", "parcel"))
        self.places = [Object(f"place {i}", location) for i in range(places)]
        self.parcel = Object("parcel 0", parcel)
        self.problem.add_objects([*self.places, self.parcel])
        for a, b in pairwise([*self.places, self.places[0]]):
            self.problem.set_initial_value(self.next(a, b), True)
            self.problem.set_initial_value(self.next(b, a), True)
        self.problem.set_initial_value(self.at(self.places[0]), True)
        self.problem.set_initial_value(self.lies(self.parcel, self.places[0]), True)
        self.problem.add_goal(self.lies(self.parcel, self.places[-2]))


def made(*steps: tuple) -> SequentialPlan:
    """Return the plan of tuples of an action and its objects."""
    manager = get_environment().expression_manager
    return SequentialPlan([ActionInstance(action, tuple(manager.auto_promote(objects))) for action, *objects in steps])


def moved(problem: Problem, changes: dict, plan: SequentialPlan | None = None, after: int = 0) -> Problem:
    """Return the problem after some steps of a plan and a disturbance."""
    clone = problem.clone()
    if plan is not None:
        with up.shortcuts.SequentialSimulator(problem) as simulator:
            state = simulator.get_initial_state()
            for step in plan.actions[:after]:
                state = simulator.apply(state, step)
            for fluent in problem.initial_values:
                clone.set_initial_value(fluent, state.get_value(fluent))
    for fluent, value in changes.items():
        clone.set_initial_value(fluent, value)
    return clone


def check(problem: Problem, found: PlanRepair, cost: float) -> None:
    """Assert that the plan is valid from the current state, and optimal."""
    with PlanValidator(problem_kind=problem.kind, plan_kind=found.plan.kind) as validator:
        assert validator.validate(problem, found.plan).status is ValidationResultStatus.VALID
    assert found.cost == pytest.approx(cost)
    assert found.plan.actions[: len(found.actions)] == list(found.actions)


@pytest.fixture
def delivery() -> tuple[Delivery, SequentialPlan]:
    world = Delivery()
    first, second, third, _ = world.places
    parcel = world.parcel
    steps = [(world.take, parcel, first), (world.go, first, second), (world.go, second, third)]
    return world, made(*steps, (world.drop, parcel, third))


def test_a_plan_that_still_works_comes_back_as_it_is(delivery) -> None:
    world, plan = delivery
    found = repair(world.problem, plan, {})
    assert (found.status, found.step, found.actions) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 0, ())
    assert found.plan.actions == plan.actions
    # what does not matter may change
    elsewhere = repair(world.problem, plan, {world.next(world.places[0], world.places[3]): False}, after=2)
    assert (elsewhere.status, elsewhere.step) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 2)


def test_rejoins_where_it_is_cheapest(delivery) -> None:
    world, plan = delivery
    parcel = world.parcel
    lost = {world.has(parcel): False, world.busy(): False, world.lies(parcel, world.places[1]): True}
    found = repair(world.problem, plan, lost, after=2)  # it fell out of the hand, at place 1, where the robot is
    assert [step.action.name for step in found.actions] == ["take"]
    assert (found.status, found.step) == (RecoveryStatus.RECOVERED, 2)
    assert found.proven_optimal
    assert found.grounding_s <= found.seconds
    check(moved(world.problem, lost, plan, 2), found, 3)
    # a helper has put it where it belongs
    helped = lost | {world.lies(parcel, world.places[1]): False, world.lies(parcel, world.places[2]): True}
    assert repair(world.problem, plan, helped, after=2).step == 4


def test_facts_that_no_action_changes_may_have_changed(delivery) -> None:
    world, plan = delivery
    shut = {world.next(world.places[1], world.places[2]): False}
    found = repair(world.problem, plan, shut, after=1)
    assert [str(step) for step in found.actions] == ["go(place 0, place 3)", "go(place 3, place 2)"]
    assert found.step == 3
    check(moved(world.problem, shut, plan, 1), found, 3)
    both = shut | {world.next(world.places[3], world.places[2]): False}
    stuck = repair(world.problem, plan, both, after=1)
    assert (stuck.status, stuck.plan, stuck.found) == (RecoveryStatus.IMPOSSIBLE, None, False)
    assert "lies(parcel 0, place 2)" in stuck.reason


def test_action_costs_are_respected(delivery) -> None:
    world, plan = delivery
    price = Fluent("price", RealType(), world.next.signature)
    world.problem.add_fluent(price, default_initial_value=1)
    world.problem.set_initial_value(price(world.places[1], world.places[2]), 5)
    costs = {world.go: price(*world.go.parameters), world.take: Int(1), world.drop: Int(0)}
    world.problem.add_quality_metric(MinimizeActionCosts(costs))
    kept = repair(world.problem, plan, {})
    assert (kept.status, kept.cost) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 7.0)
    cheaper = repair(world.problem, plan, {}, shortcuts=True)
    assert (cheaper.cost, cheaper.proven_optimal) == (3.0, True)
    assert "go(place 0, place 3)" in map(str, cheaper.plan.actions)
    free = world.problem.clone()
    free.clear_quality_metrics()
    free.add_quality_metric(MinimizeActionCosts({world.go: Int(-1)}))
    with pytest.raises(InvalidConfiguration, match="cost of action go"):
        repair(free, plan, {})


def test_a_whole_state_can_be_given(delivery) -> None:
    world, plan = delivery
    with up.shortcuts.SequentialSimulator(world.problem) as simulator:
        state = simulator.apply(simulator.get_initial_state(), plan.actions[0])
    assert repair(world.problem, plan, state).step == 1


def test_a_goal_with_or(delivery) -> None:
    world, plan = delivery
    _, first, second, third = world.places
    world.problem.clear_goals()
    world.problem.add_goal(Or(world.lies(world.parcel, second), world.lies(world.parcel, third)))
    assert repair(world.problem, plan, {}).step == 0
    carried = {world.at(first): False, world.at(third): True}
    found = repair(world.problem, plan, carried, after=2)
    assert ([str(step) for step in found.actions], found.step) == (["drop(parcel 0, place 3)"], 4)
    check(moved(world.problem, carried, plan, 2), found, 1)
    check(world.problem, repair(world.problem, made(), {}), 3)  # a plan from nothing


def reducible() -> list[str]:
    """Return the examples of unified-planning that reduce to STRIPS with negative preconditions."""
    names = "basic basic_conditional complex_conditional basic_nested_conjunctions basic_exists basic_forall"
    names += " basic_with_costs basic_with_default_values robot_fluent_of_user_type robot_loader_adv charge_discharge"
    names += " hierarchical_blocks_world_exists robot_locations_connected_without_battery"
    return (names + " locations_connected_cost_minimize").split()


@pytest.mark.parametrize("name", reducible())
def test_examples_of_unified_planning(name: str) -> None:
    example = get_example_problems()[name]
    made_up = repair(example.problem, made(), {}, budget_s=None, max_expansions=500)
    for plan in [plan for plan in example.valid_plans if isinstance(plan, SequentialPlan)]:
        kept = repair(example.problem, plan, {}, budget_s=None, max_expansions=500)
        assert (kept.status, kept.step) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 0)
        assert made_up.cost <= kept.cost
    assert made_up.proven_optimal
    check(example.problem, made_up, made_up.cost)


def test_what_must_never_be_is_avoided(delivery) -> None:
    world, plan = delivery
    world.problem.add_trajectory_constraint(Always(Not(world.at(world.places[3]))))
    assert repair(world.problem, plan, {}).step == 0
    shut = {world.next(world.places[1], world.places[2]): False}
    assert repair(world.problem, plan, shut).status is RecoveryStatus.IMPOSSIBLE
    world.problem.add_trajectory_constraint(Sometime(world.at(world.places[3])))
    with pytest.raises(InvalidConfiguration, match=r"trajectory constraints.* in 'delivery'"):
        repair(world.problem, plan, {})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("counter_to_50", "increase effects.* in 'counter_to_50'"),
        ("matchcellar", "continuous time.* in 'MatchCellar'"),
        ("robot_loader_weak_bridge", "at most 1,000 alternatives"),
    ],
)
def test_what_is_not_strips_is_refused_by_name(name: str, expected: str) -> None:
    with pytest.raises(InvalidConfiguration, match=expected):
        repair(get_example_problems()[name].problem, made(), {})


def test_mistakes_are_told(delivery) -> None:
    world, plan = delivery
    for state, said in (
        ({Fluent("bussy"): True}, "Did you mean 'busy'"),
        ({world.busy(): world.places[0]}, "value of type bool"),
        ({world.at(world.go.parameter("a")): True}, "name the objects"),
        *((state, "expected (the state as|a fluent of)") for state in (None, [], {"busy": True}, {1: True})),
        ({world.busy: "yes"}, "expected (the state as|a fluent of)"),
    ):
        with pytest.raises(InvalidConfiguration, match=said):
            repair(world.problem, plan, state)
    with pytest.raises(InvalidPlan, match="0 <= after <= 4"):
        repair(world.problem, plan, {}, after=5)
    with pytest.raises(InvalidPlan, match="Did you mean 'go'"):
        repair(world.problem, made((InstantaneousAction("goo"),)), {})
    with pytest.raises(InvalidPlan, match=r"step 1 go\(place 0, place 1\)"):
        repair(world.problem, SequentialPlan(list(reversed(plan.actions))[1:]), {})
    with pytest.raises(InvalidPlan, match="step 0, go"):
        repair(world.problem, SequentialPlan(plan.actions[2:]), {}, after=1)
    with pytest.raises(InvalidConfiguration, match="budgets"):
        repair(world.problem, plan, {}, budget_s=-1.0)

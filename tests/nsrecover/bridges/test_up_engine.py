"""The engines in unified-planning, on its examples and on three classic domains."""

import configparser
import functools
import io
import pickle
import random
import unittest

import pytest

pytest.importorskip("unified_planning")

from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.engines import ValidationResultStatus
from unified_planning.engines.engine import OperationMode
from unified_planning.engines.mixins.oneshot_planner import OptimalityGuarantee
from unified_planning.engines.results import NEGATIVE_OUTCOMES, POSITIVE_OUTCOMES
from unified_planning.environment import Environment
from unified_planning.exceptions import UPNoSuitableEngineAvailableException, UPUsageError
from unified_planning.model import Problem
from unified_planning.model.problem_kind import classical_kind
from unified_planning.plans import ActionInstance, PlanKind, SequentialPlan
from unified_planning.shortcuts import (
    GE,
    Fluent,
    InstantaneousAction,
    IntType,
    MinimizeActionCosts,
    MinimizeSequentialPlanLength,
    Not,
    OneshotPlanner,
    PlanRepairer,
    PlanValidator,
    Replanner,
    SequentialSimulator,
    get_environment,
)
from unified_planning.test import test_replanner
from unified_planning.test.examples import get_example_problems

from nsrecover.bridges.unified_planning import register
from nsrecover.errors import InvalidConfiguration
from tests.nsrecover.bridges.up_domains import DOMAINS

register()
get_environment().credits_stream = None
FACTORY = get_environment().factory


@pytest.fixture(autouse=True)
def apart(monkeypatch, tmp_path) -> None:
    """Fast Downward writes files with fixed names into its working directory."""
    monkeypatch.chdir(tmp_path)


def valid(problem: Problem, plan: SequentialPlan) -> bool:
    with PlanValidator(problem_kind=problem.kind, plan_kind=plan.kind) as validator:
        return validator.validate(problem, plan).status is ValidationResultStatus.VALID


def optimum(problem: Problem) -> SequentialPlan | None:
    """Return a shortest plan by Fast Downward."""
    with OneshotPlanner(name="fast-downward-opt") as planner:
        return planner.solve(problem).plan


def wandered(problem: Problem, rng: random.Random, steps: int) -> list[tuple]:
    """Return the values of the fluents after some random actions."""
    with SequentialSimulator(problem) as simulator:
        state = simulator.get_initial_state()
        for _ in range(steps):
            options = sorted(simulator.get_applicable_actions(state), key=str)
            action, parameters = options[rng.randrange(len(options))]
            state = simulator.apply(state, action, parameters)
        return [(fluent, state.get_value(fluent)) for fluent in problem.initial_values]


@functools.cache
def problem_and_plan(domain: str, seed: int) -> tuple[Problem, SequentialPlan]:
    """Return a shared problem and a shortest plan for it."""
    rng = random.Random(f"{domain} {seed}")
    while True:
        problem = DOMAINS[domain](rng)
        plan = optimum(problem)
        if plan is not None and plan.actions:
            return problem, plan


CASES = [(domain, seed) for domain in DOMAINS for seed in range(2)]


@pytest.mark.parametrize(("domain", "seed"), CASES)
def test_repairs_what_no_longer_works_and_nothing_else(domain: str, seed: int) -> None:
    problem, plan = problem_and_plan(domain, seed)
    rng = random.Random(seed)
    with PlanRepairer(name="nsrecover") as repairer:
        kept = repairer.repair(problem, plan)
        assert kept.plan is plan
        assert kept.status in POSITIVE_OUTCOMES
        disturbed = problem.clone()
        for fluent, value in wandered(problem, rng, 5):
            disturbed.set_initial_value(fluent, value)
        result = repairer.repair(disturbed, plan)
        assert valid(disturbed, result.plan)
        length, least = len(result.plan.actions), len(optimum(disturbed).actions)
        assert length == least if result.status is Status.SOLVED_OPTIMALLY else length >= least
        # a plan in which a step is missing, or all are in the wrong order, is repaired to one that works
        for actions in (plan.actions[1:], plan.actions[::-1], []):
            result = repairer.repair(problem, SequentialPlan(list(actions)))
            assert result.status in POSITIVE_OUTCOMES
            assert valid(problem, result.plan)


@pytest.mark.parametrize("domain", list(DOMAINS))
def test_the_optimal_engine_returns_the_optimum(domain: str) -> None:
    problem, plan = problem_and_plan(domain, 0)
    wanted = {"problem_kind": problem.kind, "plan_kind": plan.kind, "optimality_guarantee": "SOLVED_OPTIMALLY"}
    with PlanRepairer(**wanted) as repairer:
        assert repairer.name == "nsrecover-opt"
        result = repairer.repair(problem, plan)
        assert (result.plan, result.status) == (plan, Status.SOLVED_OPTIMALLY)  # optimal, so it is kept
        with SequentialSimulator(problem) as simulator:
            state = simulator.get_initial_state()
            detour = []
            for _ in range(2):  # a detour makes it longer than it has to be
                action, parameters = sorted(simulator.get_applicable_actions(state), key=str)[0]
                state = simulator.apply(state, action, parameters)
                detour.append(ActionInstance(action, parameters))
        longer = SequentialPlan([*detour, *plan.actions])
        result = repairer.repair(problem, longer)
        assert result.status is Status.SOLVED_OPTIMALLY
        assert valid(problem, result.plan)
        assert len(result.plan.actions) == len(plan.actions)


@pytest.mark.parametrize("domain", list(DOMAINS))
def test_replans_from_wherever_the_world_is(domain: str) -> None:
    problem, plan = problem_and_plan(domain, 1)
    rng = random.Random(1)
    with Replanner(problem, name="nsrecover") as replanner:
        first = replanner.resolve()
        assert first.status is Status.SOLVED_OPTIMALLY
        assert len(first.plan.actions) == len(plan.actions)
        # as it goes along: what is left of the plan
        with SequentialSimulator(problem) as simulator:
            reached = simulator.apply(simulator.get_initial_state(), first.plan.actions[0])
        for fluent in problem.initial_values:
            replanner.update_initial_value(fluent, reached.get_value(fluent))
        assert replanner.resolve().plan.actions == first.plan.actions[1:]
        # somebody interferes
        elsewhere = problem.clone()
        for fluent, value in wandered(problem, rng, 4):
            replanner.update_initial_value(fluent, value)
            elsewhere.set_initial_value(fluent, value)
        assert valid(elsewhere, replanner.resolve().plan)
        # the goal changes, and an action is gone for a while
        goal = elsewhere.goals[0]
        parts = list(goal.args) if goal.is_and() else [goal]
        replanner.remove_goal(goal)
        elsewhere.clear_goals()
        for part in parts[:1]:
            replanner.add_goal(part)
            elsewhere.add_goal(part)
        assert valid(elsewhere, replanner.resolve().plan)
        for action in problem.actions:
            replanner.remove_action(action.name)
        nothing = replanner.resolve()
        assert nothing.status in (NEGATIVE_OUTCOMES if optimum(elsewhere).actions else POSITIVE_OUTCOMES)
        for action in problem.actions:
            replanner.add_action(action)
        assert valid(elsewhere, replanner.resolve().plan)
    assert problem.actions  # the caller's problem is its own
    assert valid(problem, plan)


def test_unified_planning_s_own_test_of_replanners(monkeypatch) -> None:
    monkeypatch.setattr(FACTORY, "_preference_list", ["nsrecover"])
    result = unittest.TestResult()
    test_replanner.TestReplanner("test_basic").run(result)
    assert (result.testsRun, result.skipped, result.errors, result.failures) == (1, [], [], [])


@pytest.mark.parametrize("name", ["basic", "basic_conditional", "complex_conditional", "basic_exists", "basic_forall",
                                  "basic_with_costs", "robot_loader_adv", "robot_fluent_of_user_type"])  # fmt: skip
def test_examples_of_unified_planning(name: str) -> None:
    example = get_example_problems()[name]
    with PlanRepairer(name="nsrecover") as repairer:
        for plan in example.valid_plans:
            assert repairer.repair(example.problem, plan).plan is plan
        for plan in [*example.invalid_plans, SequentialPlan([])]:
            result = repairer.repair(example.problem, plan)
            assert result.status in POSITIVE_OUTCOMES
            assert valid(example.problem, result.plan)


def test_it_is_listed_for_what_it_can_do() -> None:
    problem = DOMAINS["gripper"](random.Random(0))
    listed = FACTORY.get_all_applicable_engines
    for mode in (OperationMode.PLAN_REPAIRER, OperationMode.REPLANNER):
        assert {"nsrecover", "nsrecover-opt"} <= set(listed(problem.kind, mode))
        assert "nsrecover" in listed(classical_kind, mode)
        best = listed(problem.kind, mode, optimality_guarantee=OptimalityGuarantee.SOLVED_OPTIMALLY)
        assert "nsrecover-opt" in best
        assert "nsrecover" not in best
    assert "nsrecover" in listed(problem.kind, OperationMode.PLAN_REPAIRER, plan_kind=PlanKind.SEQUENTIAL_PLAN)
    assert "nsrecover" not in listed(problem.kind, OperationMode.PLAN_REPAIRER, plan_kind=PlanKind.TIME_TRIGGERED_PLAN)
    assert "nsrecover" in listed(problem.kind, OperationMode.ONESHOT_PLANNER)
    assert "nsrecover" not in listed(problem.kind, OperationMode.PLAN_VALIDATOR)
    examples = get_example_problems()
    for name in ("matchcellar", "counter", "robot", "htn-go"):  # time, numbers and hierarchies
        assert "nsrecover" not in listed(examples[name].problem.kind, OperationMode.PLAN_REPAIRER)


def test_the_problem_kind_is_right_for_every_example_of_unified_planning() -> None:
    """Supported problems are repaired or refused by name, and unsupported ones are refused."""
    supports, refused = FACTORY.engine("nsrecover").supports, []
    with PlanRepairer(name="nsrecover", params={"max_expansions": 50}) as repairer:
        repairer.skip_checks = True
        for name, example in get_example_problems().items():
            if not isinstance(example.problem, Problem) or not example.problem.kind.has_action_based():
                assert not supports(example.problem.kind), name
                continue
            result = repairer.repair(example.problem, SequentialPlan([]))
            if result.status is Status.UNSUPPORTED_PROBLEM:
                assert result.log_messages, name
                if supports(example.problem.kind):
                    refused.append(name)
            else:
                assert supports(example.problem.kind), name
                assert result.plan is None or valid(example.problem, result.plan), name
    assert refused == ["robot_loader_weak_bridge"]  # its conditions have more alternatives than can be written out


def test_registering_twice_changes_nothing() -> None:
    environment = Environment()
    before = environment.factory.preference_list.copy()
    register(environment)
    register(environment)
    added = environment.factory.preference_list[len(before) :]
    assert [name for name in added if "[" not in name] == ["nsrecover", "nsrecover-opt"]
    assert len(set(added)) == len(added)
    copied = pickle.loads(pickle.dumps(environment.factory))  # as unified-planning does to plan in parallel
    assert "nsrecover" in copied.engines


def test_a_configuration_file_registers_it_too(tmp_path) -> None:
    config = configparser.ConfigParser()
    module = "nsrecover.bridges.unified_planning.engine"
    config["engine nsrecover"] = {"module_name": module, "class_name": "RecoveryEngine"}
    with (tmp_path / "up.ini").open("w") as file:
        config.write(file)
    environment = Environment()
    environment.factory.configure_from_file(str(tmp_path / "up.ini"))
    assert "nsrecover" in environment.factory.engines


def test_budgets_end_the_search() -> None:
    problem, plan = problem_and_plan("blocksworld", 1)
    with Replanner(problem, name="nsrecover", params={"plan": plan}) as replanner:
        assert replanner.resolve().plan.actions == plan.actions
    with Replanner(problem, name="nsrecover", params={"max_expansions": 0}) as replanner:
        assert replanner.resolve().status is Status.UNSOLVABLE_INCOMPLETELY
    with Replanner(problem, name="nsrecover-opt") as replanner:
        late = replanner.resolve(timeout=0.0)
        assert (late.status, late.plan) == (Status.TIMEOUT, None)
        written = io.StringIO()
        assert replanner.resolve(output_stream=written).status is Status.SOLVED_OPTIMALLY
        assert "a plan of cost" in written.getvalue()
    with pytest.raises(InvalidConfiguration, match="improve_s=-1"):
        PlanRepairer(name="nsrecover", params={"improve_s": -1})


def test_costs_are_minimised_and_without_a_metric_nothing_is_optimal() -> None:
    problem, plan = problem_and_plan("gripper", 1)
    problem = problem.clone()
    problem.clear_quality_metrics()
    with PlanRepairer(name="nsrecover") as repairer:
        bare = repairer.repair(problem, SequentialPlan(plan.actions[1:]))
        assert (bare.status, bare.metrics["proven_optimal"]) == (Status.SOLVED_SATISFICING, "True")
    with pytest.raises(UPUsageError, match="no quality metrics"):
        PlanRepairer(problem_kind=problem.kind, optimality_guarantee="SOLVED_OPTIMALLY").repair(problem, plan)
    costs = {action: (10 if action.name == "move" else 1) for action in problem.actions}
    problem.add_quality_metric(MinimizeActionCosts(costs))
    with PlanRepairer(name="nsrecover-opt") as repairer:
        result = repairer.repair(problem, SequentialPlan([]))
    cheapest = sum(costs[step.action] for step in optimum(problem).actions)
    assert float(result.metrics["cost"]) == cheapest == sum(costs[step.action] for step in result.plan.actions)


def test_a_step_that_its_own_conditions_rule_out_is_no_plan() -> None:
    """A step has equal parameters, although its action forbids that."""
    example = get_example_problems()["robot_loader_adv"]
    move = example.problem.action("move")
    (plan,) = example.valid_plans
    first, _, robot = next(step.actual_parameters for step in plan.actions if step.action == move)
    broken = SequentialPlan([ActionInstance(move, (first, first, robot)), *plan.actions])
    assert not valid(example.problem, broken)
    with PlanRepairer(name="nsrecover") as repairer:
        assert valid(example.problem, repairer.repair(example.problem, broken).plan)


def test_a_valid_plan_with_a_step_that_does_nothing_is_kept() -> None:
    """The compiler of unified-planning drops actions none of whose conditional effects apply."""
    example = get_example_problems()["basic_conditional"]
    (plan,) = example.valid_plans
    last = plan.actions[-1]
    idle = SequentialPlan([ActionInstance(last.action, last.actual_parameters), *plan.actions])
    assert valid(example.problem, idle)
    with PlanRepairer(name="nsrecover") as repairer:
        assert repairer.repair(example.problem, idle).plan is idle
        without = example.problem.clone()
        without.clear_actions()
        assert repairer.repair(without, idle).status is Status.UNSOLVABLE_PROVEN


def test_plans_from_nothing_and_from_a_plan_that_is_given() -> None:
    problem, plan = problem_and_plan("gripper", 0)
    with OneshotPlanner(name="nsrecover") as planner:
        assert len(planner.solve(problem).plan.actions) == len(plan.actions)
        assert planner.solve(problem, warm_start_plan=plan).plan.actions == plan.actions


def test_what_the_problem_does_not_know_is_left_out_of_the_plan() -> None:
    problem, plan = problem_and_plan("gripper", 0)
    unknown = InstantaneousAction("dance")
    odd = SequentialPlan([ActionInstance(unknown), *plan.actions])
    with PlanRepairer(name="nsrecover") as repairer:
        result = repairer.repair(problem, odd)
        assert result.plan.actions == plan.actions


def test_unsolvable_is_proven_and_unsupported_is_named() -> None:
    example = get_example_problems()["basic"].problem.clone()
    example.clear_actions()
    with PlanRepairer(name="nsrecover") as repairer:
        result = repairer.repair(example, SequentialPlan([]))
        assert (result.status, result.plan) == (Status.UNSOLVABLE_PROVEN, None)
        assert "no action can achieve x" in result.log_messages[0].message
        level = Fluent("level", IntType(0, 3))
        example.add_fluent(level, default_initial_value=0)
        example.add_goal(GE(level, 1))
        with pytest.raises(UPNoSuitableEngineAvailableException):
            PlanRepairer(problem_kind=example.kind)
        with pytest.warns(UserWarning, match="cannot establish"):
            result = repairer.repair(example, SequentialPlan([]))
        assert result.status is Status.UNSUPPORTED_PROBLEM
        assert "bounded types" in result.log_messages[0].message


def test_mistakes_of_the_caller_are_unified_planning_s_errors() -> None:
    problem = get_example_problems()["basic"].problem
    x = problem.fluent("x")
    repairer = PlanRepairer(name="nsrecover")
    with pytest.raises(UPUsageError, match="plan repairer"):
        repairer.resolve()
    with Replanner(problem, name="nsrecover") as replanner:
        with pytest.warns(UserWarning, match="action to remove: b"):
            replanner.remove_action("b")
        with pytest.warns(UserWarning, match="goals"):
            replanner.remove_goal(Not(x))
        replanner.skip_checks = True
        replanner.remove_action("b")
        assert replanner.resolve().status is Status.SOLVED_SATISFICING
    problem = problem.clone()
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    with Replanner(problem, name="nsrecover") as replanner:
        assert replanner.resolve().status is Status.SOLVED_OPTIMALLY

"""Fast Downward plans, nsrecover monitors, and the observed scene is the start of the next plan.

    pip install 'nsrecover[fast-downward,learned]'
    python unified_planning_fast_downward.py

A recording of the package replaces the robot: it builds a tower, which collapses at the last step. Fast Downward
(GPL-3.0) runs as a separate program.
"""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise

from unified_planning.plans import SequentialPlan
from unified_planning.shortcuts import (
    And,
    BoolType,
    Fluent,
    InstantaneousAction,
    MinimizeSequentialPlanLength,
    OneshotPlanner,
    PlanRepairer,
    Problem,
    UserType,
    get_environment,
)

import nsrecover
from nsrecover.bridges.unified_planning import register
from nsrecover.bridges.unified_planning.scenes import Predicate, SceneMapping
from nsrecover.records import recording


def tower_problem(names: tuple[str, ...]) -> tuple[Problem, SceneMapping]:
    """Return a problem whose goal is a tower, and the meaning of its fluents and actions in scenes.

    Args:
        names: objects of the tower, from its base up.
    """
    block = UserType("block")
    on, on_table = Fluent("on", BoolType(), a=block, b=block), Fluent("on_table", BoolType(), a=block)
    clear = Fluent("clear", BoolType(), a=block)
    stack = InstantaneousAction("stack", a=block, b=block)  # from the table onto another block
    for fact in (on_table(stack.a), clear(stack.a), clear(stack.b)):
        stack.add_precondition(fact)
    for fact, value in ((on(stack.a, stack.b), True), (on_table(stack.a), False), (clear(stack.b), False)):
        stack.add_effect(fact, value)
    lower = InstantaneousAction("lower", a=block, b=block)  # from another block onto the table
    for fact in (on(lower.a, lower.b), clear(lower.a)):
        lower.add_precondition(fact)
    for fact, value in ((on(lower.a, lower.b), False), (on_table(lower.a), True), (clear(lower.b), True)):
        lower.add_effect(fact, value)
    problem = Problem("tower")
    for fluent in (on, on_table, clear):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_actions([stack, lower])
    blocks = [problem.add_object(name, block) for name in names]
    problem.add_goal(And([on(upper, base) for base, upper in pairwise(blocks)]))
    problem.add_quality_metric(MinimizeSequentialPlanLength())
    return problem, SceneMapping(
        {on: Predicate.ON, on_table: Predicate.ON_TABLE, clear: Predicate.CLEAR},
        {stack: ("top", "a", "b"), lower: ("free", "a")},
        new_objects=block,  # new objects on the table are blocks
    )


def solve(problem: Problem) -> SequentialPlan:
    """Return the shortest plan by Fast Downward, which leaves files in its working directory."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, OneshotPlanner(name="fast-downward-opt") as planner:
        os.chdir(folder)
        try:
            plan: SequentialPlan = planner.solve(problem).plan
        finally:
            os.chdir(here)
    return plan


def main() -> None:
    """Plan, monitor, detect the collapse, and plan again."""
    get_environment().credits_stream = None
    register()
    system, episode = nsrecover.load(), recording.example("collapse")
    problem, mapping = tower_problem(("magenta die", "cyan die", "blue die", "orange cube", "green cube"))

    problem = mapping.at(problem, system.perceiver()(episode.observations[0]))  # the initial scene is observed
    made = solve(problem)
    translated = mapping.plan(made)
    print("Fast Downward's plan:", translated.plan)
    assert str(translated.plan) == str(episode.plan)  # so that the recording can replace the robot

    monitor = system.monitor(translated.plan, episode.observations[0])
    for action, observation in zip(translated.plan, episode.observations[1:], strict=True):
        discrepancy = monitor.step(action, observation)
        if not discrepancy.deviates:
            print(f"{action}: done")
            continue
        print(f"{action}: " + ", ".join(f"{culprit.name} {culprit.cause}" for culprit in discrepancy.deviations))
        now = mapping.at(problem, discrepancy.observed)
        again = solve(now)
        monitor.set_plan(mapping.plan(again).plan)  # the monitor follows the new plan from now on
        print("Fast Downward's new plan:", monitor.plan)
        with PlanRepairer(name="nsrecover-opt") as repairer:  # or repair the old plan without a planner
            repaired = repairer.repair(now, made)
        print("repaired:", mapping.plan(repaired.plan).plan, f"({repaired.status.name})")
        assert len(repaired.plan.actions) == len(again.actions)
        return
    raise AssertionError("the recorded tower collapses, and nobody noticed")


if __name__ == "__main__":
    main()

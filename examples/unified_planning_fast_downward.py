"""Fast Downward plans, nsrecover watches, and what it sees is where the next plan begins.

    pip install 'nsrecover[fast-downward]'
    python unified_planning_fast_downward.py

The robot is a recording that comes with nsrecover: it builds a tower, which collapses at the last step. Fast Downward
(GPL-3.0) runs as a program of its own.
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
from nsrecover.integrations.unified_planning import register
from nsrecover.integrations.up_scenes import Predicate, SceneMapping
from nsrecover.records import recording


def tower_problem(names: tuple[str, ...]) -> tuple[Problem, SceneMapping]:
    """A problem whose goal is one tower, and what its fluents and actions are in scenes.

    Args:
        names: what the tower is made of, from its base up.
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
        new_objects=block,  # whatever else turns up on the table is a block too
    )


def solve(problem: Problem) -> SequentialPlan:
    """The shortest plan, by Fast Downward; it leaves files where it is started."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, OneshotPlanner(name="fast-downward-opt") as planner:
        os.chdir(folder)
        try:
            plan: SequentialPlan = planner.solve(problem).plan
        finally:
            os.chdir(here)
    return plan


def main() -> None:
    """Plan, watch, notice, plan again."""
    get_environment().credits_stream = None
    register()
    system, episode = nsrecover.load(), recording.example("collapse")
    problem, mapping = tower_problem(("magenta die", "cyan die", "blue die", "orange cube", "green cube"))

    problem = mapping.at(problem, system.perceiver()(episode.observations[0]))  # the camera says where everything is
    made = solve(problem)
    translated = mapping.plan(made)
    print("Fast Downward's plan:", translated.plan)
    assert str(translated.plan) == str(episode.plan)  # so the recording can play the robot

    monitor = system.monitor(translated.plan, episode.observations[0])
    for action, observation in zip(translated.plan, episode.observations[1:], strict=True):
        discrepancy = monitor.step(action, observation)
        if not discrepancy:
            print(f"{action}: done")
            continue
        print(f"{action}: " + ", ".join(f"{culprit.name} {culprit.cause}" for culprit in discrepancy.deviations))
        now = mapping.at(problem, discrepancy.observed)
        again = solve(now)
        monitor.set_plan(mapping.plan(again).plan)  # the monitor watches over this one from now on
        print("Fast Downward's new plan:", monitor.plan)
        with PlanRepairer(name="nsrecover-opt") as repairer:  # or repair the old plan: no planner is needed
            repaired = repairer.repair(now, made)
        print("repaired:", mapping.plan(repaired.plan).plan, f"({repaired.status.name})")
        assert len(repaired.plan.actions) == len(again.actions)
        return
    raise AssertionError("the recorded tower collapses, and nobody noticed")


if __name__ == "__main__":
    main()

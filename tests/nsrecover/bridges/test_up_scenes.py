"""Scenes as initial states of problems, and plans of unified-planning as plans of the robot."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("unified_planning")

from unified_planning.io import PDDLReader
from unified_planning.model import Problem
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import Fluent, IntType, OneshotPlanner, UserType, get_environment

from nsrecover import SceneGraph, geometric, scene_of_boxes
from nsrecover.bridges.unified_planning import register, repair
from nsrecover.bridges.unified_planning.scenes import Predicate, SceneMapping
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.domains.tabletop.relations import Edge, Relation, relations
from nsrecover.errors import InvalidAction, InvalidConfiguration, InvalidPlan
from tests.nsrecover.bridges.up_domains import BLOCKSWORLD

register()
get_environment().credits_stream = None
SIDE_M = 0.05
ROWS = {"red": 0.15, "green": 0.0, "blue": -0.15}


def box(x: float, y: float, level: int = 0) -> tuple[float, ...]:
    return (x, y, (level + 0.5) * SIDE_M, SIDE_M, SIDE_M, SIDE_M)


def scene(**boxes: tuple[float, ...] | None) -> SceneGraph:
    """Return three blocks in a row, except for those with a given box, or without one (None)."""
    return scene_of_boxes({name: box(0.45, y) for name, y in ROWS.items()} | boxes)


def blocks(*goal: str) -> tuple[Problem, SceneMapping]:
    """Return blocksworld with four operators, two of which are actions of the robot."""
    text = f"""(define (problem p) (:domain blocksworld) (:objects red green blue - block)
        (:init) (:goal (and {" ".join(goal)})))"""
    problem = PDDLReader().parse_problem_string(BLOCKSWORLD, text)
    fluent, action = problem.fluent, problem.action
    return problem, SceneMapping(
        {
            fluent("on"): Predicate.ON,
            fluent("ontable"): Predicate.ON_TABLE,
            fluent("clear"): Predicate.CLEAR,
            fluent("holding"): Predicate.HELD,
            fluent("handempty"): Predicate.HAND_EMPTY,
        },
        {
            action("pick-up"): None,
            action("unstack"): None,
            action("put-down"): ("free", "x"),
            action("stack"): ("top", "x", "y"),
        },
        new_objects=problem.user_type("block"),
    )


def holding(problem: Problem) -> set[str]:
    return {str(fluent) for fluent, value in problem.initial_values.items() if value.is_true()}


TOWER = scene(green=box(0.45, 0.15, 1))
"""Green on red."""


def test_a_scene_is_the_initial_state() -> None:
    problem, mapping = blocks("(on blue green)")
    flat = {f"{name}({block})" for block in ROWS for name in ("ontable", "clear")}
    assert holding(mapping.at(problem, scene())) == flat | {"handempty"}
    assert holding(mapping.at(problem, TOWER)) == {
        "on(green, red)", "ontable(red)", "ontable(blue)", "clear(green)", "clear(blue)", "handempty",
    }  # fmt: skip
    assert holding(problem) == set()  # the problem that was given is as it was


def test_what_is_held_gone_or_fallen_stands_nowhere() -> None:
    problem, mapping = blocks("(on blue green)")
    held = replace(scene(green=box(0.45, 0.15, 3)), held=1)
    assert holding(mapping.at(problem, held)) == {
        "holding(green)", "ontable(red)", "ontable(blue)", "clear(red)", "clear(blue)",
    }  # fmt: skip
    rest = {"on(green, red)", "ontable(red)", "clear(green)", "handempty"}
    gone = replace(TOWER, seen=np.array([True, True, False]))
    assert holding(mapping.at(problem, gone)) == rest
    hidden = replace(gone, occluded=np.array([False, False, True]))  # it may well be where it was
    assert holding(mapping.at(problem, hidden)) == rest | {"ontable(blue)", "clear(blue)"}
    fallen = TOWER.with_node(2, (0.9, 0.0, -0.7, SIDE_M, SIDE_M, SIDE_M))
    assert holding(mapping.at(problem, fallen)) == rest


def test_what_turns_up_is_added_or_refused() -> None:
    problem, mapping = blocks("(on blue green)")
    cluttered = scene(grey=box(0.45, 0.0, 1))
    now = mapping.at(problem, cluttered)
    assert {"on(grey, green)", "clear(grey)"} <= holding(now)
    assert "clear(green)" not in holding(now)
    with OneshotPlanner(name="nsrecover") as planner:
        plan = mapping.plan(planner.solve(now).plan).plan
    assert [action.arguments[0] for action in plan] == ["grey", "blue"]
    assert str(plan[-1]) == "top(blue, green)"
    strict = replace(mapping, new_objects=None)
    with pytest.raises(InvalidConfiguration, match=r"found 'grey'.*new_objects.*Did you mean 'green'"):
        strict.at(problem, cluttered)
    renamed = replace(strict, names={"grey": "blue"})
    with_grey = scene_of_boxes({name: box(0.45, y) for name, y in (("red", 0.15), ("green", 0.0), ("grey", -0.15))})
    assert "clear(blue)" in holding(renamed.at(problem, with_grey))


def test_a_plan_of_unified_planning_is_carried_out_in_the_scene() -> None:
    """The relations that the plan promises are those of the predicted scenes."""
    problem, mapping = blocks("(on red green)", "(on green blue)")
    now = mapping.at(problem, TOWER)
    with OneshotPlanner(name="nsrecover") as planner:
        made = planner.solve(now).plan
    translated = mapping.plan(made)
    assert [str(action) for action in translated.plan] == ["top(green, blue)", "top(red, green)"]
    assert translated.done == (0, 2, 4)
    trace = geometric().imagination.trace(TOWER, translated.plan)
    expected = mapping.expected(now, made)
    for edges, graph in zip(expected, trace.graphs, strict=True):
        assert edges == {edge for edge in relations(graph) if edge.relation is Relation.ON}
    assert Edge("red", Relation.ON, "green") in expected[-1]
    for action, graph in zip(trace.plan, trace.graphs[1:], strict=True):
        assert operator_of(action).achieved(graph, graph, action)
    with pytest.raises(InvalidPlan, match=r"unstack\(green, red\), cannot be run"):
        mapping.expected(mapping.at(problem, scene()), made)


def test_what_the_monitor_sees_is_where_a_repair_begins() -> None:
    problem, mapping = blocks("(on red green)", "(on green blue)")
    now = mapping.at(problem, TOWER)
    with OneshotPlanner(name="nsrecover") as planner:
        made = planner.solve(now).plan
    translated = mapping.plan(made)
    monitor = geometric().monitor(translated.plan, TOWER)
    dropped = TOWER.with_node(1, box(0.6, -0.3))
    discrepancy = monitor.step(translated.plan[0], dropped)
    assert discrepancy.deviating == ("green",)
    values = mapping.values(now, discrepancy.observed)
    found = repair(now, made, values, after=translated.done[discrepancy.step + 1])
    assert ([str(action) for action in found.actions], found.step) == (["pick-up(green)"], 1)
    assert str(mapping.plan(found.plan).plan) == "top(green, blue); top(red, green)"


def test_other_relations_and_readings_of_one_s_own() -> None:
    kind = UserType("thing")
    left, reachable = Fluent("left_of", a=kind, b=kind), Fluent("reachable", a=kind)
    problem = Problem("row")
    for fluent in (left, reachable):
        problem.add_fluent(fluent, default_initial_value=False)

    def in_reach(graph: SceneGraph) -> list[tuple[str]]:
        return [(name,) for name, at in zip(graph.names, graph.boxes, strict=True) if at[0] < 0.5]

    near = SceneMapping({left: Predicate.LEFT, reachable: in_reach}, new_objects=kind)
    close = scene(red=box(0.45, 0.1), blue=box(0.6, -0.15))
    assert holding(near.at(problem, close)) == {"left_of(red, green)", "reachable(red)", "reachable(green)"}


def test_mistakes_are_told() -> None:
    problem, mapping = blocks("(on blue green)")
    stack, pick = problem.action("stack"), problem.action("pick-up")
    with pytest.raises(InvalidConfiguration, match="Boolean fluent of 2 objects for on, found"):
        SceneMapping({problem.fluent("clear"): Predicate.ON})
    with pytest.raises(InvalidConfiguration, match="Boolean fluent"):
        SceneMapping({Fluent("height", IntType(), x=problem.user_type("block")): Predicate.CLEAR})
    with pytest.raises(InvalidConfiguration, match="parameter of stack, found 'z'"):
        SceneMapping({}, {stack: ("top", "x", "z")})
    with pytest.raises(InvalidAction, match="Did you mean 'top'"):
        SceneMapping({}, {stack: ("topp", "x", "y")})
    manager = problem.environment.expression_manager
    red = manager.ObjectExp(problem.object("red"))
    half = SequentialPlan([ActionInstance(pick, (red,))])
    with pytest.raises(InvalidPlan, match=r"found pick-up\(red\) as its end"):
        mapping.plan(half)
    with pytest.raises(InvalidConfiguration, match="or to None, found 'pick-up'"):
        SceneMapping({}, {stack: ("top", "x", "y")}).plan(half)

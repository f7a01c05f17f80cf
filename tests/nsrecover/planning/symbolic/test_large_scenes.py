"""In large scenes a way back with few objects is found although there is no time for a search with all."""

import itertools
from pathlib import Path

import pytest

from nsrecover import Plan, symbolic
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.core import Facts, ReasonCode, RecoveryStatus
from nsrecover.planning.symbolic.fact_planner import FactPlanner

BLOCKS = Path("eval/symbolic/domains/blocks.pddl")
HEIGHT = 4


def blocks(number: int) -> tuple[str, str]:
    """Towers that are to be turned upside down, and a plan: all blocks onto the table, then one onto the other."""
    names = [f"b{i}" for i in range(number)]
    towers = [names[i : i + HEIGHT] for i in range(0, number, HEIGHT)]
    init, goal = ["(hand-empty)"], []
    down, up = [], []
    for tower in towers:
        init += [f"(on-table {tower[0]})", f"(clear {tower[-1]})"]
        init += [f"(on {high} {low})" for low, high in itertools.pairwise(tower)]
        goal += [f"(on {low} {high})" for low, high in itertools.pairwise(tower)]
        down += [f"unstack({high}, {low}); put-down({high})" for low, high in reversed([*itertools.pairwise(tower)])]
        up += [f"pick-up({low}); stack({low}, {high})" for low, high in reversed([*itertools.pairwise(tower)])]
    problem = f"(define (problem towers) (:domain blocks) (:objects {' '.join(names)} - block)"
    return f"{problem} (:init {' '.join(init)}) (:goal (and {' '.join(goal)})))", "; ".join((*down, *up))


@pytest.mark.parametrize("number", [24, 60])
def test_a_block_on_another_tower_is_brought_back_at_once(number: int) -> None:
    problem, text = blocks(number)
    domain, plan = domain_from_pddl(BLOCKS), Plan.parse(text)
    scene, state, goal = scene_from_pddl(domain, BLOCKS, problem)
    monitor = symbolic(scene, goal).monitor(plan, state)
    first = plan.actions[0]
    state = scene.apply(state, first.operator, first.arguments)
    monitor.step(first, state)
    wrong: Facts = scene.apply(state, "stack", (first.arguments[0], f"b{number - 1}"))
    found = monitor.step(plan.actions[1], wrong)
    recovery = FactPlanner(scene, max_expansions=0).recover(found.observed, monitor.trace, found)
    assert recovery.status is RecoveryStatus.RECOVERED
    assert recovery.lower_bound <= recovery.cost == len(plan)
    assert recovery.reason_code is ReasonCode.NODE_BUDGET

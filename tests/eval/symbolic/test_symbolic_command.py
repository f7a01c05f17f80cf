"""`python -m eval.symbolic` on a few real repairs, and the blocksworld problems that it makes."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("up_fast_downward")

from unified_planning.shortcuts import get_environment

from eval.symbolic.blocksworld import Blocks, Domain, disturbed, random_towers, reaches, simple_plan
from eval.symbolic.command import SymbolicConfig, cases_of, is_valid, shortest
from eval.symbolic.domain_cases import (
    DomainCase,
    accepted,
    cost_of_plan,
    made,
    proven_by_fast_downward,
    repaired,
)
from eval.symbolic.public_domains import GENERATORS, problem_text, random_problem
from nsrecover.errors import InvalidConfiguration

ROOT = Path(__file__).parents[3]
get_environment().credits_stream = None


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    out = tmp_path_factory.mktemp("symbolic")
    command = [sys.executable, "-m", "eval.symbolic", "seed=5", "repairs=4", "fewest_blocks=4", "most_blocks=5"]
    command += ["hopeless=0.5", "large_repairs=1", "large_blocks=20", "budget_s=30", "workers=1", f"out={out}"]
    command += ["proofs=2", "first_plans=1", "lama_s=1", "conflicts=2", "conflict_blocks=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def test_repairs_are_valid_shortest_and_unsolvable_ones_proven(measured):
    out, printed = measured
    assert printed == (out / "table.md").read_text()
    groups = json.loads((out / "metrics.json").read_text())["groups"]
    assert list(groups) == ["4", "5", "all", "20 (large)"]
    every = groups["all"]
    assert every["repairs"] == 4
    assert every["valid"] == every["optimal"] == every["proven_optimal"] == every["solvable"]
    assert every["unsolvable_proven"] == every["unsolvable"] == 2
    assert every["proven_wrongly"] == every["impossible_wrongly"] == 0
    assert groups["20 (large)"]["valid"] == 1
    cases = json.loads((out / "cases.json").read_text())
    assert [case["case"]["blocks"] for case in cases] == [4, 5, 4, 5, 20]
    assert {case["disturbance"] for case in cases if case["case"]["hopeless"]} <= {"lost", "pinned"}


def test_public_domains_are_compared_and_conflicts_are_named(measured):
    out, printed = measured
    found = json.loads((out / "metrics.json").read_text())["domains"]
    proofs, first, conflicts = found["proofs"], found["first"], found["conflicts"]
    assert proofs["instances"] == proofs["proven"] == proofs["valid"] == proofs["same_cost"] == 2
    assert 0 < proofs["cpu_ratio"]["median"] <= proofs["cpu_ratio"]["max"]
    assert first["instances"] == first["valid"] == 1
    assert conflicts["instances"] == conflicts["proven"] == conflicts["named"] == 2
    assert [case["case"]["domain"] for case in found["cases"]] == ["blocks", "gripper", "parking"]
    assert found["cases"][2]["lama"]
    assert (out / "anytime.png").stat().st_size > 1000
    assert "blocks" in printed


@pytest.mark.parametrize("domain", ["elevators", "transport"])
def test_costs_that_are_undefined_for_other_actions_do_not_matter(domain):
    disturbed = made(DomainCase(domain, 2, seed=3, strange=2))
    found, curve, _ = repaired(disturbed, 20.0)
    assert found.proven_optimal
    assert accepted(disturbed.after, found.plan)
    assert curve[-1][1] == found.cost == cost_of_plan(disturbed.after, found.plan)
    assert proven_by_fast_downward(disturbed.after, 20.0).cost == found.cost


@pytest.mark.parametrize("domain", GENERATORS)
def test_every_domain_has_problems_that_differ_by_seed_only(domain):
    size = {"barman": 2, "blocks": 5}.get(domain, 4)
    assert problem_text(domain, 1, size) == problem_text(domain, 1, size) != problem_text(domain, 2, size)
    problem = random_problem(domain, 1, size)
    assert problem.actions
    assert problem.goals


def test_towers_plans_and_states_fit_together():
    for seed in range(12):
        rng = random.Random(seed)
        count = rng.randint(2, 7)
        start, goal = random_towers(rng, count), random_towers(rng, count)
        plan = simple_plan(start, goal)
        assert reaches(Blocks(start), plan, goal)
        assert not plan or not reaches(Blocks(start), plan[1:], goal)
        domain = Domain(count)
        assert domain.steps(domain.plan(plan)) == plan
        assert is_valid(domain.problem(Blocks(start), goal), domain.plan(plan))


def test_every_disturbance_changes_the_state_as_described():
    seen = dict.fromkeys(("moved", "dropped", "toppled", "lost", "pinned"), 0)
    for seed in range(60):
        rng = random.Random(seed)
        state = Blocks(random_towers(rng, 5))
        held = state.after(("unstack", (state.clear[0], state.below[state.clear[0]])))
        state = held or state
        for kind in seen:
            after = disturbed(rng, state, kind)
            if after == state:
                continue
            seen[kind] += 1
            changed = [b for b in range(5) if after.below[b] != state.below[b]]
            if kind == "dropped":
                assert (changed, after.held) == ([state.held], None)
            elif kind == "moved":
                assert 1 <= len(changed) <= 3
                assert after.held == state.held
            elif kind == "toppled":
                assert all(after.below[b] == -1 for b in changed)
            elif kind == "lost":
                (gone,) = after.lost
                assert after.below[gone] is None
                assert gone not in after.below
            else:
                assert after.below == state.below
                assert len(after.clear) == len(state.clear) - 1
            assert len({place for place in after.below if place not in (-1, None)}) == sum(
                place not in (-1, None) for place in after.below
            ), "two blocks never stand on the same one"
    assert min(seen.values()) > 10


def test_the_shortest_plan_is_that_of_fast_downward():
    domain = Domain(3)
    start, goal = Blocks((-1, 0, 1)), (1, 2, -1)
    assert shortest(domain.problem(start, goal))[0] == 6
    pinned = Blocks((-1, 0, 1), pinned=frozenset({2}))
    assert shortest(domain.problem(pinned, goal))[0] is None


def test_settings_out_of_range_are_refused():
    nothing = dict.fromkeys(("repairs", "large_repairs", "proofs", "first_plans", "conflicts"), 0)
    for setting in ({"fewest_blocks": 9}, {"hopeless": 2.0}, nothing, {"repairs": -1}, {"lama_s": 0.0}):
        with pytest.raises(InvalidConfiguration, match="expected"):
            cases_of(SymbolicConfig(**setting))

"""`python -m eval.symbolic` on a few real repairs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("up_fast_downward")

from unified_planning.shortcuts import get_environment

from eval.symbolic.__main__ import MEASUREMENT, SymbolicConfig
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


def test_public_domains_are_compared(tmp_path):
    command = [sys.executable, "-m", "eval.symbolic", "seed=5", f"out={tmp_path}"]
    command += ["proofs=2", "first_plans=1", "lama_s=1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "metrics.json").read_text())
    proofs, first = found["proofs"], found["first"]
    assert proofs["instances"] == proofs["proven"] == proofs["valid"] == proofs["same_cost"] == 2
    assert 0 < proofs["cpu_ratio"]["median"] <= proofs["cpu_ratio"]["max"]
    assert first["instances"] == first["valid"] == 1
    assert [case["case"]["domain"] for case in found["cases"]] == ["blocks", "gripper", "parking"]
    assert found["cases"][2]["lama"]
    assert done.stdout == (tmp_path / "table.md").read_text()


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


def test_settings_out_of_range_are_refused():
    for setting in ({"proofs": 0, "first_plans": 0}, {"proofs": -1}, {"lama_s": 0.0}):
        with pytest.raises(InvalidConfiguration, match="expected"):
            MEASUREMENT.run(SymbolicConfig(**setting))

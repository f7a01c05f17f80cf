"""`python -m eval.symbolic` on a few real repairs."""

import json

import pytest

pytest.importorskip("up_fast_downward")

from unified_planning.shortcuts import get_environment

from eval.symbolic.domain_cases import (
    DomainCase,
    accepted,
    cost_of_plan,
    made,
    proven_by_fast_downward,
    repaired,
)
from tests.commands import run

get_environment().credits_stream = None


def test_public_domains_are_compared(tmp_path):
    done = run("eval.symbolic", "seed=5", f"out={tmp_path}", "proofs=1")
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "metrics.json").read_text())
    proofs = found["proofs"]
    assert proofs["instances"] == proofs["proven"] == proofs["valid"] == proofs["same_cost"] == 1
    assert 0 < proofs["cpu_ratio"]["median"] <= proofs["cpu_ratio"]["max"]
    assert [case["case"]["domain"] for case in found["cases"]] == ["blocks"]
    assert done.out == (tmp_path / "table.md").read_text()


def test_a_repair_costs_as_much_as_the_plan_of_fast_downward():
    disturbed = made(DomainCase("barman", 2, seed=3, strange=2))
    found, _ = repaired(disturbed, 20.0)
    assert found.proven_optimal
    assert accepted(disturbed.after, found.plan)
    best = proven_by_fast_downward(disturbed.after, 20.0).cost
    assert found.cost == cost_of_plan(disturbed.after, found.plan) == best

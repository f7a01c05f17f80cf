"""Proofs that merge symmetric states, next to proofs that do not, in random small problems of public domains."""

import pytest

pytest.importorskip("unified_planning")

from eval.symbolic.domain_cases import accepted
from eval.symbolic.public_domains import random_problem
from nsrecover.bridges.unified_planning.grounding import Grounded
from nsrecover.planning.search import SearchResult, search
from nsrecover.planning.symbolic.repair import LEAST_COST
from nsrecover.planning.symbolic.strips import first_failure
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel


@pytest.mark.parametrize(
    ("domain", "size", "symmetric"),
    [("barman", 1, True), ("gripper", 4, True), ("blocks", 6, False), ("rovers", 4, False), ("logistics", 3, True)],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_plans_stay_valid_and_cheapest(domain: str, size: int, symmetric: bool, seed: int) -> None:
    from unified_planning.plans import SequentialPlan

    problem = random_problem(domain, seed, size)
    grounded = Grounded(problem, SequentialPlan([]), {})
    task = grounded.task
    costs = [max(float(action.cost), LEAST_COST) for action in task.actions]
    found = list[SearchResult[int, int]]()
    for merging in (False, True):
        model = SymbolicModel(task, [task.goal], [0.0], costs=costs)
        if merging:
            has_symmetries = model.use_symmetries()  # from the first state on, not only in long proofs
            assert has_symmetries or not symmetric
        found.append(search(model, task.initial, [0.0]))
    plain, merged = found
    assert plain.proven_optimal
    assert merged.proven_optimal
    assert merged.cost == pytest.approx(plain.cost)
    steps = [task.actions[step] for step in merged.path]
    assert first_failure(task.goal, task.initial, steps) is None
    assert accepted(problem, SequentialPlan([grounded.instance(step) for step in steps]))

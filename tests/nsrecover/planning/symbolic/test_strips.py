"""Kernels are exactly what the rest of a plan needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsrecover.errors import InvalidPlan
from nsrecover.planning.symbolic.strips import Condition, GroundAction, first_failure, kernels, mask
from tests.nsrecover.planning.symbolic.strips_tasks import random_task, some_plan


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_rest_of_a_plan_works_exactly_where_its_kernel_holds(seed: int) -> None:
    task = random_task(seed, facts=6)
    plan = some_plan(task, seed)
    found = kernels(task.facts, task.goal, plan)
    assert len(found) == len(plan) + 1
    assert found[-1] == task.goal
    for step, kernel in enumerate(found):
        works = [first_failure(task.goal, state, plan[step:]) is None for state in range(2**6)]
        assert works == [kernel.holds(state) for state in range(2**6)]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (GroundAction("spoil", (), (), (), (), (0,)), r"step 0 spoil\(\) makes false: dry"),
        (GroundAction("flood", (), (), (), (1,), ()), r"step 0 flood\(\) makes true: wet"),
        (GroundAction("swim", (), (1,), (), (), ()), r"step 0 swim\(\) needs true .*: wet"),
        (GroundAction("dust", (), (), (0,), (), ()), r"step 0 dust\(\) needs false .*: dry"),
    ],
)
def test_a_plan_that_undoes_what_it_needs_is_refused(first: GroundAction, expected: str) -> None:
    last = GroundAction("burn", (), (0,), (1,), (2,), ())
    with pytest.raises(InvalidPlan, match=expected):
        kernels(("dry", "wet", "ash"), Condition(mask([2])), [first, last])

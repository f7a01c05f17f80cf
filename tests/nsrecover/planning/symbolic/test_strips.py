"""Kernels are exactly what the rest of a plan needs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsrecover.errors import InvalidPlan
from nsrecover.planning.symbolic.strips import Condition, GroundAction, bits_of, first_failure, kernels, mask
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


def test_dropping_any_part_of_a_kernel_breaks_it() -> None:
    checked = 0
    for seed in range(60):
        task = random_task(seed)
        plan = some_plan(task, seed)
        for step, kernel in enumerate(kernels(task.facts, task.goal, plan)):
            for fact in bits_of(kernel.needs):
                assert first_failure(task.goal, kernel.needs & ~(1 << fact), plan[step:]) is not None
                checked += 1
            for fact in bits_of(kernel.forbids):
                assert first_failure(task.goal, kernel.needs | 1 << fact, plan[step:]) is not None
                checked += 1
    assert checked > 200


def test_a_fact_that_is_deleted_and_added_holds_afterwards() -> None:
    action = GroundAction("touch", ("a",), (), (), adds=(0,), deletes=(0, 1))
    assert action.apply(0b10) == 0b01
    assert str(action) == "touch(a)"
    assert kernels(("x", "y"), Condition(0b01, 0b10), [action])[0] == Condition(0, 0)


def test_says_which_step_a_plan_fails_at() -> None:
    light, walk = GroundAction("light", (), (0,), (1,), (1,), ()), GroundAction("walk", (), (1,), (), (2,), (0,))
    goal = Condition(mask([2]))
    assert first_failure(goal, 0b001, [light, walk]) is None
    assert first_failure(goal, 0b000, [light, walk]) == 0
    assert first_failure(goal, 0b001, [walk]) == 0
    assert first_failure(goal, 0b001, [light]) == 1


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

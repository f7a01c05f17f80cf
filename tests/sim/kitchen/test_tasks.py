"""Household tasks: goals of the domain, plans of the search, and kitchens in which they can be done."""

import pytest

from nsrecover.domains.household.scene import holds
from sim.kitchen.performing import carry_out, unmet
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, NUM_LAYOUTS
from sim.kitchen.task_list import IRREVERSIBLE_TASKS, TASKS
from sim.kitchen.tasks import draw_task
from sim.kitchen.world import KitchenWorld


@pytest.mark.parametrize("name", [*TASKS, *IRREVERSIBLE_TASKS])
def test_a_plan_reaches_the_goal_in_every_layout(name: str) -> None:
    for layout in range(0, NUM_LAYOUTS, 1 if name in TASKS and name != "make salad" else 6):
        spec = draw_task(name, 7, layout)
        states = spec.expected()
        assert spec.kitchen.layout == layout
        assert all(holds(states[-1], condition, spec.home) for condition in spec.goal)
        assert not all(holds(states[0], condition, spec.home) for condition in spec.goal)
        for before, action in zip(states, spec.plan, strict=False):
            assert spec.home.applicable(before, action.operator, action.arguments), (layout, action)


def test_a_draw_depends_on_its_arguments_only() -> None:
    one, same, other = draw_task("T7", 3), draw_task("water plant", 3), draw_task("T7", 4)
    assert (one.kitchen, one.goal, one.plan) == (same.kitchen, same.goal, same.plan)
    assert one.kitchen != other.kitchen
    assert {draw_task("T7", seed).kitchen.layout for seed in range(20)}.isdisjoint(HELD_OUT_LAYOUTS)


def test_a_task_is_carried_out_as_the_domain_expects() -> None:
    spec = draw_task("boil water", 0, 0)
    with KitchenWorld(spec.kitchen) as world:
        outcomes = list(carry_out(world, spec))
    assert [outcome.reason for outcome in outcomes] == [""] * len(spec.plan)
    assert unmet(outcomes[-1].truth, spec) == ()
    assert ("hot", "pot") in outcomes[-1].truth
    assert unmet(outcomes[-2].truth, spec) == (("running", spec.goal[-1][1]),)

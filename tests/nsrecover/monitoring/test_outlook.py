"""The goal of a plan, if none is stated, is what it achieves, whatever the first observation misses."""

import pytest

from nsrecover import Plan
from nsrecover.core.facts import StateFact
from nsrecover.domains.household import household
from nsrecover.monitoring.outlook import what_it_leaves
from tests.scenarios import LAB

PLAN = Plan.parse("put(tube, centrifuge); spin(tube); put(tube, rack)")


@pytest.mark.parametrize("start", [(), (("at", "tube", "rack"),), (("at", "tube", "bench"), ("spun", "tube"))])
def test_what_is_not_seen_or_seen_wrongly_makes_no_goal_smaller(start: tuple[StateFact, ...]) -> None:
    assert what_it_leaves(LAB, frozenset(start), PLAN) == (("at", "tube", "rack"), ("spun", "tube"))


def test_a_door_that_is_closed_again_belongs_to_the_goal() -> None:
    home = household(["fridge", "countertop", "mug"])
    start = frozenset({("at", "mug", "countertop")})
    goal = what_it_leaves(home, start, Plan.parse("open_obj(fridge); close_obj(fridge)"))
    assert goal == (("open", "fridge", "closed"),)
    assert home.holds(start, home.condition(goal[0]))
    assert not home.holds(start | {("open", "fridge")}, home.condition(goal[0]))
    assert home.domain.text(goal[0]) == "the fridge is not open"

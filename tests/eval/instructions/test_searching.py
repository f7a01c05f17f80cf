from itertools import pairwise, permutations

import numpy as np
import pytest

from eval.instructions.episodes import Witness, paper_commands
from eval.instructions.searching import best_expected_cost, search_costs
from eval.instructions.understood import ErraticModel, plan_times, understood_with
from nsrecover.core.actions import Action
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.testing.simulated_home import FastHome, Someone

HOME = load_home("apartment")


@pytest.mark.parametrize("seed", range(3))
def test_the_best_expected_cost_is_that_of_the_best_order(seed):
    rng = np.random.default_rng(seed)
    chances, first, between = rng.dirichlet(np.ones(5)), rng.uniform(1, 9, 5), rng.uniform(1, 9, (5, 5))

    def cost(order):
        steps = [first[order[0]], *(between[one, other] for one, other in pairwise(order))]
        return float(chances[list(order)] @ np.cumsum(steps))

    best = min(cost(order) for order in permutations(range(5)))
    assert best_expected_cost(chances, first, between) == pytest.approx(best, rel=1e-5)


def test_the_robots_order_of_places_is_hardly_worse_than_the_best():
    found = search_costs(1, seed=2)
    assert 1.0 - 1e-5 <= found["over_optimum"] < 1.15


def test_a_home_with_sixty_known_objects_is_planned_for_in_time():
    found = plan_times(5, seed=1)
    assert found["objects"] == 60
    assert found["median"] < 0.2


def test_a_kept_fact_that_a_look_has_refuted_is_found():
    world = Witness(FastHome(HOME, {"apple": "desk"}, {"operator": Someone("living room")}))
    for action in (Action("go_to_location", ("sofa",)), Action("find_concrete_name_objects", ("apple", "sofa"))):
        world.execute(action)
    belief = Belief.at_start(HOME)
    belief.said["apple"] = ("sofa", "ashley")
    assert world.refuted(belief, ["apple"]) == ("at apple sofa",)
    belief.exclude("apple", "sofa")
    assert world.refuted(belief, ["apple"]) == ()


def test_an_erratic_model_costs_questions_and_no_wrong_plan():
    readers = {"none": None, "erratic": ModelReader(ErraticModel(1))}
    found = understood_with("held_out", readers, most=100)
    assert found["erratic"]["wrong_plan"]["value"] <= found["none"]["wrong_plan"]["value"]
    assert found["erratic"]["understood"]["value"] >= found["none"]["understood"]["value"]
    assert found["erratic"]["asked"]["value"] > found["none"]["asked"]["value"]


def test_the_papers_commands_show_the_kind_of_recovery():
    found = paper_commands(1, seed=0)
    assert found["all_seven"]["value"] == 1.0
    assert found["done_and_recovery_shown"]["of"] == 7

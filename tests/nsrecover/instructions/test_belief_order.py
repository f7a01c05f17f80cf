"""Places are looked at in the order of probability over cost."""

import pytest

from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.belief import Belief


@pytest.mark.parametrize("name", ["apple", "cola", "banana"])
def test_the_place_with_the_best_chance_for_its_cost_comes_first(name: str) -> None:
    belief = Belief.at_start(load_home("apartment"))
    chances = belief.probabilities(name)
    order = belief.candidates(name)
    assert set(order) == set(chances)
    worth = [chances[place] / belief.cost(belief.robot, place) for place in order]
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > worth[-1]

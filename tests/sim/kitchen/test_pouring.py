"""Pouring where the arm has little room."""

import pytest

from nsrecover.core.actions import Plan
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.world import KitchenWorld

FILLED = "pick_up({0}); put_in({0}, sink); toggle_on(faucet); toggle_off(faucet); pick_up({0}); pour({0}, {1})"


@pytest.mark.parametrize(
    ("seed", "layout", "things", "target"),
    [
        pytest.param(5911, 7, ("mug", "bowl"), "house plant", id="back the way that it came, past the plant"),
        pytest.param(5931, 3, ("cup", "pot"), "pot", id="high over the rim"),
    ],
)
def test_all_of_it_arrives_and_the_vessel_is_still_held(
    seed: int, layout: int, things: tuple[str, str], target: str
) -> None:
    with KitchenWorld(sample_kitchen(seed, layout, things)) as world:
        poured = 0.0
        for action in Plan.parse(FILLED.format(things[0], target)):
            poured = world.cell.states[things[0]].volume_l
            world.execute(action)
            assert not world.failures[-1], f"{action}: {world.failures[-1]}"
        assert world.cell.robot.held == things[0]
        assert world.cell.states[target].volume_l > 0.8 * poured > 0.0

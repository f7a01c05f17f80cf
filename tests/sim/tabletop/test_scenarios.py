"""The demo's scenarios: what is to go wrong does, in every generated scene."""

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from sim.tabletop.faults import Swap
from sim.tabletop.scenarios import SCENARIOS, Scenario, scenario
from sim.tabletop.scenes import WORKSPACE_X_M, WORKSPACE_Y_M
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


def _after_the_fault(item: Scenario) -> tuple[Truth, Truth, Truth]:
    """The truth after the faulty action, of a run with faults and of its twin, and the twin's last one."""
    truths = []
    for faults in (item.faults, ()):
        with TabletopWorld(item.scene, faults) as world:
            for action in item.plan.actions[: item.step + 1]:
                world.execute(action)
            truths.append(world.truth())
            if not faults:
                for action in item.plan.actions[item.step + 1 :]:
                    world.execute(action)
                truths.append(world.truth())
    return truths[0], truths[1], truths[2]


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_scenarios_can_be_generated_for_many_seeds(name):
    for seed in range(8):
        item = scenario(name, seed)
        item.scene.check()
        assert (len(item.scene.objects), len(item.plan)) == (5, 4)
        assert all(word in item.description for word in item.plan[item.step].arguments)


def test_collapse_topples_several_blocks_and_keeps_them_on_the_table():
    item = scenario("collapse", 1)
    truth, twin, _ = _after_the_fault(item)
    assert len(deviations(truth, twin)) >= 3
    assert truth.present.all()
    assert np.all(truth.positions[:, 0] > WORKSPACE_X_M[0] - 0.1)
    assert np.all(np.abs(truth.positions[:, 1]) < WORKSPACE_Y_M[1] + 0.1)


def test_slip_drops_one_block_and_swaps_two_others():
    item = scenario("slip", 1)
    truth, twin, last = _after_the_fault(item)
    swap = next(fault for fault in item.faults if isinstance(fault, Swap))
    slipped = item.plan[item.step].arguments[0]
    assert set(deviations(truth, twin)) == {slipped, swap.first, swap.second}
    assert truth.supports[slipped] == "table"
    # the swapped ones are where the other one shall stay to the end: one of them has to go aside first
    for name, other in ((swap.first, swap.second), (swap.second, swap.first)):
        assert np.linalg.norm(truth.position(name)[:2] - last.position(other)[:2]) < 0.02


def test_unknown_scenarios_are_refused_with_a_hint():
    with pytest.raises(InvalidConfiguration, match="Did you mean 'collapse'"):
        scenario("colapse")

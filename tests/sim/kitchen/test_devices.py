"""What the ten tasks need besides vessels: slices, the toaster, screens, the laptop and the sponge."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from nsrecover.core.actions import Action
from nsrecover.errors import UnknownObject
from sim.kitchen.laws import TOASTER_S
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.states import ObjectState
from sim.kitchen.world import KitchenWorld
from tests.sim.kitchen.kitchens import TOP, carry_out, kitchen


@pytest.fixture(scope="module")
def sliced() -> Iterator[KitchenWorld]:
    """Bread that has been cut."""
    clean = ObjectState()
    spec = kitchen(
        ("bread", TOP, (0.05, 0.05), 0.0, clean),
        ("knife", TOP, (0.05, -0.2), 90.0, clean),
        ("plate", "dining table", (0.0, 0.0), 0.0, clean),
    )
    with KitchenWorld(spec) as world:
        world.execute(Action("slice_obj", ("bread",)))
        assert world.failures[-1] == "the hand holds no knife"
        world.execute(Action("pick_up", ("bread slice",)))
        assert world.failures[-1] == "there is no bread slice yet"
        carry_out(world, "pick_up(knife); slice_obj(bread)")
        yield world


def test_a_knife_cuts_bread_into_slices(sliced: KitchenWorld) -> None:
    cell = sliced.cell
    made = cell.slices["bread"]
    assert made[0] == "first bread slice"
    assert cell.states["bread"].sliced
    assert "bread" not in cell.things
    assert set(made) <= set(cell.standing_on(TOP))
    assert {"first bread slice", "second bread slice"} <= set(cell.bodies())
    sliced.execute(Action("put_on", ("bread", "plate")))
    assert sliced.failures[-1] == "the bread has been sliced"
    with pytest.raises(UnknownObject, match="knife"):
        sliced.execute(Action("pick_up", ("knive",)))


def test_a_slice_is_toasted_and_pops_up(sliced: KitchenWorld) -> None:
    cell = sliced.cell
    carry_out(sliced, "put_on(knife, dining table); pick_up(bread slice); put_in(bread slice, toaster)")
    (inside,) = cell.standing_on("toaster")
    high = cell.pose(inside)[0][2]
    carry_out(sliced, "toggle_on(toaster)")
    assert cell.states["toaster"].on
    assert cell.standing_on("toaster") == [inside]
    assert cell.pose(inside)[0][2] < high - 0.03
    for _ in range(200 * 30):
        cell.advance()
        if not cell.states["toaster"].on:
            break
    assert 1.0 <= cell.states[inside].cooked < 1.2
    cell.settle(100)
    assert cell.pose(inside)[0][2] > high - 0.005
    assert any("popped up" in line for line in cell.log)


def test_an_empty_toaster_turns_off() -> None:
    with KitchenWorld(sample_kitchen(1, 0, [])) as world:
        carry_out(world, "toggle_on(toaster); toggle_off(toaster); toggle_on(toaster)")
        for _ in range(int(200 * TOASTER_S)):
            world.cell.advance()
        assert not world.cell.states["toaster"].on


def test_devices_are_switched() -> None:
    spec = sample_kitchen(1, 3, ["laptop", "remote control"])
    with KitchenWorld(spec) as world:
        carry_out(world, "open_obj(laptop); toggle_on(laptop)")
        assert world.cell.states["laptop"].open
        assert world.cell.states["laptop"].on
        world.execute(Action("toggle_on", ("television",)))
        assert world.failures[-1] == "the hand holds no remote control"
        carry_out(world, "close_obj(laptop); pick_up(laptop); put_on(laptop, tv stand)")
        assert not world.cell.states["laptop"].open
        assert "laptop" in world.cell.standing_on("tv stand")
        carry_out(world, "pick_up(remote control); toggle_on(television)")
        assert world.cell.states["television"].on
        carry_out(world, "toggle_off(television)")
        assert not world.cell.states["television"].on


def test_a_sponge_wipes_stains_off() -> None:
    spec = sample_kitchen(2, 1, ["plate", "sponge", "bowl", "pan"])
    stained = tuple(replace(thing, state=ObjectState(dirty=thing.name != "sponge")) for thing in spec.things)
    with KitchenWorld(replace(spec, things=stained)) as world:
        world.execute(Action("wipe", ("bowl",)))
        assert world.failures[-1] == "the hand holds no sponge"
        carry_out(world, "pick_up(sponge); wipe(bowl)")
        assert not world.cell.states["bowl"].dirty
        assert world.cell.states["pan"].dirty

"""The kitchen as a world: skills move things by physics, states follow, episodes repeat to the last bit."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Action
from nsrecover.perception.objects.shared_numbers import with_shared_numbers
from sim.kitchen.world import KitchenWorld
from sim.sensors.presets import sensor
from sim.sensors.sensor import EXACT
from tests.sim.kitchen.kitchens import CLEAN, TOP, carry_out, kitchen


@pytest.fixture(scope="module")
def breakfast() -> Iterator[KitchenWorld]:
    """Water in a mug, poured into a pot that then heats up on a burner."""
    spec = kitchen(
        ("mug", TOP, (0.0, 0.0), 180.0, replace(CLEAN, dirty=True)),
        ("pot", TOP, (0.0, 0.28), 0.0, CLEAN),
    )
    with KitchenWorld(spec) as world:
        carry_out(world, "pick_up(mug); put_in(mug, sink); toggle_on(faucet); toggle_off(faucet)")
        yield world


def test_it_is_seen_through_a_sensor_and_one_without_errors_changes_nothing(breakfast: KitchenWorld) -> None:
    exact = breakfast.observe()
    same = EXACT.stream(2, 0).observe(breakfast.observe_from)
    assert (same.rgb == exact.rgb).all()
    assert (same.depth_m == exact.depth_m).all()
    seen = sensor("d435").stream(2, 0).observe(breakfast.observe_from)
    assert not seen.shared_ids
    assert (seen.depth_m == 0).mean() > 2 * (exact.depth_m == 0).mean()

    joined = with_shared_numbers(seen)
    names = [{joined.labels.get(n) for n in np.unique(image) if n} - {None} for image in joined.instances]
    exact_names = [{exact.labels[n] for n in np.unique(image) if n} for image in exact.instances]
    assert len(names[0] & names[1]) > 0.7 * len(exact_names[0] & exact_names[1]), "masks of both views have one name"
    for name in names[0] & names[1]:
        number, true = (next(n for n, each in one.labels.items() if each == name) for one in (joined, exact))
        shown = exact.instances[1][joined.instances[1] == number]
        assert (shown == true).mean() > 0.5


def test_a_running_tap_fills_and_cleans_what_stands_under_it(breakfast: KitchenWorld) -> None:
    state = breakfast.cell.states["mug"]
    assert state.liquid == "water"
    assert 0.1 < state.volume_l < 0.35
    assert not state.dirty
    assert not breakfast.cell.states["faucet"].on


def test_water_is_poured_and_boils(breakfast: KitchenWorld) -> None:
    before = breakfast.cell.states["mug"].volume_l
    carry_out(breakfast, "pick_up(mug)")
    assert breakfast.observe().holding, "the gripper feels the mug"
    held = breakfast.cell.states["mug"].volume_l
    assert held > 0.9 * before, "of a mug that is full to the brim a little is spilt"
    carry_out(breakfast, f"pour(mug, pot); put_on(mug, {TOP})")
    assert not breakfast.observe().holding
    assert breakfast.cell.states["mug"].volume_l == 0.0
    assert breakfast.cell.states["pot"].volume_l > 0.7 * held
    carry_out(breakfast, "pick_up(pot); put_on(pot, first stove burner); toggle_on(first stove burner)")
    breakfast.cell.settle(0)
    for _ in range(600):
        breakfast.cell.advance()
    assert breakfast.cell.states["pot"].temperature_c > 90.0
    carry_out(breakfast, "toggle_off(first stove burner)")
    assert not breakfast.cell.states["first stove burner"].on


def test_each_further_look_is_from_another_side(breakfast: KitchenWorld) -> None:
    places = []
    for _ in range(3):
        breakfast.execute(Action("look_at", ("fridge",)))
        assert breakfast.failures[-1] == ""
        places.append(breakfast.cell.robot.base)
    for one, other in itertools.combinations(places, 2):
        assert abs(math.remainder(one.yaw - other.yaw, 2 * math.pi)) > math.radians(20)


def test_an_observation_shows_the_contents_from_above(breakfast: KitchenWorld) -> None:
    breakfast.execute(Action("move_to", ("pot",)))
    seen = breakfast.observe()
    assert len(seen.cameras) == 2
    numbers = [number for number, name in seen.labels.items() if name == "pot"]
    assert numbers
    blue = seen.rgb[seen.instances == numbers[0]].astype(int)
    assert ((blue[:, 2] - blue[:, 0]) > 40).sum() > 20
    assert set(seen.labels.values()) <= set(breakfast.cell.bodies())
    assert not np.allclose(
        seen.cameras[0].world_from_camera, KitchenWorld.observe(breakfast).cameras[1].world_from_camera
    )


def test_food_is_kept_behind_a_closed_door() -> None:
    with KitchenWorld(kitchen(("apple", TOP, (0.0, 0.0), 0.0, CLEAN))) as world:
        world.execute(Action("pick_up", ("apple",)))
        assert world.cell.robot.held == "apple"
        world.execute(Action("put_in", ("apple", "fridge")))
        assert world.failures[-1] == "the fridge is closed"
        plan = f"put_on(apple, {TOP}); open_obj(fridge); pick_up(apple); put_in(apple, fridge); close_obj(fridge)"
        carry_out(world, plan)
        assert not world.cell.states["fridge"].open
        inside = world.cell.fixtures["fridge"].from_world(world.cell.pose("apple")[0])
        assert -0.6 < inside[0] < -0.02
        for _ in range(400):
            world.cell.advance()
        assert world.cell.states["apple"].temperature_c < 20.0


def test_an_egg_cracks_when_it_is_knocked_and_cooks_in_a_hot_pan() -> None:
    spec = kitchen(("egg", TOP, (0.0, 0.0), 0.0, CLEAN), ("pan", "first stove burner", (0.0, 0.0), 90.0, CLEAN))
    with KitchenWorld(spec) as world:
        carry_out(world, "pick_up(egg)")
        assert not world.cell.states["egg"].cracked
        carry_out(world, "crack_obj(egg); put_in(egg, pan)")
        assert world.cell.states["egg"].cracked
        assert world.cell.contents("pan") == ["egg"]
        carry_out(world, "toggle_on(first stove burner)")
        for _ in range(1600):
            world.cell.advance()
        assert world.cell.states["egg"].cooked >= 1.0


def test_what_falls_from_the_worktop_breaks() -> None:
    with KitchenWorld(kitchen(("glass", TOP, (0.0, 0.0), 0.0, replace(CLEAN, liquid="water", volume_l=0.1)))) as world:
        assert not world.cell.states["glass"].broken
        world.cell.put("glass", [-0.8, 1.0, 0.8])
        world.cell.settle(200)
        assert world.cell.states["glass"].broken
        assert world.cell.states["glass"].volume_l == 0.0


def test_what_slips_out_of_the_gripper_is_noticed() -> None:
    with KitchenWorld(kitchen(("mug", TOP, (0.0, 0.0), 180.0, CLEAN))) as world:
        carry_out(world, "pick_up(mug)")
        world.cell.robot.unlatch()
        world.cell.robot.arm.weaken_grip(0.2, 0.01)
        for _ in range(200):
            world.cell.robot.arm.hold_still()
            world.cell.advance()
        assert world.cell.robot.held == ""
        world.execute(Action("put_on", ("mug", TOP)))
        assert world.failures[-1] == "the hand does not hold the mug"


def test_nothing_is_put_on_the_handle_of_a_pan() -> None:
    spec = kitchen(("pan", TOP, (0.0, -0.1), 90.0, CLEAN), ("apple", TOP, (0.0, 0.3), 0.0, CLEAN))
    with KitchenWorld(spec) as world:
        carry_out(world, f"pick_up(apple); put_on(apple, {TOP})")
        assert world.cell.touching("apple") == {TOP}

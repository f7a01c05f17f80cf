"""The true state of a kitchen as facts."""

from dataclasses import replace

import pytest

from nsrecover.core.actions import Action
from sim.kitchen.scenes import KitchenSpec, sample_kitchen
from sim.kitchen.states import ObjectState
from sim.kitchen.tasks import draw_task
from sim.kitchen.truth import FLOOR, differences, place_of, start_state, true_state
from sim.kitchen.world import KitchenWorld


@pytest.mark.parametrize(("seed", "layout"), [(0, 0), (1, 5), (2, 9), (3, 23)])
def test_a_kitchen_starts_in_the_state_that_was_drawn(seed: int, layout: int) -> None:
    for spec in (sample_kitchen(seed, layout), draw_task("switch devices", seed, layout).kitchen):
        with KitchenWorld(spec) as world:
            assert true_state(world.cell) == start_state(spec)


def prepared() -> KitchenSpec:
    states = {
        "mug": ObjectState(liquid="wine", volume_l=0.1),
        "cup": ObjectState(liquid="water", volume_l=0.02, dirty=True),
        "egg": ObjectState(temperature_c=70.0, cooked=1.0, cracked=True),
        "bread": ObjectState(cooked=2.0),
    }
    spec = sample_kitchen(0, 0, ["mug", "cup", "egg", "bread", "plate"])
    return replace(spec, things=tuple(replace(t, state=states.get(t.name, ObjectState())) for t in spec.things))


def test_states_become_facts_and_a_film_of_liquid_does_not() -> None:
    with KitchenWorld(prepared()) as world:
        facts = {fact for fact in true_state(world.cell) if fact[0] != "at"}
    assert facts == {
        ("filled", "mug", "wine"),
        ("dirty", "cup"),
        ("cracked", "egg"),
        ("cooked", "egg"),
        ("hot", "egg"),
        ("cooked", "bread"),
        ("burnt", "bread"),
    }


def test_places_are_the_innermost_ones_and_what_is_held_has_none() -> None:
    with KitchenWorld(prepared()) as world:
        cell = world.cell
        plate, _ = cell.pose("plate")
        cell.put("egg", [plate[0], plate[1], plate[2] + 0.03])
        cell.put("cup", [-0.4, 2.8, 0.05])
        cell.settle()
        assert (place_of(cell, "egg"), place_of(cell, "cup")) == ("plate", FLOOR)
        before = true_state(cell)
        assert ("at", "egg", "plate") in before
        world.execute(Action("pick_up", ("mug",)))
        missing, excess = differences(before, true_state(cell))
        assert missing == {("at", "mug", cell.things["mug"].place)}
        assert excess == {("holding", "mug")}

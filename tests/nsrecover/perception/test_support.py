"""What objects are in and on, as two cameras in a simulated kitchen see it."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import PLACE, Action, Observation
from nsrecover.models.states import StateModel
from nsrecover.perception.cameras.visibility import sees_through
from nsrecover.perception.household import HouseholdPerceiver
from nsrecover.perception.objects.support import SupportRelations
from sim.kitchen.person import Person
from sim.kitchen.truth import household_of, true_state
from sim.kitchen.world import KitchenWorld
from tests.sim.kitchen.kitchens import CLEAN, TOP, kitchen

THINGS = (
    ("plate", "first stove burner", (0.0, 0.0), 0.0, CLEAN),
    ("mug", "third stove burner", (0.0, 0.0), 0.0, CLEAN),
)


@pytest.fixture(scope="module")
def world() -> Iterator[KitchenWorld]:
    with KitchenWorld(kitchen(*THINGS)) as made:
        yield made


@pytest.fixture(scope="module")
def observation(world: KitchenWorld) -> Observation:
    return world.observe()


def test_relations_are_those_of_the_scene(world: KitchenWorld, observation: Observation) -> None:
    found = SupportRelations().step(observation, {"plate": "first stove burner"})
    assert set(found.values()) == {fact for fact in true_state(world.cell) if fact[0] in ("at", "atop")}


def test_an_unseen_place_is_taken_to_be_hidden_only_if_it_is_expected(observation: Observation) -> None:
    burners = [number for number, name in observation.labels.items() if name == "third stove burner"]
    labels = {number: name for number, name in observation.labels.items() if number not in burners}
    instances = np.where(np.isin(observation.instances, burners), 0, observation.instances)
    blind = replace(observation, instances=instances, labels=labels)
    assert SupportRelations().step(blind)["mug"] == ("at", "mug", "stove")
    assert SupportRelations().step(blind, {"mug": "third stove burner"})["mug"] == ("at", "mug", "third stove burner")
    assert SupportRelations().step(blind, {"mug": "fridge"})["mug"] == ("at", "mug", "stove")


def test_what_hides_what_it_stands_on_is_where_that_is() -> None:
    with KitchenWorld(kitchen(("cup", "sink", (0.0, 0.0), 0.0, CLEAN), ("pot", TOP, (0.0, 0.3), 0.0, CLEAN))) as world:
        cell = world.cell
        Person(cell).carry("pot", np.add(cell.bottom("cup"), (0.0, 0.0, cell.things["cup"].kind.height_m)).tolist())
        world.execute(Action("look_at", ("sink",)))
        observation = world.observe()
    assert "cup" not in observation.labels.values()
    assert SupportRelations().step(observation)["pot"] == ("at", "pot", "sink")


def test_what_was_taken_away_is_absent_and_what_is_hidden_or_not_recognised_is_not() -> None:
    start, should = kitchen(*THINGS), {"mug": "third stove burner"}
    with KitchenWorld(start) as world:
        support, before = SupportRelations(), world.observe()
        support.step(before)
        (mug,) = (number for number, name in before.labels.items() if name == "mug")
        nameless = replace(before, instances=np.where(before.instances == mug, 0, before.instances))
        assert not support.absent(nameless, should)
        covered = replace(before, depth_m=np.minimum(before.depth_m, 0.5))
        assert not support.absent(covered, should)
        Person(world.cell).carry("mug", world.cell.bottom("mug") + np.array([0.0, 0.0, -5.0]))
        after = world.observe()
        assert support.absent(after, should) == {"mug"}
        assert not support.absent(after, {"mug": "sink"}), "it was not seen there"
        behind = after.cameras[0].world_from_camera
        assert not sees_through(after, behind[:3, 3] - behind[:3, 2])


def test_a_scene_of_facts_says_what_is_seen_and_what_is_not(observation: Observation) -> None:
    home = household_of(kitchen(*THINGS))
    scene = HouseholdPerceiver(home, StateModel.load())(observation)
    assert ("at", "mug", "third stove burner") in scene.facts
    assert not any(fact[0] == "running" for fact in scene.facts)
    assert scene.knows(("running", "second stove burner"))
    assert not scene.knows((PLACE, "plate")), "it stands on a burner that was never seen: the stove is no place"
    assert not scene.knows(("open", "fridge")) or ("open", "fridge") not in scene.facts


def test_what_was_carried_in_front_of_a_place_is_held_and_not_in_it(observation: Observation) -> None:
    support = SupportRelations()
    assert support.step(observation)["mug"] == ("at", "mug", "third stove burner")
    elsewhere = kitchen(THINGS[0], ("mug", "first countertop", (0.1, 0.0), 0.0, CLEAN))
    with KitchenWorld(elsewhere) as world:
        moved = world.observe()
    grips = replace(moved, gripper_opening_m=0.03, holding=True)
    assert SupportRelations().step(moved, held="mug")["mug"] == ("at", "mug", "first countertop")
    assert SupportRelations().step(grips, held="mug")["mug"] == ("at", "mug", "first countertop"), "it was never seen"
    assert support.step(grips, held="mug")["mug"] == ("holding", "mug")
    assert support.step(grips, held="mug")["mug"] == ("holding", "mug"), "the robot has not moved in between"
    assert support.step(moved)["mug"] == ("at", "mug", "first countertop"), "the hand has let go"

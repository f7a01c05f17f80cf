"""What objects are in and on, as two cameras in a simulated kitchen see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core.observation import Observation
from nsrecover.perception.support import SupportRelations
from sim.kitchen.truth import true_state
from sim.kitchen.world import KitchenWorld
from tests.sim.kitchen.kitchens import CLEAN, kitchen

THINGS = (
    ("plate", "first stove burner", (0.0, 0.0), 0.0, CLEAN),
    ("mug", "third stove burner", (0.0, 0.0), 0.0, CLEAN),
)


@pytest.fixture(scope="module")
def seen() -> tuple[Observation, set[tuple[str, ...]]]:
    with KitchenWorld(kitchen(*THINGS)) as world:
        return world.observe(), {fact for fact in true_state(world.cell) if fact[0] in ("at", "atop")}


def test_relations_are_those_of_the_scene(seen: tuple[Observation, set[tuple[str, ...]]]) -> None:
    observation, truth = seen
    found = SupportRelations().step(observation, {"plate": "first stove burner"})
    assert set(found.values()) == truth


def test_an_unseen_place_is_taken_to_be_hidden_only_if_it_is_expected(
    seen: tuple[Observation, set[tuple[str, ...]]],
) -> None:
    observation, _ = seen
    burners = [number for number, name in observation.labels.items() if name == "third stove burner"]
    labels = {number: name for number, name in observation.labels.items() if number not in burners}
    instances = np.where(np.isin(observation.instances, burners), 0, observation.instances)
    blind = replace(observation, instances=instances, labels=labels)
    assert SupportRelations().step(blind)["mug"] == ("at", "mug", "stove")
    assert SupportRelations().step(blind, {"mug": "third stove burner"})["mug"] == ("at", "mug", "third stove burner")
    assert SupportRelations().step(blind, {"mug": "fridge"})["mug"] == ("at", "mug", "stove")

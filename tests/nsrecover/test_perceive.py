"""Scene graphs from rendered RGB-D views, compared with where things truly are."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.errors import InvalidObservation
from nsrecover.models.bundle import Bundle
from nsrecover.observation import Observation
from nsrecover.perceive import ScenePerceiver, crop_objects, lift_boxes, object_names
from sim.sampling import sample_scene
from sim.truth import Truth
from sim.world import TabletopWorld


@pytest.fixture(scope="module")
def seen() -> tuple[Observation, Truth]:
    with TabletopWorld(sample_scene(np.random.default_rng(5), 5)) as world:
        return world.observe(), world.truth()


def without(observation: Observation, name: str) -> Observation:
    """The same picture with one object hidden."""
    number = next(key for key, value in observation.labels.items() if value == name)
    return replace(observation, instances=np.where(observation.instances == number, 0, observation.instances))


def test_boxes_are_within_a_few_millimetres_of_the_truth(seen: tuple[Observation, Truth]) -> None:
    observation, truth = seen
    names = object_names(observation)
    boxes, visible = lift_boxes(observation, names)
    assert visible.all()
    for name, box in zip(names, boxes, strict=True):
        position = truth.positions[truth.names.index(name)]
        assert np.linalg.norm(box[:3] - position) < 0.004, name
        assert abs(box[2] - box[5] / 2) < 0.003, f"{name} should stand on the table"


def test_crops_show_the_object_alone_and_fill_the_frame(seen: tuple[Observation, Truth]) -> None:
    observation = seen[0]
    crops, owners, pixels = crop_objects(observation, object_names(observation), 64)
    assert crops.shape == (len(owners), 64, 64, 3)
    assert sorted(set(owners.tolist())) == list(range(5))
    for crop, count in zip(crops, pixels, strict=True):
        filled = crop.any(axis=2)
        assert filled.any(axis=0).mean() > 0.6 or filled.any(axis=1).mean() > 0.6
        assert not filled.all()
        assert count > 0


def test_an_object_out_of_sight_is_remembered_where_it_was(seen: tuple[Observation, Truth]) -> None:
    observation = seen[0]
    perceive = ScenePerceiver(Bundle())
    before = perceive(observation)
    hidden = before.names[2]
    after = perceive(without(observation, hidden))
    assert after.seen.tolist() == [name != hidden for name in after.names]
    np.testing.assert_array_equal(after.boxes[2], before.boxes[2])
    np.testing.assert_array_equal(after.visual[2], before.visual[2])
    np.testing.assert_allclose(np.delete(after.boxes, 2, 0), np.delete(before.boxes, 2, 0))


def test_perceivers_do_not_share_memory(seen: tuple[Observation, Truth]) -> None:
    bundle = Bundle()
    first, second = ScenePerceiver(bundle), ScenePerceiver(bundle)
    first(seen[0])
    graph = second(without(seen[0], object_names(seen[0])[0]))
    assert not graph.seen[0]
    assert graph.boxes[0].tolist() == [0] * 6


def test_a_scene_without_objects_is_refused(seen: tuple[Observation, Truth]) -> None:
    with pytest.raises(InvalidObservation, match="at least one labelled instance"):
        ScenePerceiver(Bundle())(replace(seen[0], labels={}))

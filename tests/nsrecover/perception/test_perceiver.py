"""Scene graphs from rendered RGB-D views, compared with where things truly are."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from nsrecover.core import Observation, Unseen, UnseenReason, Visibility
from nsrecover.models.bundle import Bundle
from nsrecover.perception.cameras.visibility import why_unseen
from nsrecover.perception.objects.detections import lift_boxes
from nsrecover.perception.perceiver import Association, ScenePerceiver, object_names
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld


@pytest.fixture(scope="module")
def world() -> Iterator[TabletopWorld]:
    with TabletopWorld(sample_scene(np.random.default_rng(5), 5)) as made:
        yield made


@pytest.fixture(scope="module")
def observation(world: TabletopWorld) -> Observation:
    return world.observe()


def without(observation: Observation, name: str) -> Observation:
    """The same picture with one object hidden."""
    number = next(key for key, value in observation.labels.items() if value == name)
    return replace(observation, instances=np.where(observation.instances == number, 0, observation.instances))


def test_boxes_are_within_a_few_millimetres_of_the_truth(world: TabletopWorld, observation: Observation) -> None:
    truth, names = world.truth(), object_names(observation)
    boxes, visible = lift_boxes(observation, sorted(observation.labels))
    assert visible.all()
    for name, box in zip(names, boxes, strict=True):
        position = truth.positions[truth.names.index(name)]
        assert np.linalg.norm(box[:3] - position) < 0.004, name
        assert abs(box[2] - box[5] / 2) < 0.003, f"{name} should stand on the table"


def behind_a_board(observation: Observation, name: str, depth_m: float = 0.5) -> Observation:
    """The same picture with something flat held before one object."""
    mask = without(observation, name).instances != observation.instances
    return replace(without(observation, name), depth_m=np.where(mask, depth_m, observation.depth_m).astype(np.float32))


def shuffled(observation: Observation, seed: int) -> Observation:
    """The same picture from a detector that numbers its detections anew and knows no names."""
    numbers = np.random.default_rng(seed).permutation(np.arange(1, 1 + max(observation.labels)))
    table = np.concatenate([[0], numbers]).astype(np.int32)
    labels = {int(table[number]): f"thing {table[number]}" for number in observation.labels}
    return replace(observation, instances=table[np.maximum(observation.instances, 0)], labels=labels)


@pytest.mark.parametrize("seed", range(4))
def test_objects_are_followed_without_their_names(observation: Observation, seed: int) -> None:
    bundle = Bundle.load()
    perceive = ScenePerceiver(bundle)
    before = perceive(observation)
    other = shuffled(observation, seed)
    after = perceive(other)
    assert after.names == before.names
    np.testing.assert_allclose(after.boxes, before.boxes, atol=1e-6)
    assert sorted(perceive.masks) == sorted(before.names)
    known = ScenePerceiver(bundle, association=Association.KNOWN)
    known(observation)
    assert not known(other).seen[:5].any(), "labels that nobody knows are other objects"


def test_what_appears_gets_a_name_of_its_own(observation: Observation) -> None:
    bundle = Bundle.load()
    perceive = ScenePerceiver(bundle)
    newcomer = object_names(observation)[1]
    number = next(key for key, name in observation.labels.items() if name == newcomer)
    labels = {key: name for key, name in observation.labels.items() if key != number}
    first = perceive(replace(without(observation, newcomer), labels=labels))
    second = perceive(observation)
    assert newcomer not in first.names
    assert perceive.reported.unnamed == perceive.fork().reported.unnamed == {"new object"}
    assert second.names == (*first.names, "new object")
    assert second.seen.all()
    assert perceive.masks["new object"] == (number,)


def merged(observation: Observation, name: str, other: str) -> Observation:
    """The same picture, with the mask of one object counted to another one."""
    numbers = {value: key for key, value in observation.labels.items()}
    instances = np.where(observation.instances == numbers[name], numbers[other], observation.instances)
    return replace(observation, instances=instances)


def test_an_object_without_a_mask_is_unknown_and_not_missing(observation: Observation) -> None:
    name = object_names(observation)[2]
    for change, visibility, reason in (
        (without, Visibility.UNKNOWN, UnseenReason.NO_MASK),
        (partial(behind_a_board, depth_m=0.0), Visibility.UNKNOWN, UnseenReason.NO_DEPTH),
        (behind_a_board, Visibility.OCCLUDED, UnseenReason.OCCLUDED),
    ):
        perceive = ScenePerceiver(Bundle.load())
        before = perceive(observation)
        after = perceive(change(observation, name))
        assert [after.visibility(i) for i in range(5)] == 2 * [Visibility.SEEN] + [visibility] + 2 * [Visibility.SEEN]
        assert not after.missing.any()
        assert perceive.reported.unseen == {name: Unseen(name, reason)}
        np.testing.assert_allclose(after.boxes, before.boxes, atol=1e-6)
        np.testing.assert_array_equal(after.visual[2], before.visual[2])
        assert perceive.fork().reported.unseen == perceive.reported.unseen
        assert perceive(observation).seen.all()
        assert perceive.reported.unseen == {}


def test_the_mask_at_the_place_of_an_unseen_object_is_named(observation: Observation) -> None:
    name, other = object_names(observation)[2], object_names(observation)[0]
    box = ScenePerceiver(Bundle())(observation).boxes[2]
    number = next(key for key, value in observation.labels.items() if value == other)
    why = why_unseen(merged(observation, name, other), name, box, {number: other})
    assert why == Unseen(name, UnseenReason.MERGED_MASKS, other)
    assert why_unseen(observation, name, box + np.array([5, 0, 0, 0, 0, 0], np.float32), {}).reason == "occluded"


@pytest.mark.parametrize(
    ("bars", "views", "expected"),
    [(4, 2, Visibility.OCCLUDED), (1, 2, Visibility.MISSING), (2, 1, Visibility.MISSING)],
    ids=["a little", "all", "half in one view"],
)
def test_the_rest_of_a_hidden_object_is_no_other_object(
    observation: Observation, bars: int, views: int, expected: Visibility
) -> None:
    name = next(each for each in object_names(observation) if "white" not in each)
    perceive = ScenePerceiver(Bundle.load())
    perceive(observation)
    shown = shuffled(observation, 0)
    own = without(observation, name).instances != observation.instances
    rest = own & (np.add.outer(*map(np.arange, own.shape[1:])) % bars == 0)  # between the bars of a fence
    rest[views:] = False
    other = replace(
        shown,
        rgb=np.where(rest[..., None], 255 - observation.rgb, observation.rgb),  # other colours mix with its own
        instances=np.where(own & ~rest, 0, shown.instances),
        depth_m=np.where(own & ~rest, 0.5, observation.depth_m).astype(np.float32),
    )
    graph = perceive(other)
    assert graph.visibility(graph.index(name)) is expected
    assert perceive.reported.unnamed


def test_look_alikes_that_change_places_are_told_apart(observation: Observation) -> None:
    cubes = [name for name in object_names(observation) if "cube" in name][:2]
    own = [without(observation, name).instances != observation.instances for name in cubes]
    colours = [(150, 90, 60), (150, 122, 60)]

    def painted(order: int) -> Observation:
        rgb = observation.rgb.copy()
        for mask, colour in zip(own, colours[::order], strict=True):
            rgb[mask] = colour
        return replace(observation, rgb=rgb)

    perceive = ScenePerceiver(Bundle.load())
    before = perceive(painted(1))
    after = perceive(shuffled(painted(-1), 0))
    for one, other in (cubes, cubes[::-1]):
        there = before.boxes[before.index(other), :3]
        assert np.linalg.norm(after.boxes[after.index(one), :3] - there) < 0.01, one

"""Masks of parts and of two objects are put right with the known sizes."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core.observation import Observation
from nsrecover.models.bundle import Bundle
from nsrecover.perception.lifting import lift_views
from nsrecover.perception.masks.repair import (
    absorb_fragments,
    join_parts,
    separate_by_other_views,
    separate_merged,
)
from nsrecover.perception.objects.detections import Detections, detect_masks
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

SIDE = 0.05
SIZES = np.full((2, 1, 3), SIDE, dtype=np.float32)
PLACES = {0: (0.5, 0.0), 1: (0.5, 0.052)}
EXPECTED = np.array([[*PLACES[i], SIDE / 2, SIDE, SIDE, SIDE] for i in PLACES], dtype=np.float32)


def two_cubes() -> Observation:
    """Two cubes side by side, as two cameras see them."""
    sides = (SIDE, SIDE, SIDE)
    objects = [
        ObjectSpec(f"cube {i}", ObjectKind.CUBE, colour, sides, PLACES[i]) for i, colour in enumerate(("red", "blue"))
    ]
    with TabletopWorld(SceneSpec(tuple(objects))) as world:
        return world.observe()


def cloud(number: int, half: int | None = None) -> np.ndarray:
    """Points on a cube, or on one half of it."""
    rng = np.random.default_rng(number)
    points = rng.uniform(-SIDE / 2, SIDE / 2, (2000, 3)) + np.array([*PLACES[number], SIDE / 2])
    if half is not None:
        points = points[(points[:, 0] > PLACES[number][0]) == bool(half)]
    return points.astype(np.float32)


def detections(*clouds: np.ndarray, looks: tuple[int, ...]) -> Detections:
    return Detections(
        tuple((i + 1,) for i in range(len(clouds))),
        (None,) * len(clouds),
        clouds,
        np.eye(4, dtype=np.float32)[list(looks)],
        np.full(len(clouds), 100.0, dtype=np.float32),
    )


def test_the_other_part_of_an_object_is_joined_to_it() -> None:
    split = detections(cloud(0, 0), cloud(1), cloud(0, 1), looks=(0, 1, 0))
    mended, found = absorb_fragments(split, np.array([0, 1]), SIZES, {}, 0.25)
    assert found.tolist() == [0, 1]
    assert mended.numbers == ((1, 3), (2,))
    assert np.abs(mended.boxes[0] - EXPECTED[0]).max() < 0.003


def test_another_object_is_no_part() -> None:
    beside = detections(cloud(0), cloud(1), looks=(0, 0))
    mended, found = absorb_fragments(beside, np.array([0, -1]), SIZES, {}, 0.25)
    assert len(mended) == 2
    assert found.tolist() == [0, -1]
    tiny = replace(beside, points=(np.tile(cloud(0), (20, 1)), cloud(1)[::20]))
    assert len(absorb_fragments(tiny, np.array([0, -1]), SIZES, {}, 0.25)[0]) == 2, (
        "nor is one that is seen in few points"
    )
    other_colour = detections(cloud(0, 0), cloud(0, 1), looks=(0, 1))
    assert len(absorb_fragments(other_colour, np.array([0, -1]), SIZES, {}, 0.25)[0]) == 2


def test_a_piece_that_was_cut_off_an_object_larger_than_it_seemed_is_part_of_it() -> None:
    """One camera alone saw the object at first, and only its near half."""
    halves, half = detections(cloud(0, 0), cloud(0, 1), looks=(0, 0)), SIZES[:1] * np.float32([0.5, 1, 1])
    alone = np.array([0])
    assert len(absorb_fragments(halves, alone, half, {}, 0.25)[0]) == 2, "of another mask"
    mended, found = absorb_fragments(halves, alone, half, {2: 1}, 0.25)
    assert (mended.numbers, found.tolist()) == (((1, 2),), [0])
    other_colour = detections(cloud(0, 0), cloud(0, 1), looks=(0, 1))
    assert len(absorb_fragments(other_colour, alone, half, {2: 1}, 0.25)[0]) == 2


def test_a_mask_of_two_objects_gets_two_numbers() -> None:
    exact = two_cubes()
    merged = replace(exact, instances=np.minimum(exact.instances, 1))
    divided, origin = separate_merged(merged, lift_views(merged), EXPECTED[:, None], SIZES)
    assert set(origin.values()) == {1}
    assert not divided.shared_ids
    for view, seen in enumerate(divided.instances):
        assert len(np.unique(seen)) == 3
        for number in (1, 2):  # few pixels are left out along the border
            shown, counts = np.unique(seen[exact.instances[view] == number], return_counts=True)
            assert counts.max() > 0.85 * counts.sum(), (view, number, shown, counts)


def test_a_part_without_a_label_belongs_to_what_it_touches_and_looks_like() -> None:
    split = detections(cloud(0, 0), cloud(1), cloud(0, 1), looks=(0, 1, 0))
    named = replace(split, labels=("red cube", "blue cube", None))
    assert join_parts(named, 0.25).numbers == ((1, 3), (2,))
    assert join_parts(replace(named, visual=np.eye(4, dtype=np.float32)[[0, 1, 2]]), 0.25).numbers == ((1,), (2,), (3,))
    assert join_parts(replace(split, labels=("red cube", "blue cube", "green cube")), 0.25).numbers == (
        (1,),
        (2,),
        (3,),
    )


def test_what_another_view_shows_as_two_objects_is_two(seen_apart: Observation, appearance: Bundle) -> None:
    merged = seen_apart.instances.copy()
    merged[0] = np.where(merged[0] > 0, 1, 0)
    first = replace(seen_apart, instances=merged, labels={1: "cube 0", 1002: "cube 1"})
    divided, origin = separate_by_other_views(first, detect_masks(first, appearance))
    assert set(origin.values()) == {1}
    assert len(np.unique(divided.instances[0])) == 3
    kept = divided.instances[0][seen_apart.instances[0] == 1]
    assert np.mean(kept == 1) > 0.8  # the label stays with the cube that has no other one


def test_the_parts_of_one_mask_in_another_view_are_one_object(seen_apart: Observation, appearance: Bundle) -> None:
    split = seen_apart.instances.copy()
    rows, columns = np.nonzero(split[1] == 1001)
    half = columns > np.median(columns)
    split[1][rows[half], columns[half]] = 1003
    first = replace(seen_apart, instances=split)
    assert separate_by_other_views(first, detect_masks(first, appearance))[1] == {}


@pytest.fixture(scope="module")
def seen_apart() -> Observation:
    """Two cubes as two cameras see them that number their masks by themselves."""
    exact = two_cubes()
    instances = exact.instances.copy()
    instances[1][instances[1] > 0] += 1000
    return replace(exact, instances=instances, labels={1: "cube 0", 2: "cube 1"}, shared_ids=False)


@pytest.fixture(scope="module")
def appearance() -> Bundle:
    return Bundle.load()


def test_no_two_of_three_views_share_a_number_once_a_mask_is_divided() -> None:
    exact = two_cubes()
    third = {name: np.concatenate([value, value[1:]]) for name in ("rgb", "depth_m", "instances")
             for value in [getattr(exact, name)]}  # fmt: skip
    three = replace(exact, **third, cameras=(*exact.cameras, replace(exact.cameras[1], name="third")))
    merged = replace(three, instances=np.minimum(three.instances, 1))
    divided, origin = separate_merged(merged, lift_views(merged), EXPECTED[:, None], SIZES)
    numbers = [set(np.unique(view).tolist()) - {0} for view in divided.instances]
    assert [len(each) for each in numbers] == [2, 2, 2]
    assert len(set.union(*numbers)) == 6
    assert set(origin) >= set.union(*numbers)
